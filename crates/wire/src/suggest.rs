//! The answer of a search for titles while they are typed.

use crate::answer::Degraded;
use serde::{Deserialize, Serialize};

/// Suggested titles, as JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SuggestAnswer {
    /// The text as typed.
    pub query: String,
    /// Titles, best first; each once.
    pub titles: Vec<SuggestedTitle>,
    /// Time from the arrival of the text to the answer, in microseconds.
    pub total_us: u64,
    /// Missing parts with reasons; empty where the answer is complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<Degraded>,
}

/// A suggested title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedTitle {
    /// Title as stored, not escaped.
    pub title: String,
    /// HTML: the title, escaped, with `<mark>` around matched words.
    pub title_html: String,
    /// URL of the best document of that title.
    pub url: String,
}

impl SuggestAnswer {
    /// Returns the answer as JSON.
    ///
    /// # Errors
    /// None in practice: all of it can be written.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}
