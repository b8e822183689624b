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
//! Cursors do not skip deleted documents; the walk over the root does: once for each match, not for
//! each posting.

use index::{DocId, IndexError};

/// Cursor that walks documents in increasing order.
pub(crate) trait DocCursor {
    /// Returns the current document; `DocId::END` when exhausted.
    fn doc(&self) -> DocId;
    /// Moves to the next document and returns it.
    fn next(&mut self) -> DocId;
    /// Moves to the first document at or after `target`, never backwards, and returns it.
    fn seek(&mut self, target: DocId) -> DocId;
    /// Returns the approximate number of documents that a walk visits.
    fn cost(&self) -> u32;
    /// Takes the error of damage met on the way. A damaged list ends early, so every walk must check it
    /// at its end.
    fn take_error(&mut self) -> Option<IndexError>;
}

/// Cursor that scores the current document.
pub(crate) trait ScoredCursor: DocCursor {
    /// Returns the score of the current document; call it only on a document.
    fn score(&mut self) -> f32;
}
