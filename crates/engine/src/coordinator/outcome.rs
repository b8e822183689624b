//! Outcome of a search.

use crate::coordinator::coverage::Complete;
use wire::SearchAnswer;

/// Answer of a search, with its proof of completeness and its generation.
#[derive(Debug)]
pub struct Outcome {
    /// The answer.
    pub answer: SearchAnswer,
    /// Proof that the answer is complete; `None` where the answer names missing parts.
    pub complete: Option<Complete>,
    /// Whether no document was found, on any page, with all words or with some.
    pub is_empty: bool,
    /// Generation that was searched.
    pub generation: u64,
}

/// Answer of a search on behalf of another; `None` where it is not whole.
pub type Sample = Option<SearchAnswer>;

impl Outcome {
    /// Returns the answer where it covers the whole index.
    pub fn into_sample(self) -> Sample {
        (self.answer.coverage >= 1.0).then_some(self.answer)
    }
}
