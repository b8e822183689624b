//! Cursor over documents that planning listed.

use super::walk::{DocCursor, ScoredCursor};
use index::{DocId, IndexError};

/// Cursor over documents in increasing order, which add nothing to the score.
#[derive(Debug)]
pub(crate) struct ListedCursor<'a> {
    rest: &'a [DocId],
}

impl<'a> ListedCursor<'a> {
    pub(crate) fn new(documents: &'a [DocId]) -> ListedCursor<'a> {
        ListedCursor { rest: documents }
    }
}

impl DocCursor for ListedCursor<'_> {
    fn doc(&self) -> DocId {
        self.rest.first().copied().unwrap_or(DocId::END)
    }
    fn next(&mut self) -> DocId {
        self.rest = self.rest.get(1..).unwrap_or_default();
        self.doc()
    }
    fn seek(&mut self, target: DocId) -> DocId {
        let before = self.rest.partition_point(|&doc| doc < target);
        self.rest = &self.rest[before..];
        self.doc()
    }
    fn cost(&self) -> u32 {
        self.rest.len() as u32
    }
    fn take_error(&mut self) -> Option<IndexError> {
        None
    }
}

impl ScoredCursor for ListedCursor<'_> {
    fn score(&mut self) -> f32 {
        0.0
    }
}
