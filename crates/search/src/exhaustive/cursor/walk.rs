//! Steps of a cursor over the matches of a clause.
//!
//! A ladder of two small traits; ask for the lowest rung you need. Every cursor stands on its
//! first document when made, moves forward only, and stays on `DocId::END` once exhausted.
//!
//! ```text
//! DocCursor    {doc, next, seek, cost, take_error}
//! ScoredCursor {score}                               of the current document
//! ```
//!
//! Deleted documents are not skipped here but by who walks the root: once a match, not once a
//! posting.

use index::{DocId, IndexError};

/// Walks documents in increasing order.
pub(crate) trait DocCursor {
    /// The current document; `DocId::END` when exhausted.
    fn doc(&self) -> DocId;
    /// Moves to the next document and returns it.
    fn next(&mut self) -> DocId;
    /// Moves to the first document at or after `target`, never backwards, and returns it.
    fn seek(&mut self, target: DocId) -> DocId;
    /// About how many documents a walk visits.
    fn cost(&self) -> u32;
    /// Damage met on the way. A damaged list ends early, so whoever walked must ask.
    fn take_error(&mut self) -> Option<IndexError>;
}

/// Scores the current document.
pub(crate) trait ScoredCursor: DocCursor {
    /// The score of the current document; only on a document.
    fn score(&mut self) -> f32;
}
