//! List that keeps the scores of the block that was scored last, for windows that take the block in parts.

use crate::block::term_scorer::{List, rows_within};
use crate::context::scratch::Aligned;
use crate::plan::scorer::BLOCK;
use std::ops::Range;

/// A list, and the scores of one of its blocks.
pub(crate) struct ScoredList<'a> {
    pub(crate) list: List<'a>,
    /// The block that was scored last.
    scored: usize,
    scores: Option<Box<Aligned<[f32; BLOCK]>>>,
}

impl<'a> ScoredList<'a> {
    /// Makes one of which nothing is scored.
    pub(crate) fn new(list: List<'a>) -> ScoredList<'a> {
        ScoredList {
            list,
            scored: usize::MAX,
            scores: None,
        }
    }

    /// Returns the documents of a block that lie in a range, and their scores.
    pub(crate) fn part(&mut self, block: usize, range: &Range<u32>) -> (&[u32], &[f32]) {
        let scores = self
            .scores
            .get_or_insert_with(|| Box::new(Aligned([0.0; BLOCK])));
        if self.scored != block {
            self.scored = block;
            self.list.check(block);
            self.list.blocks.load(block);
            self.list.score_block(&mut scores.0);
        }
        self.list.blocks.load(block);
        let docs = self.list.blocks.docs();
        let rows = rows_within(docs, range);
        (&docs[rows.clone()], &scores.0[rows])
    }
}
