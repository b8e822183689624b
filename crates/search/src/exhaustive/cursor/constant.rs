//! Documents that match a clause, each with the same score.

use crate::exhaustive::cursor::walk::{DocCursor, ScoredCursor};
use index::{DocId, IndexError};

/// Cursor of a clause whose matches score alike.
#[derive(Debug)]
pub(crate) struct ConstantCursor<C> {
    clause: C,
    score: f32,
}

impl<C> ConstantCursor<C> {
    /// Returns the cursor of a clause, and of the score of its matches, which is on the grid.
    pub(crate) fn new(clause: C, score: f32) -> ConstantCursor<C> {
        ConstantCursor { clause, score }
    }
}

impl<C: DocCursor> DocCursor for ConstantCursor<C> {
    fn doc(&self) -> DocId {
        self.clause.doc()
    }
    fn next(&mut self) -> DocId {
        self.clause.next()
    }
    fn seek(&mut self, target: DocId) -> DocId {
        self.clause.seek(target)
    }
    fn cost(&self) -> u32 {
        self.clause.cost()
    }
    fn take_error(&mut self) -> Option<IndexError> {
        self.clause.take_error()
    }
}

impl<C: DocCursor> ScoredCursor for ConstantCursor<C> {
    fn score(&mut self) -> f32 {
        self.score
    }
}
