//! A cursor over a term's postings, document by document.

use super::list::{ListBytes, Origin};
use super::{BLOCK, Blocks, Bounds};
use crate::{DocId, IndexError};

/// A cursor over a term's postings, by increasing document. Starts on the first one.
///
/// Damage met while decoding ends the list early; whoever walked it asks [`Postings::take_error`].
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

    /// The current document; `DocId::END` when exhausted.
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
        // Gallop, then halve: most seeks are short, few are long.
        let docs = self.blocks.docs();
        let (mut low, mut step) = (self.at, 1);
        while low + step < docs.len() && docs[low + step] < target.0 {
            low += step;
            step *= 2;
        }
        let high = (low + step).min(docs.len());
        let low = low.min(high);
        self.at = low + docs[low..high].partition_point(|&doc| doc < target.0);
        self.doc = match docs.get(self.at) {
            Some(&doc) => DocId(doc),
            None => DocId::END,
        };
        self.doc
    }

    /// How often the term stands in the current document.
    #[inline]
    pub fn frequency(&mut self) -> u32 {
        self.blocks.frequencies().get(self.at).copied().unwrap_or(1)
    }

    /// The word positions in the current document, increasing, into `positions` (cleared first).
    pub fn positions(&mut self, positions: &mut Vec<u32>) {
        self.blocks.positions(self.at, positions);
        self.stop_at_damage();
    }

    /// As [`Postings::positions`], each as the gap from the one before (the first from 0).
    pub(crate) fn position_gaps(&mut self, gaps: &mut Vec<u32>) {
        self.blocks.position_gaps(self.at, gaps);
        self.stop_at_damage();
    }

    /// Occurrences of the list before the current document.
    pub(crate) fn occurrences_before(&mut self) -> u64 {
        self.blocks.frequencies();
        self.blocks.occurrences_before(self.at)
    }

    /// The position gaps of a block of 256 occurrences; how many they are, 0 after the last and where it is damaged.
    pub(crate) fn gap_block(&mut self, block: usize, gaps: &mut [u32; BLOCK]) -> usize {
        let count = self.blocks.gap_block(block, gaps);
        self.stop_at_damage();
        count
    }

    /// Documents in the list: what walking it costs, about.
    pub fn cost(&self) -> u32 {
        self.blocks.documents_count()
    }

    /// Damage met while decoding. A damaged list ends early, so whoever walked it must ask.
    pub fn take_error(&mut self) -> Option<IndexError> {
        self.blocks.take_error()
    }

    /// What bounds the list's scores, block by block.
    pub fn bounds(&self) -> Bounds<'a> {
        self.blocks.bounds()
    }

    /// To the first document of a block; the end where it has none.
    fn enter(&mut self, block: usize) {
        self.blocks.load(block);
        self.at = 0;
        self.doc = match self.blocks.docs().first() {
            Some(&doc) => DocId(doc),
            None => DocId::END,
        };
    }

    /// A block that turned out to be damaged is the last: nothing after it can be trusted.
    fn stop_at_damage(&mut self) {
        if self.blocks.fill() == 0 {
            self.doc = DocId::END;
        }
    }
}
