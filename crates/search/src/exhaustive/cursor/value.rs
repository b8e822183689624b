//! Walk over the documents whose values of a field pass a test.

use super::walk::{DocCursor, ScoredCursor};
use index::{CodeRange, Column, DocId, IndexError, Segment};

/// Documents that a walk tests in the time of one posting.
const TESTED: u32 = 8;

/// Cursor over the documents with a value in a range of codes. Whole blocks are passed over by their least and greatest
/// codes; the others are tested 64 documents at a time.
#[derive(Debug)]
pub(crate) struct ValueCursor<'a> {
    column: Column<'a>,
    range: CodeRange,
    documents_count: u32,
    /// Matching documents of `base` to `base + 63`.
    word: u64,
    base: u32,
    doc: DocId,
}

impl<'a> ValueCursor<'a> {
    pub(crate) fn new(column: Column<'a>, range: CodeRange, segment: &Segment) -> ValueCursor<'a> {
        let mut cursor = ValueCursor {
            column,
            range,
            documents_count: segment.documents_count(),
            word: 0,
            base: 0,
            doc: DocId(0),
        };
        cursor.enter(0);
        cursor.doc = cursor.first_from(0);
        cursor
    }

    /// Tests the 64 documents of `doc`.
    fn enter(&mut self, doc: u32) {
        self.base = doc & !63;
        let mut word = [0];
        self.column.mark(self.base, &mut word, self.range);
        self.word = word[0];
    }

    /// Returns the first match at or after `target`, which is not before `base`.
    fn first_from(&mut self, target: u32) -> DocId {
        if target >= self.documents_count {
            return DocId::END;
        }
        if target >= self.base + 64 {
            let DocId(first) = self.column.skip_blocks(DocId(target), self.range);
            if first >= self.documents_count {
                return DocId::END;
            }
            self.enter(first);
        }
        let mut word = self.word & (u64::MAX << target.saturating_sub(self.base).min(63));
        while word == 0 {
            let next = self.base + 64;
            let DocId(first) = self.column.skip_blocks(DocId(next), self.range);
            if first >= self.documents_count {
                return DocId::END;
            }
            self.enter(first);
            word = self.word;
        }
        DocId(self.base + word.trailing_zeros())
    }
}

impl DocCursor for ValueCursor<'_> {
    fn doc(&self) -> DocId {
        self.doc
    }
    fn next(&mut self) -> DocId {
        if self.doc != DocId::END {
            self.doc = self.first_from(self.doc.0 + 1);
        }
        self.doc
    }
    fn seek(&mut self, target: DocId) -> DocId {
        if target > self.doc {
            self.doc = self.first_from(target.0);
        }
        self.doc
    }
    fn cost(&self) -> u32 {
        let codes = self.column.codes_count().max(1) as f64;
        let share = (self.range.high - self.range.low + 1) as f64 / codes;
        let matching = f64::from(self.documents_count) * share;
        (matching as u32).max(self.documents_count / TESTED)
    }
    fn take_error(&mut self) -> Option<IndexError> {
        None
    }
}

impl ScoredCursor for ValueCursor<'_> {
    fn score(&mut self) -> f32 {
        0.0
    }
}
