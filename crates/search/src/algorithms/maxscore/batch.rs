//! Candidates of a window, to whose sums lists are added one after another.

use crate::block::apply::apply_optional;
use crate::block::candidate_block::CandidateBlock;
use crate::block::term_scorer::List;
use crate::context::cancel::StopRef;
use crate::plan::scorer::BLOCK;

/// Number of candidates that a batch has room for: its columns fit a first-level cache beside a block of postings.
const CAPACITY: usize = 8 * BLOCK;

/// Number of candidates for each list to be added for which a batch waits.
const PER_LIST: usize = BLOCK / 2;

/// Documents, increasing, with sums of scores. A list is probed for all of them before the next one is, so that probes stay
/// large while candidates drop out, and each block of the list is read once.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Batch {
    docs: [u32; CAPACITY],
    sums: [f32; CAPACITY],
    count: usize,
    /// Number of those that were moved to blocks.
    popped: usize,
}

impl Default for Batch {
    fn default() -> Batch {
        Batch {
            docs: [0; CAPACITY],
            sums: [0.0; CAPACITY],
            count: 0,
            popped: 0,
        }
    }
}

impl Batch {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn clear(&mut self) {
        (self.count, self.popped) = (0, 0);
    }

    /// Returns whether the batch is large enough for `lists_count` lists to be added, or has no room for another block. The
    /// more lists there are, the more is gained by waiting; meanwhile the threshold cannot rise.
    #[inline]
    pub(super) fn is_full(&self, lists_count: usize) -> bool {
        self.count >= (PER_LIST * lists_count).min(CAPACITY - BLOCK + 1)
    }

    /// Appends the candidates of a block, which is empty then.
    #[inline]
    pub(super) fn push(&mut self, candidates: &mut CandidateBlock) {
        let (from, count) = (self.count, candidates.count);
        self.docs[from..from + count].copy_from_slice(&candidates.docs[..count]);
        self.sums[from..from + count].copy_from_slice(&candidates.sums[..count]);
        self.count += count;
        candidates.count = 0;
    }

    /// Adds the scores of a list, then drops the candidates whose sum cannot reach `threshold` with `later`, the upper bound
    /// of the lists after it. Takes a block for its working memory.
    pub(super) fn add(
        &mut self,
        list: &mut List<'_>,
        threshold: f32,
        later: f32,
        stop: StopRef<'_>,
        block: &mut CandidateBlock,
    ) {
        let count = self.count;
        self.count = 0;
        for from in (0..count).step_by(BLOCK) {
            let to = (from + BLOCK).min(count);
            block.take_sums(&self.docs[from..to], &self.sums[from..to]);
            apply_optional(list, threshold, later, block, stop);
            self.push(block);
        }
    }

    /// Moves the first candidates that are left to an empty block; returns `false` where none is left.
    pub(super) fn pop(&mut self, candidates: &mut CandidateBlock) -> bool {
        let (from, to) = (self.popped, (self.popped + BLOCK).min(self.count));
        if from == to {
            self.clear();
            return false;
        }
        candidates.take_sums(&self.docs[from..to], &self.sums[from..to]);
        self.popped = to;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DOCUMENTS, clauses, first_segment, made_up, planned};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Twin of [`Batch::add`]: scores all postings of the list.
    fn added_one_by_one(
        candidates: &[(u32, f32)],
        list: &mut List<'_>,
        least: f32,
    ) -> Vec<(u32, f32)> {
        let mut scores = BTreeMap::new();
        for block in 0..list.blocks.blocks_count() {
            list.blocks.load(block);
            let mut all = [0.0; BLOCK];
            let docs = list.score_block(&mut all);
            scores.extend(docs.iter().copied().zip(all));
        }
        let sums = candidates
            .iter()
            .map(|&(doc, sum)| (doc, sum + scores.get(&doc).unwrap_or(&0.0)));
        sums.filter(|(_, sum)| *sum >= least).collect()
    }

    proptest! {
        #[test]
        fn a_list_is_added_to_all_candidates_of_a_batch(
            steps in prop::collection::vec((1u32..9, 0u8..40), 1..1200),
            words in prop::sample::subsequence(vec!["w11", "w10", "w9", "w4", "w0"], 1..=5),
            threshold in 0u8..80,
        ) {
            let index = made_up(false);
            let segment = first_segment(&index);
            let plan = planned(&index, &words.join(" OR "));
            let optional = clauses(&plan)[1];
            let nodes = if words.len() == 1 { clauses(&plan)[0] } else { optional };
            let mut lists = List::open_each(&plan, nodes, &segment).unwrap();
            prop_assert_eq!(lists.len(), words.len());

            let mut batch = Batch::default();
            let mut block = CandidateBlock::default();
            let mut expected = Vec::new();
            let mut doc = 0;
            for (step, sum) in steps {
                doc += step;
                if doc < DOCUMENTS {
                    expected.push((doc, f32::from(sum) / 16.0));
                }
            }
            for some in expected.chunks(100) {
                for &(doc, sum) in some {
                    block.push(doc, sum);
                }
                batch.push(&mut block);
            }
            let threshold = f32::from(threshold) / 16.0;
            let mut later: f32 = lists.iter_mut().map(List::most).sum();
            for list in lists.iter_mut() {
                later -= list.most();
                batch.add(list, threshold, later, StopRef::default(), &mut block);
                expected = added_one_by_one(&expected, list, threshold - later);
            }
            let mut found = Vec::new();
            while batch.pop(&mut block) {
                found.extend(block.docs().iter().copied().zip(block.sums));
            }
            prop_assert_eq!(found, expected);
            prop_assert_eq!(batch.count(), 0);
        }
    }
}
