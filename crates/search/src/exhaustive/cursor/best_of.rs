//! Documents that match any of some clauses, scored by the best.

use super::boolean::BooleanCursor;
use crate::exhaustive::cursor::walk::{DocCursor, ScoredCursor};
use crate::plan::best::Best;
use index::{DocId, IndexError};

/// Cursor of alternatives of which the best counts.
#[derive(Debug)]
pub(crate) struct BestOfCursor<'a, C> {
    any: BooleanCursor<'a, C>,
    best: Best,
}

impl<'a, C> BestOfCursor<'a, C> {
    /// Returns the cursor of alternatives, which have no required or excluded clauses beside them.
    pub(crate) fn new(any: BooleanCursor<'a, C>, best: Best) -> BestOfCursor<'a, C> {
        BestOfCursor { any, best }
    }
}

impl<C: DocCursor> DocCursor for BestOfCursor<'_, C> {
    fn doc(&self) -> DocId {
        self.any.doc()
    }
    fn next(&mut self) -> DocId {
        self.any.next()
    }
    fn seek(&mut self, target: DocId) -> DocId {
        self.any.seek(target)
    }
    fn cost(&self) -> u32 {
        self.any.cost()
    }
    fn take_error(&mut self) -> Option<IndexError> {
        self.any.take_error()
    }
}

impl<C: ScoredCursor> ScoredCursor for BestOfCursor<'_, C> {
    fn score(&mut self) -> f32 {
        self.best.of_all(self.any.scores_of_alternatives())
    }
}
