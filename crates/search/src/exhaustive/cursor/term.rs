//! Cursor over one term's postings, scored or as a filter.
use crate::exhaustive::cursor::walk::{DocCursor, ScoredCursor};
use crate::plan::scorer::Scorer;
use index::{DocId, IndexError, Postings};

/// Scored cursor over the documents that hold a term.
#[derive(Debug)]
pub(crate) struct TermCursor<'a> {
    postings: Postings<'a>,
    scorer: Scorer<'a>,
}

impl<'a> TermCursor<'a> {
    pub(crate) fn new(postings: Postings<'a>, scorer: Scorer<'a>) -> TermCursor<'a> {
        TermCursor { postings, scorer }
    }

    /// Returns the term's frequency in the current document.
    pub(crate) fn frequency(&mut self) -> u32 {
        self.postings.frequency()
    }

    /// Returns the current document's quantised length.
    pub(crate) fn length_byte(&self) -> u8 {
        self.scorer.length_byte(self.postings.doc())
    }
}

impl DocCursor for TermCursor<'_> {
    #[inline]
    fn doc(&self) -> DocId {
        self.postings.doc()
    }
    #[inline]
    fn next(&mut self) -> DocId {
        self.postings.next()
    }
    #[inline]
    fn seek(&mut self, target: DocId) -> DocId {
        self.postings.seek(target)
    }
    fn cost(&self) -> u32 {
        self.postings.cost()
    }
    fn take_error(&mut self) -> Option<IndexError> {
        self.postings.take_error()
    }
}

impl ScoredCursor for TermCursor<'_> {
    #[inline]
    fn score(&mut self) -> f32 {
        self.scorer
            .score(self.postings.doc(), self.postings.frequency())
    }
}

/// Cursor over the documents that hold a term, without a score.
#[derive(Debug)]
pub(crate) struct FilterCursor<'a> {
    postings: Postings<'a>,
}

impl<'a> FilterCursor<'a> {
    pub(crate) fn new(postings: Postings<'a>) -> FilterCursor<'a> {
        FilterCursor { postings }
    }
}

impl DocCursor for FilterCursor<'_> {
    #[inline]
    fn doc(&self) -> DocId {
        self.postings.doc()
    }
    #[inline]
    fn next(&mut self) -> DocId {
        self.postings.next()
    }
    #[inline]
    fn seek(&mut self, target: DocId) -> DocId {
        self.postings.seek(target)
    }
    fn cost(&self) -> u32 {
        self.postings.cost()
    }
    fn take_error(&mut self) -> Option<IndexError> {
        self.postings.take_error()
    }
}

impl ScoredCursor for FilterCursor<'_> {
    fn score(&mut self) -> f32 {
        0.0
    }
}
