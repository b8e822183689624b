//! Cursor over the postings of a term, document by document.

use super::list::{ListBytes, Origin};
use super::{BLOCK, Blocks, Bounds};
use crate::{DocId, IndexError};
use codec::sorted;

/// Cursor over the postings of a term, by increasing document. It starts on the first one.
///
/// Damage found while decoding ends the list early; callers must check [`Postings::take_error`].
#[derive(Debug)]
pub struct Postings<'a> {
    blocks: Blocks<'a>,
    /// Index in the loaded block.
    at: usize,
    doc: DocId,
}

impl<'a> Postings<'a> {
    pub(crate) fn new(bytes: ListBytes<'a>, origin: Origin<'a>) -> Postings<'a> {
        let mut postings = Postings {
            blocks: Blocks::new(bytes, origin),
            at: 0,
            doc: DocId::END,
        };
        postings.enter(0);
        postings
    }

    /// Returns the current document; `DocId::END` when exhausted.
    #[inline]
    pub fn doc(&self) -> DocId {
        self.doc
    }

    /// Moves to the next document and returns it.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> DocId {
        if self.at + 1 < self.blocks.fill() {
            self.at += 1;
            self.doc = DocId(self.blocks.docs()[self.at]);
        } else if self.doc != DocId::END {
            self.enter(self.blocks.block() + 1);
        }
        self.doc
    }

    /// Moves to the first document at or after `target` (never backwards) and returns it.
    pub fn seek(&mut self, target: DocId) -> DocId {
        if self.doc >= target {
            return self.doc;
        }
        if self.blocks.last_doc(self.blocks.block()) < target {
            self.enter(self.blocks.find(self.blocks.block(), target));
        }
        let docs = self.blocks.docs();
        self.at = sorted::seek(docs, self.at, target.0);
        self.doc = match docs.get(self.at) {
            Some(&doc) => DocId(doc),
            None => DocId::END,
        };
        self.doc
    }

    /// Returns the frequency of the term in the current document.
    #[inline]
    pub fn frequency(&mut self) -> u32 {
        self.blocks.frequencies().get(self.at).copied().unwrap_or(1)
    }

    /// Writes the word positions in the current document, increasing, into `positions` (cleared first).
    pub fn positions(&mut self, positions: &mut Vec<u32>) {
        self.blocks.positions(self.at, positions);
        self.stop_at_damage();
    }

    /// Writes the position gaps in the current document, the first from 0, into `gaps` (cleared first).
    pub(crate) fn position_gaps(&mut self, gaps: &mut Vec<u32>) {
        self.blocks.position_gaps(self.at, gaps);
        self.stop_at_damage();
    }

    /// Returns the occurrences of the list before the current document.
    pub(crate) fn occurrences_before(&mut self) -> u64 {
        self.blocks.frequencies();
        self.blocks.occurrences_before(self.at)
    }

    /// Decodes the position gaps of a block of 256 occurrences; returns their number, 0 after the last block and for a
    /// damaged one.
    pub(crate) fn gap_block(&mut self, block: usize, gaps: &mut [u32; BLOCK]) -> usize {
        let count = self.blocks.gap_block(block, gaps);
        self.stop_at_damage();
        count
    }

    /// Returns the number of documents in the list, the approximate cost of walking it.
    pub fn cost(&self) -> u32 {
        self.blocks.documents_count()
    }

    /// Returns and clears the first damage found while decoding. A damaged list ends early, so every caller must call
    /// this.
    pub fn take_error(&mut self) -> Option<IndexError> {
        self.blocks.take_error()
    }

    /// Returns the bounds of the list's scores, block by block.
    pub fn bounds(&self) -> Bounds<'a> {
        self.blocks.bounds()
    }

    /// Moves to the first document of a block, or to the end where the block is empty.
    fn enter(&mut self, block: usize) {
        self.blocks.load(block);
        self.at = 0;
        self.doc = match self.blocks.docs().first() {
            Some(&doc) => DocId(doc),
            None => DocId::END,
        };
    }

    /// Ends the list at a damaged block, because nothing after it can be trusted.
    fn stop_at_damage(&mut self) {
        if self.blocks.fill() == 0 {
            self.doc = DocId::END;
        }
    }
}
