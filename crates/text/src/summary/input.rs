//! Terms, options and scratch memory of a summary, and the matches that its stages exchange.

use super::known::KnownWords;
use crate::Pattern;

/// A term or pattern of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryTerm {
    /// The terms whose words are marked.
    pub marked: Marked,
    /// Inverse document frequency of the term, the weight of its occurrences in a window.
    pub weight: f32,
}

/// Set of terms whose words a summary marks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Marked {
    /// An analysed term.
    Term(String),
    /// All words of a pattern: as written, or by their term. As in the dictionary, words within edits of another are
    /// compared as terms alone.
    Like(Pattern),
}

impl Marked {
    /// Returns the prefix of each term, and whether a term may be longer.
    pub(super) fn literal(&self) -> (&str, bool) {
        match self {
            Marked::Term(term) => (term, false),
            Marked::Like(pattern) => (pattern.literal(), true),
        }
    }

    /// Returns whether nothing can be marked.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Marked::Term(term) => term.is_empty(),
            Marked::Like(pattern) => !pattern.is_valid(),
        }
    }
}

/// Size limits of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryOptions {
    /// Upper limit on the number of windows.
    pub windows_max: usize,
    /// Approximate bytes of text of all windows together.
    pub text_bytes: usize,
}

impl Default for SummaryOptions {
    fn default() -> Self {
        SummaryOptions {
            windows_max: 2,
            text_bytes: 300,
        }
    }
}

/// A word of the text that matches a term. Lists are sorted by place, then term, without duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Ordinal of the term among the query's distinct terms.
    pub(super) term: u32,
}

/// Scratch memory that summaries reuse, one for each thread.
#[derive(Debug, Default)]
pub struct SummaryScratch {
    pub(super) lowered: Vec<u8>,
    pub(super) matches: Vec<Match>,
    pub(super) word: String,
    pub(super) stem: String,
    pub(super) known: KnownWords,
}

impl SummaryScratch {
    pub(super) fn bytes(&self) -> usize {
        self.lowered.capacity() + self.matches.capacity() * size_of::<Match>()
    }
}
