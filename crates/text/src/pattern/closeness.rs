//! Closeness of a word to the one that a pattern allows errors in.

use super::forms::Pattern;
use super::limits::EDITS_MAX;

/// Closeness of a word to the one of a pattern, closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Closeness {
    /// It is the word.
    Equal,
    /// It begins with the word.
    Begins,
    /// It, or its beginning, is this many edits away.
    Edits(u8),
}

impl Pattern {
    /// Returns the closeness of a word of the set; `None` for one that is not of it, and for patterns that name no word.
    pub fn closeness(&self, word: &str) -> Option<Closeness> {
        let (to, most) = match self {
            Pattern::Near { term, edits, .. } => (term, *edits),
            Pattern::NearStart { start, edits } => (start, *edits),
            Pattern::Prefix(_) | Pattern::Wildcard(_) | Pattern::Regex(_) => return None,
        };
        if word == to {
            return Some(Closeness::Equal);
        }
        let is_start = matches!(self, Pattern::NearStart { .. });
        if is_start && word.starts_with(to.as_str()) {
            return Some(Closeness::Begins);
        }
        if most == 0 || !self.matches(word) {
            return None;
        }
        let within = |edits: u8| match self {
            Pattern::NearStart { .. } => Pattern::near_start(to, edits).matches(word),
            _ => Pattern::near(to, edits).matches(word),
        };
        let least = (1..most).find(|&edits| within(edits));
        Some(Closeness::Edits(least.unwrap_or(most.min(EDITS_MAX))))
    }
}
