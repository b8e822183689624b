//! Figures of measured queries, with the choices of their mode and of counting.

use super::decoding::Decoded;

/// Operator between the words of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Mode {
    /// All words
    And,
    /// Any word
    Or,
    /// All words, one after another
    Phrase,
    /// Documents with all of the words, then, where these are too few, those with some of them
    Auto,
    /// The query language; words without an operator are required
    Query,
    /// The query language; words without an operator are optional (`search --any`)
    QueryAny,
}

/// Counting of the documents that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Counting {
    /// The best hits and the exact count
    Exact,
    /// The best hits alone
    None,
    /// The exact count alone
    Only,
}

/// Figures of one query.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub(super) query: String,
    /// Number of words searched for.
    pub(super) words_count: usize,
    /// Number of documents that match; `None` if they were not counted.
    pub(super) hits: Option<u64>,
    /// URL of the best hit; `None` if there is none or hits were not kept.
    pub(super) top: Option<String>,
    pub(super) min_us: f64,
    pub(super) median_us: f64,
    /// Figures of decoding alone; `None` without `--decoding`.
    pub(super) decoding: Option<Decoded>,
}

impl Measured {
    /// Returns whether any document matches.
    pub(super) fn has_hit(&self) -> bool {
        self.top.is_some() || self.hits.is_some_and(|hits| hits > 0)
    }
}
