//! List of a search by MaxScore, with its bounds and the block of it that was scored last.

use crate::block::term_scorer::{List, rows_within};
use crate::context::scratch::rows_kept_by_thread;
use crate::plan::scorer::BLOCK;
use std::ops::Range;

/// A list, and the upper bounds on its scores.
pub(super) struct Clause<'a> {
    pub(super) list: List<'a>,
    /// Upper bounds: of the list alone, and of the sum of this list and all lists before it.
    pub(super) most: f32,
    pub(super) most_sum: f32,
    /// The block that was scored last.
    pub(super) scored: usize,
}

rows_kept_by_thread!(Clause);

impl Clause<'_> {
    /// Returns whether all documents of a block lie in a range, and the block was not scored yet.
    #[inline]
    pub(super) fn is_within(&self, block: usize, range: &Range<u32>) -> bool {
        self.scored != block
            && self.list.start(block) >= range.start
            && self.list.blocks.last_doc(block).0 < range.end
    }

    /// The documents of a block in a range, and their scores; `None` if the block begins after the range.
    pub(super) fn scored_part<'s>(
        &'s mut self,
        block: usize,
        range: Range<u32>,
        scores: &'s mut [f32; BLOCK],
    ) -> Option<(&'s [u32], &'s [f32])> {
        if self.list.is_past(block, range.end) {
            return None;
        }
        if self.scored != block {
            self.scored = block;
            self.list.check(block);
            self.list.blocks.load(block);
            self.list.score_block(scores);
        }
        self.list.blocks.load(block);
        let docs = self.list.blocks.docs();
        let rows = rows_within(docs, &range);
        Some((&docs[rows.clone()], &scores[rows]))
    }
}
