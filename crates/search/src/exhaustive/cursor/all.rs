//! Walk over all documents.

use super::walk::{DocCursor, ScoredCursor};
use index::{DocId, IndexError, Segment};

/// Cursor over all documents of a segment, deleted ones included.
#[derive(Debug)]
pub(crate) struct AllCursor {
    doc: DocId,
    documents_count: u32,
}

impl AllCursor {
    pub(crate) fn new(segment: &Segment) -> AllCursor {
        let documents_count = segment.documents_count();
        let mut cursor = AllCursor {
            doc: DocId(0),
            documents_count,
        };
        cursor.place(0);
        cursor
    }

    fn place(&mut self, doc: u32) {
        self.doc = match doc < self.documents_count {
            true => DocId(doc),
            false => DocId::END,
        };
    }
}

impl DocCursor for AllCursor {
    fn doc(&self) -> DocId {
        self.doc
    }
    fn next(&mut self) -> DocId {
        if self.doc != DocId::END {
            self.place(self.doc.0 + 1);
        }
        self.doc
    }
    fn seek(&mut self, target: DocId) -> DocId {
        if target > self.doc {
            self.place(target.0);
        }
        self.doc
    }
    fn cost(&self) -> u32 {
        self.documents_count
    }
    fn take_error(&mut self) -> Option<IndexError> {
        None
    }
}

impl ScoredCursor for AllCursor {
    fn score(&mut self) -> f32 {
        0.0
    }
}
