//! Check of postings against the score bounds of their blocks.

use crate::{Bounds, DocId, Impact};

/// Check that postings stay within the bounds of their blocks.
pub(super) struct Bounded<'a> {
    bounds: Bounds<'a>,
    block: usize,
}

impl<'a> Bounded<'a> {
    pub(super) fn new(bounds: Bounds<'a>) -> Bounded<'a> {
        Bounded { bounds, block: 0 }
    }

    /// Returns whether a posting stays within them; called by increasing document.
    pub(super) fn holds(&mut self, doc: u32, frequency: u32, length: u8) -> bool {
        while self.bounds.last_doc(self.block) < DocId(doc) {
            self.block += 1;
        }
        let dominates = |i: &Impact| i.frequency >= frequency && i.length <= length;
        self.block >= self.bounds.blocks_count()
            || self.bounds.impacts(self.block).iter().any(dominates)
    }
}
