//! Block-max conjunction of term postings, scored before it is joined (as Lucene's block-max conjunction).
//!
//! ```text
//! for each block of the shortest list, the leader:
//!     bound(block) + maxima of the others < threshold?  skip it
//!     candidates = documents of the block whose score reaches threshold - maxima of the others
//!     probe the other sparse lists, shortest first; keep what they hold
//!     score list after list; drop what cannot reach the threshold with the maxima of the rest
//!     dense lists are probed only when their turn to be scored comes
//! ```
//!
//! Where matches alone are wanted and all lists are dense, windows of documents are intersected as bits.
//!
//! Exact: hits, scores, order and counts are those of its slow twin, [`crate::exhaustive`], since sums are exact.

use crate::block::apply::apply_required;
use crate::block::bitset::{clip, mark};
use crate::block::candidate_block::CandidateBlock;
use crate::block::columns::{ROWS, pick};
use crate::block::term_scorer::{List, Lists, first_damage};
use crate::collect::collectors::{self, Collectors, HitCollector, MatchCollector};
use crate::collect::executor::Executor;
use crate::context::cancel;
use crate::context::cancel::StopRef;
use crate::context::counters::Name;
use crate::context::scratch::Lent;
use crate::context::wanted::Wanted;
use codec::bits;
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// Width of a window of bits, in documents.
const WIDTH: u32 = if cfg!(test) { 128 } else { 16384 };
/// Dense lists, with at least one of `LATE` documents, are probed last, after pruning.
const LATE: u32 = 6;
/// Lists with at least one of `DENSE` documents are intersected as bits.
const DENSE: u32 = 24;

/// The search of an intersection of lists on one segment.
pub(crate) struct Conjunction<'a> {
    /// Shortest first.
    pub(crate) lists: Lists<'a>,
    pub(crate) candidates: Lent<CandidateBlock>,
}

impl<'a> Conjunction<'a> {
    pub(crate) fn new(mut lists: Lists<'a>) -> Conjunction<'a> {
        lists.sort_by_key(List::cost);
        let mut candidates: Lent<CandidateBlock> = Lent::take();
        candidates.reserve(lists.len());
        Conjunction { lists, candidates }
    }

    /// Collects the hits and matches that are wanted among the documents of `range`.
    pub(crate) fn search<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
        wanted: Wanted,
    ) -> Result<(), IndexError> {
        let counted = wanted.is_counted();
        let work = cancel::clauses_work(self.lists.len());
        // The leader is never probed late, however dense it is.
        let early = first_late(&self.lists, 1, segment);
        let mut block = self.lists[0].find(DocId(range.start));
        while self.is_in_range(block, &range) && !top.stop().ends_hits(self.start(block), work) {
            top.context.exchange();
            let least = self.least_of_leader(top.threshold());
            let leader = &mut self.lists[0];
            if least.is_none_or(|least| !leader.is_bounded() || leader.bound(block) >= least) {
                // A search that counts matches drops none.
                let least = least.filter(|_| !counted);
                let early = match counted || top.threshold() <= 0.0 {
                    true => self.lists.len(),
                    false => early,
                };
                let sought = match least {
                    Some(_) => Sought::Scores,
                    None => Sought::Places,
                };
                self.find_matches_of(early, block, &range, least, sought);
                if counted || early == self.lists.len() {
                    top.found(wanted, self.candidates.docs(), segment);
                }
                self.offer(early, sought == Sought::Scores, segment, top);
            } else if counted {
                self.find_matches(block, &range, None, Sought::Documents);
                top.found(wanted, self.candidates.docs(), segment);
            }
            block += 1;
        }
        first_damage(&mut self.lists)
    }

    /// Returns the lowest score in the leader with which a document can reach `threshold`; `None` if every document
    /// can.
    fn least_of_leader(&mut self, threshold: f32) -> Option<f32> {
        if threshold <= 0.0 {
            // No threshold yet: skip the bounds.
            return None;
        }
        let others: f32 = self.lists[1..].iter_mut().map(List::most_unread).sum();
        (threshold > others).then_some(threshold - others)
    }

    /// Returns the first damage found so far.
    pub(crate) fn take_error(&mut self) -> Option<IndexError> {
        let mut lists = self.lists.iter_mut();
        lists.find_map(|list| list.blocks.take_error())
    }

    /// Upper bound on the scores of a range.
    pub(crate) fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
        self.lists
            .iter_mut()
            .map(|list| list.bound_in(base, end))
            .sum()
    }

    /// Collects the matches among the documents of `range`.
    pub(crate) fn collect<M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        stop: StopRef<'_>,
        matches: &mut M,
    ) -> Result<(), IndexError> {
        if self.is_dense(segment) {
            self.collect_bits(range, segment, stop, matches);
        } else {
            self.collect_blocks(range, segment, stop, matches);
        }
        first_damage(&mut self.lists)
    }

    /// Returns whether all lists are dense enough to be intersected as bits.
    pub(crate) fn is_dense(&self, segment: &Segment) -> bool {
        self.lists[0].cost() >= segment.documents_count() / DENSE
    }

    fn collect_blocks<M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        stop: StopRef<'_>,
        matches: &mut M,
    ) {
        let work = cancel::clauses_work(self.lists.len());
        let mut block = self.lists[0].find(DocId(range.start));
        while self.is_in_range(block, &range) && !stop.ends_count(self.start(block), work) {
            self.find_matches(block, &range, None, Sought::Documents);
            collectors::found(matches, self.candidates.docs(), segment);
            block += 1;
        }
    }

    fn collect_bits<M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        stop: StopRef<'_>,
        matches: &mut M,
    ) {
        let mut base = range.start & !63;
        let mut all = [0; (WIDTH / 64) as usize];
        let mut one = [0; (WIDTH / 64) as usize];
        let work = cancel::WINDOW.max(self.lists.len() as u32);
        while base < range.end && !stop.ends_count(base, work) {
            let width = WIDTH.min(range.end - base);
            let words = width.div_ceil(64) as usize;
            for (number, list) in self.lists.iter_mut().enumerate() {
                let target = if number == 0 { &mut all } else { &mut one };
                target.fill(0);
                mark(list, base, &mut target[..words]);
                if number > 0 {
                    bits::intersect(&mut all[..words], &one[..words]);
                }
            }
            clip(&mut all[..words], base, &range);
            collectors::found_bits(matches, base, &mut all[..words], segment);
            base += width;
        }
    }

    /// Returns the first document that a block of the leader may hold.
    pub(crate) fn start(&self, block: usize) -> u32 {
        self.lists[0].start(block)
    }

    /// Returns whether a block of the leader may hold documents of the range.
    pub(crate) fn is_in_range(&self, block: usize, range: &Range<u32>) -> bool {
        !self.lists[0].is_past(block, range.end)
    }

    /// Finds the documents of a block of the leader that all lists hold; with `least`, only those with at least that
    /// score in the leader.
    pub(crate) fn find_matches(
        &mut self,
        block: usize,
        range: &Range<u32>,
        least: Option<f32>,
        sought: Sought,
    ) {
        self.find_matches_of(self.lists.len(), block, range, least, sought);
    }

    /// Finds matches as [`Conjunction::find_matches`] does; `sieve` drops candidates of the leader before the other
    /// lists are probed.
    pub(crate) fn find_matches_through(
        &mut self,
        sieve: impl FnOnce(&mut CandidateBlock),
        block: usize,
        range: &Range<u32>,
        least: Option<f32>,
        sought: Sought,
    ) {
        self.take_leader(block, range, least);
        sieve(&mut self.candidates);
        self.narrow_leader(self.lists.len(), sought);
    }

    /// Finds matches as [`Conjunction::find_matches`] does, of the first `lists_count` lists.
    pub(crate) fn find_matches_of(
        &mut self,
        lists_count: usize,
        block: usize,
        range: &Range<u32>,
        least: Option<f32>,
        sought: Sought,
    ) {
        self.take_leader(block, range, least);
        self.narrow_leader(lists_count, sought);
    }

    /// Takes the documents of a block of the leader; with `least`, only those with at least that score in it.
    fn take_leader(&mut self, block: usize, range: &Range<u32>, least: Option<f32>) {
        let leader = &mut self.lists[0];
        leader.blocks.prefetch(block + 1);
        leader.check(block);
        leader.blocks.load(block);
        self.candidates.take_block(leader, least);
        self.candidates.clip(range);
    }

    /// Keeps the candidates of the leader's block that the other lists of the first `lists_count` hold too.
    fn narrow_leader(&mut self, lists_count: usize, sought: Sought) {
        self.narrow(1..lists_count, sought);
        let (leader, candidates) = (&self.lists[0], &mut *self.candidates);
        let origins = &candidates.origins[..candidates.count];
        if sought != Sought::Documents {
            for (place, &origin) in candidates.places[0].iter_mut().zip(origins) {
                *place = leader.blocks.place(origin.into());
            }
            candidates.placed = 0..lists_count;
        }
        if sought == Sought::Scores {
            for (sum, &origin) in candidates.sums.iter_mut().zip(origins) {
                *sum = candidates.probed.scores[origin as usize];
            }
        }
    }

    /// Finds those of some documents (increasing, 256 at most) that all lists hold, and their places; their origins
    /// are the rows of `docs`.
    pub(crate) fn find_among(&mut self, docs: &[u32]) {
        self.candidates.take_docs(docs);
        self.narrow(0..self.lists.len(), Sought::Places);
    }

    /// Keeps the candidates that the lists from number `first` on hold too, with their places in all lists; their
    /// origins are the rows that they had before.
    pub(crate) fn keep_held(&mut self, first: usize) {
        self.candidates.origins = ROWS;
        self.narrow(first..self.lists.len(), Sought::Places);
    }

    /// Keeps the candidates that the lists of some numbers hold. Sums are not kept: none is known yet.
    #[inline]
    fn narrow(&mut self, numbers: Range<usize>, sought: Sought) {
        let CandidateBlock {
            docs,
            count,
            origins,
            places,
            placed,
            probed,
            ..
        } = &mut *self.candidates;
        if placed.start == placed.end {
            *placed = numbers.start..numbers.start;
        }
        let found = &mut probed.found;
        for number in numbers {
            if *count == 0 {
                return;
            }
            let (before, rest) = places.split_at_mut(number);
            let place = rest.first_mut().filter(|_| sought != Sought::Documents);
            self.lists[number].probe(&docs[..*count], found, place, |_, _, _| true);
            if found.count < *count {
                let rows = &found.wanted[..found.count];
                pick(docs, rows);
                if sought != Sought::Documents {
                    pick(origins, rows);
                    for places in &mut before[placed.clone()] {
                        pick(places, rows);
                    }
                }
            }
            if sought != Sought::Documents {
                placed.end = number + 1;
            }
            *count = found.count;
        }
    }

    /// Scores the candidates, which the first `early` lists hold and which may be scored in the leader already, and
    /// offers those that all lists hold. Candidates that cannot enter any more are dropped after each list, so that
    /// longer lists are probed for fewer.
    fn offer<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        early: usize,
        is_scored: bool,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
    ) {
        let first = usize::from(is_scored);
        let candidates = &mut *self.candidates;
        let mut rest = match top.threshold() > 0.0 && candidates.count > 0 {
            true => {
                let others = self.lists.iter_mut().skip(first + 1);
                others.map(List::most_unread).sum()
            }
            false => f32::INFINITY,
        };
        if !is_scored {
            candidates.clear_sums();
        }
        for number in first..self.lists.len() {
            if candidates.count == 0 {
                return;
            }
            candidates.placed = (number + 1).min(early)..early;
            let list = &mut self.lists[number];
            match number < early {
                true => candidates.add_placed(number, list),
                // The upper bounds of its blocks are not asked for: that takes longer than the blocks that they save.
                false => apply_required(list, true, candidates, top.stop()),
            }
            candidates.retain(top.threshold() - rest);
            if let Some(next) = self.lists.get_mut(number + 1) {
                // Exact: all of them lie on the grid.
                rest -= next.most_unread();
            }
        }
        candidates.offer(segment, top);
    }
}

/// Returns the number of the first dense list from `from` on: probing it drops fewer candidates than scores do.
pub(crate) fn first_late(lists: &[List<'_>], from: usize, segment: &Segment) -> usize {
    let many = segment.documents_count() / LATE;
    let rare = lists[from..].iter().take_while(|list| list.cost() < many);
    from + rare.count()
}

/// The columns to fill while matches are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    /// The documents.
    Documents,
    /// The documents, and their places in every list.
    Places,
    /// The documents, their places, and their scores in the leader, if these have a minimum.
    Scores,
}

impl<'a> Executor<'a> for Conjunction<'a> {
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        wanted: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        match wanted {
            Wanted::Count => self.collect(range, segment, top.stop(), &mut top.matches),
            Wanted::Hits | Wanted::HitsAndCount => self.search(range, segment, top, wanted),
        }
    }

    fn bound(&mut self, range: &Range<u32>) -> f32 {
        self.bound_in(DocId(range.start), DocId(range.end))
    }

    fn cost(&self) -> u64 {
        u64::from(self.lists[0].cost()) * self.lists.len() as u64
    }

    fn name(&self) -> Name {
        Name::Conjunction
    }
}

#[cfg(test)]
mod tests;
