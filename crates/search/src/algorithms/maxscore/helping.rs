//! The lists of a window that are only added to its candidates.

use super::batch::Batch;
use super::clause::Clause;
use crate::block::apply::apply_required;
use crate::block::candidate_block::CandidateBlock;
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::plan::scorer::BLOCK;
use crate::verify::filter::Condition;
use crate::verify::probe::Probe;
use index::{DocId, Segment};
use std::ops::Range;

/// Number of lists above which work is counted within a window and within a batch of candidates.
pub(super) const LISTS_FEW: usize = 16;

/// The lists of a window that are not poured, and what has been poured.
pub(super) struct Helping<'s, 'a> {
    /// All lists.
    pub(super) lists: &'s mut [Clause<'a>],
    pub(super) condition: Option<&'s mut Condition<'a>>,
    pub(super) scored_by: Option<&'s mut Probe<'a>>,
    /// Upper bounds and numbers of the helping lists: first of those that are essential nowhere, then by their bound in the
    /// window.
    pub(super) order: &'s [(f32, usize)],
    /// Upper bound on the sum of their scores.
    pub(super) others: f32,
    /// Candidates that they have not been added to.
    pub(super) batch: &'s mut Batch,
    /// Number of candidates that were taken.
    pub(super) candidates_count: &'s mut usize,
    pub(super) segment: &'s Segment,
}

impl<'a> Helping<'_, 'a> {
    /// Searches a window with one essential list, whose blocks are blocks of candidates as they are.
    pub(super) fn search_one<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        number: usize,
        range: Range<u32>,
        scores: &mut [f32; BLOCK],
        candidates: &mut CandidateBlock,
        top: &mut Collectors<'a, H, M>,
    ) {
        let first = self.lists[number].list.find(DocId(range.start));
        for block in first..self.lists[number].list.blocks.blocks_count() {
            let clause = &mut self.lists[number];
            if top.would_enter(clause.list.bound(block) + self.others) {
                let least = top.threshold() - self.others;
                if clause.is_within(block, &range) {
                    clause.list.check(block);
                    clause.list.blocks.load(block);
                    candidates.take_reaching(&mut clause.list, least);
                } else {
                    // Only part of the block lies in this window. It is scored once for all windows.
                    let Some((docs, scores)) = clause.scored_part(block, range.clone(), scores)
                    else {
                        return;
                    };
                    candidates.take_scored(docs, scores, least);
                }
                self.take(candidates, top);
            } else if clause.list.blocks.last_doc(block).0 >= range.end - 1 {
                return;
            }
        }
    }

    /// Takes a block of candidates, those of the window so far being finished where there is no room for more.
    pub(super) fn take<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        candidates: &mut CandidateBlock,
        top: &mut Collectors<'a, H, M>,
    ) {
        *self.candidates_count += candidates.count;
        if self.order.is_empty() {
            return self.offer(candidates, top);
        }
        self.batch.push(candidates);
        if self.batch.is_full(self.order.len()) {
            self.finish(candidates, top);
        }
    }

    /// Adds the scores of the helping lists and offers the candidates that can still enter.
    pub(super) fn finish<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        candidates: &mut CandidateBlock,
        top: &mut Collectors<'a, H, M>,
    ) {
        let is_long = self.lists.len() > LISTS_FEW;
        let mut others = self.others;
        for &(bound, number) in self.order.iter().rev() {
            let count = self.batch.count();
            if count == 0 {
                return;
            }
            if is_long && top.stop().aborts(count.div_ceil(BLOCK) as u32) {
                return self.batch.clear();
            }
            let clause = &mut self.lists[number];
            // Exact: all of them lie on the grid.
            others -= bound;
            let (threshold, stop) = (top.threshold(), top.stop());
            self.batch
                .add(&mut clause.list, threshold, others, stop, candidates);
        }
        while self.batch.pop(candidates) {
            self.offer(candidates, top);
        }
    }

    /// Offers a block of candidates whose sums are complete.
    fn offer<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        candidates: &mut CandidateBlock,
        top: &mut Collectors<'a, H, M>,
    ) {
        if let Some(condition) = &mut self.condition {
            let stop = top.stop();
            condition.apply(candidates, stop);
        }
        if let Some(clause) = &mut self.scored_by
            && candidates.count > 0
        {
            candidates.clear_sums();
            apply_required(&mut **clause, true, candidates, top.stop());
        }
        if top.stop().is_aborted() {
            candidates.count = 0;
            return;
        }
        candidates.offer(self.segment, top);
    }
}
