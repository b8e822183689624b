//! List of a term on one segment, by blocks: scores, upper bounds, and probes for documents.

use crate::block::impact_limits::Limits;
use crate::context::contract;
use crate::context::scratch::{Lent, Row, rows_kept_by_thread};
use crate::plan::node::{Node, Scoring};
use crate::plan::planner::Plan;
use crate::plan::ranking::TermWeight;
use crate::plan::scorer::{BLOCK, Scorer};
use codec::sorted::Pairs;
use index::{
    Blocks, Bounds, DocId, Field, Impact, IndexError, PairRecord, Place, Segment, TermRecord,
};

/// The scored postings of one term.
#[derive(Debug)]
pub(crate) struct List<'a> {
    pub(crate) blocks: Blocks<'a>,
    pub(crate) scorer: Scorer<'a>,
    bounds: Bounds<'a>,
    /// Upper bound on the scores of the list; `None` before it is first needed.
    most: Option<f32>,
    /// The block whose bound was computed last, and that bound.
    bound: (usize, f32),
    /// The block in which the last search for a document ended.
    found: usize,
    /// Limits of the impact filter, made at its first use.
    pub(crate) limits: Option<Lent<Limits>>,
}

rows_kept_by_thread!(List);

/// The lists of some clauses.
pub(crate) type Lists<'a> = Row<List<'a>>;

/// The documents that a probe found, by their indexes among those probed.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Found {
    pub(crate) wanted: [u8; BLOCK],
    pairs: Pairs,
    pub(crate) count: usize,
}

impl Default for Found {
    fn default() -> Found {
        Found {
            count: 0,
            wanted: [0; BLOCK],
            pairs: Pairs::default(),
        }
    }
}

impl<'a> List<'a> {
    /// Opens a clause that is a term or a filter; `None` where the segment lacks it.
    #[inline]
    pub(crate) fn open(
        plan: &'a Plan,
        node: &Node,
        segment: &'a Segment,
    ) -> Result<Option<List<'a>>, IndexError> {
        let Some(word) = node.word() else {
            return Ok(None);
        };
        let Some(record) = word.record(segment)? else {
            return Ok(None);
        };
        let mut lists = Lists::take();
        let scorer = scorer_of(plan, node, segment);
        List::push(&mut lists, &record, scorer, segment)?;
        Ok(lists.pop())
    }

    /// Opens the lists of the terms and filters among `nodes` that the segment has.
    pub(crate) fn open_each(
        plan: &'a Plan,
        nodes: impl IntoIterator<Item = &'a Node>,
        segment: &'a Segment,
    ) -> Result<Lists<'a>, IndexError> {
        let mut lists = Lists::take();
        for node in nodes {
            if let Some(word) = node.word()
                && let Some(record) = word.record(segment)?
            {
                List::push(&mut lists, &record, scorer_of(plan, node, segment), segment)?;
            }
        }
        Ok(lists)
    }

    /// Opens the list of a record and adds it to `lists`. The only place that makes lists of records, so that all is
    /// inlined in it: lists are large, and moving them shows.
    #[inline(never)]
    pub(crate) fn push(
        lists: &mut Lists<'a>,
        record: &TermRecord,
        scorer: Scorer<'a>,
        segment: &'a Segment,
    ) -> Result<(), IndexError> {
        let blocks = segment.blocks(record)?;
        lists.push(List::new(blocks, scorer));
        Ok(())
    }

    /// Opens the list of a stored pair.
    pub(crate) fn of_pair(
        pair: &PairRecord,
        scorer: Scorer<'a>,
        segment: &'a Segment,
    ) -> Result<List<'a>, IndexError> {
        Ok(List::new(segment.pair_blocks(pair)?, scorer))
    }

    #[inline]
    fn new(blocks: Blocks<'a>, scorer: Scorer<'a>) -> List<'a> {
        List {
            bounds: blocks.bounds(),
            blocks,
            scorer,
            most: None,
            bound: (usize::MAX, 0.0),
            found: 0,
            limits: None,
        }
    }

    /// Returns the number of documents in the list.
    pub(crate) fn cost(&self) -> u32 {
        self.blocks.documents_count()
    }

    /// Upper bound on the scores of the list.
    pub(crate) fn most(&mut self) -> f32 {
        if let Some(most) = self.most {
            return most;
        }
        let most = if self.bounds.blocks_count() > 0 {
            self.scorer.bound(&self.bounds.list_impacts())
        } else {
            let mut scores = [0.0; BLOCK];
            self.blocks.load(0);
            let count = self.score_block(&mut scores).len();
            scores[..count].iter().copied().fold(0.0, f32::max)
        };
        self.most = Some(most);
        most
    }

    /// As [`List::most`], but never reads postings: a list without full blocks has no stored bounds, and computing one
    /// costs as much as scoring. Its bound is higher then.
    pub(crate) fn most_unread(&mut self) -> f32 {
        if self.is_bounded() || !self.scorer.saturates() {
            return self.most();
        }
        // No score exceeds that of an infinite frequency.
        let most = Impact {
            frequency: u32::MAX,
            length: 0,
        };
        self.most.unwrap_or_else(|| self.scorer.bound(&[most]))
    }

    /// Maximum score of a posting under `scorer`, that of a phrase with this word.
    pub(crate) fn most_for(&mut self, scorer: &Scorer<'_>) -> f32 {
        if self.is_bounded() {
            return scorer.bound(&self.bounds.list_impacts());
        }
        let most = match scorer.saturates() {
            true => u32::MAX,
            false => {
                self.blocks.load(0);
                self.blocks.postings().1.iter().copied().max().unwrap_or(0)
            }
        };
        scorer.bound(&[Impact {
            frequency: most,
            length: 0,
        }])
    }

    /// Returns whether the blocks have stored bounds.
    pub(crate) fn is_bounded(&self) -> bool {
        self.bounds.blocks_count() > 0
    }

    /// Upper bound on the scores of a block.
    #[inline]
    pub(crate) fn bound(&mut self, block: usize) -> f32 {
        match self.bound {
            (known, bound) if known == block => bound,
            _ => self.bound_anew(block),
        }
    }

    /// Computes the bound of a block. A function of its own, into which the decoding of pairs and their scores are inlined.
    #[inline(never)]
    fn bound_anew(&mut self, block: usize) -> f32 {
        let bound = if self.bounds.blocks_count() == 0 {
            self.most()
        } else {
            self.scorer.bound(&self.bounds.impacts(block))
        };
        self.bound = (block, bound);
        bound
    }

    /// Returns the first block that may hold `doc` or a later document. Fast for increasing documents, which are
    /// searched for from the block of the last one.
    pub(crate) fn find(&mut self, doc: DocId) -> usize {
        let from = match self.found {
            0 => 0,
            found if self.blocks.last_doc(found - 1) < doc => found,
            _ => 0,
        };
        self.found = self.blocks.find(from, doc);
        self.found
    }

    /// Upper bound on the scores of the documents from `base` on and before `end`: the bound of their block, or of the
    /// whole list if they lie in several, since this runs for every list in every range and must be cheap.
    pub(crate) fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
        if !self.is_bounded() {
            return match self.first_from(base) < end.0 {
                true => self.most(),
                false => 0.0,
            };
        }
        let block = self.find(base);
        match self.blocks.last_doc(block).0 >= end.0 - 1 {
            true => self.bound(block),
            false => self.most(),
        }
    }

    /// Returns the first document from `base` on of a list without full blocks; `u32::MAX` if there is none.
    fn first_from(&mut self, base: DocId) -> u32 {
        self.blocks.load(0);
        let docs = self.blocks.docs();
        let at = docs.partition_point(|&doc| doc < base.0);
        docs.get(at).copied().unwrap_or(u32::MAX)
    }

    /// Returns the lowest document that a block may hold.
    #[inline]
    pub(crate) fn start(&self, block: usize) -> u32 {
        match block {
            0 => 0,
            _ => self.blocks.last_doc(block - 1).0.saturating_add(1),
        }
    }

    /// Returns whether a block holds no document before `end`.
    #[inline]
    pub(crate) fn is_past(&self, block: usize, end: u32) -> bool {
        block >= self.blocks.blocks_count() || self.start(block) >= end
    }

    /// Returns a score that at least `k` live documents of the list reach; 0 if none is known. At most d of the best
    /// `k` + d postings are deleted, d being the number of deleted documents of the segment.
    pub(crate) fn floor(&self, k: usize, segment: &Segment) -> f32 {
        let deleted = segment.documents_count() - segment.live_documents_count();
        let rank = k.saturating_add(deleted as usize);
        self.scorer.floor(&self.bounds.floors(rank))
    }

    /// Checks the contract of a block where contracts are enforced; the block is loaded then.
    #[inline]
    pub(crate) fn check(&mut self, block: usize) {
        if contract::is_enforced() {
            self.check_loaded(block);
        }
    }

    #[cold]
    fn check_loaded(&mut self, block: usize) {
        self.blocks.load(block);
        let (first, last) = (self.start(block), self.blocks.last_doc(block).0);
        contract::check_docs(self.blocks.docs(), first, last);
        if self.is_bounded() {
            let mut scores = [0.0; BLOCK];
            let count = self.score_block(&mut scores).len();
            let (bound, most) = (self.bound(block), self.most());
            for score in &scores[..count] {
                assert!(*score <= bound, "{score} in a block of bound {bound}");
                assert!(*score <= most, "{score} in a list of bound {most}");
            }
        }
    }

    /// Scores the loaded block.
    pub(crate) fn score_block(&mut self, scores: &mut [f32; BLOCK]) -> &[u32] {
        let (docs, frequencies) = self.blocks.postings();
        self.scorer
            .score_many(docs, frequencies, &mut scores[..docs.len()]);
        docs
    }

    /// Probes the list for `wanted` (increasing, 256 at most), and notes the places of the documents found if `places`
    /// are given. A block is read only if `matters` says so, given the indexes in `wanted` that fall into it.
    #[inline]
    pub(crate) fn probe(
        &mut self,
        wanted: &[u32],
        found: &mut Found,
        mut places: Option<&mut [Place; BLOCK]>,
        mut matters: impl FnMut(std::ops::Range<usize>, &mut List<'a>, usize) -> bool,
    ) {
        found.count = 0;
        let Some((&first, &last_wanted)) = wanted.first().zip(wanted.last()) else {
            return;
        };
        let mut at = 0;
        let mut block = self.find(DocId(first));
        loop {
            let last = self.blocks.last_doc(block).0;
            let rest = &wanted[at..];
            let count = match last_wanted <= last {
                true => rest.len(),
                false => count_to(last, rest),
            };
            // The next block is found and prefetched before this one is read.
            let next = wanted.get(at + count).map(|&doc| self.find(DocId(doc)));
            if let Some(next) = next {
                self.blocks.prefetch(next);
            }
            if matters(at..at + count, self, block) {
                let places = places.as_deref_mut();
                self.probe_block(block, wanted, at..at + count, found, places);
            }
            at += count;
            match next {
                Some(next) => block = next,
                None => return,
            }
        }
    }

    #[inline(never)]
    fn probe_block(
        &mut self,
        block: usize,
        wanted: &[u32],
        range: std::ops::Range<usize>,
        found: &mut Found,
        places: Option<&mut [Place; BLOCK]>,
    ) {
        self.check(block);
        self.blocks.load(block);
        let (from, wanted) = (range.start, &wanted[range]);
        let start = found.count;
        let pairs_count = self.blocks.intersect(wanted, &mut found.pairs);
        found.count += pairs_count;
        let pairs = found.pairs.wanted[..pairs_count].iter();
        for (slot, &index) in found.wanted[start..].iter_mut().zip(pairs) {
            *slot = from as u8 + index;
        }
        let Some(places) = places else { return };
        let pairs = found.pairs.block[..pairs_count].iter();
        for (slot, &index) in places[start..].iter_mut().zip(pairs) {
            *slot = self.blocks.place(index.into());
        }
    }
}

/// Returns the number of `docs`, increasing, that are not after `last`. It is mostly small, so the first documents are
/// counted without a search.
#[inline]
fn count_to(last: u32, docs: &[u32]) -> usize {
    const FEW: usize = 8;
    match docs.first_chunk::<FEW>() {
        Some(few) if few[FEW - 1] > last => few.iter().map(|&doc| usize::from(doc <= last)).sum(),
        _ => docs.partition_point(|&doc| doc <= last),
    }
}

/// Returns the rows of increasing documents that lie in a range.
#[inline]
pub(crate) fn rows_within(docs: &[u32], range: &std::ops::Range<u32>) -> std::ops::Range<usize> {
    let from = match docs.first() {
        Some(&first) if first < range.start => docs.partition_point(|&doc| doc < range.start),
        _ => 0,
    };
    let to = match docs.last() {
        Some(&last) if last >= range.end => docs.partition_point(|&doc| doc < range.end),
        _ => docs.len(),
    };
    from..to.max(from)
}

/// Returns the scorer of a clause that is a term or a filter.
pub(crate) fn scorer_of<'a>(plan: &'a Plan, node: &Node, segment: &'a Segment) -> Scorer<'a> {
    match node {
        Node::Term(term) => match term.scoring {
            Scoring::Ranked => Scorer::new(plan, term.word.field, term.weight, segment),
            Scoring::Constant => Scorer::constant(plan, term.weight.weight),
        },
        _ => no_scorer(plan, segment),
    }
}

/// Returns the scorer of a filter, which scores nothing: sites have no lengths.
pub(crate) fn no_scorer<'a>(plan: &'a Plan, segment: &'a Segment) -> Scorer<'a> {
    Scorer::new(plan, Field::Site, TermWeight::default(), segment)
}

/// Returns the number of postings of all the lists.
pub(crate) fn postings_of(lists: &[List<'_>]) -> u64 {
    lists.iter().map(|list| u64::from(list.cost())).sum()
}

/// Returns the first damage found in any of the lists.
pub(crate) fn first_damage(lists: &mut [List<'_>]) -> Result<(), IndexError> {
    let damage = lists.iter_mut().find_map(|list| list.blocks.take_error());
    damage.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{clauses, first_segment, made_up, planned};

    #[test]
    fn a_bound_that_is_too_low_is_noticed() {
        let index = made_up(false);
        let segment = first_segment(&index);
        let plan = planned(&index, "w11 w10");
        let mut lists = List::open_each(&plan, clauses(&plan)[0], &segment).unwrap();
        let list = &mut lists[0];
        assert!(list.is_bounded());
        for block in 0..list.blocks.blocks_count() {
            list.check(block);
        }
        list.bound = (0, list.bound(0) / 2.0);
        let check = std::panic::AssertUnwindSafe(|| list.check(0));
        assert!(std::panic::catch_unwind(check).is_err());
    }

    #[test]
    fn probes_find_what_the_list_holds() {
        let index = made_up(false);
        let segment = first_segment(&index);
        let plan = planned(&index, "w11 w8");
        let mut lists = List::open_each(&plan, clauses(&plan)[0], &segment).unwrap();
        let held: Vec<Vec<u32>> = lists
            .iter_mut()
            .map(|list| {
                let mut docs = Vec::new();
                for block in 0..list.blocks.blocks_count() {
                    list.blocks.load(block);
                    docs.extend_from_slice(list.blocks.docs());
                }
                docs
            })
            .collect();
        for (wanted, (list, held)) in held.iter().rev().zip(lists.iter_mut().zip(&held)) {
            for wanted in wanted.chunks(BLOCK) {
                let mut found = Found::default();
                list.probe(wanted, &mut found, None, |_, _, _| true);
                let found = found.wanted[..found.count].iter();
                let found: Vec<u32> = found.map(|&index| wanted[usize::from(index)]).collect();
                let expected: Vec<u32> = wanted
                    .iter()
                    .filter(|doc| held.contains(doc))
                    .copied()
                    .collect();
                assert_eq!(found, expected);
            }
        }
    }
}
