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

use crate::block::bitset::{clip, mark};
use crate::block::columns::INDEXES;
use crate::block::columns::pick;
use crate::block::matches::Matches;
use crate::block::term_scorer::{List, Lists, first_damage};
use crate::collect::collectors::{self, Collectors, HitCollector, MatchCollector};
use crate::collect::executor::Executor;
use crate::context::cancel;
use crate::context::cancel::StopRef;
use crate::context::counters::Name;
use crate::context::scratch::Lent;
use crate::context::wanted::Wanted;
use crate::plan::scorer::BLOCK;
use codec::{bits, lanes};
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// Documents of a window of bits.
const WIDTH: u32 = if cfg!(test) { 128 } else { 16384 };
/// Dense lists, with at least one of `LATE` documents, are probed last, after pruning.
const LATE: u32 = 6;
/// Lists with at least one of `DENSE` documents are intersected as bits.
const DENSE: u32 = 24;

/// An intersection being searched on one segment.
pub(crate) struct Conjunction<'a> {
    /// Shortest first.
    pub(crate) lists: Lists<'a>,
    pub(crate) matches: Lent<Matches>,
}

impl<'a> Conjunction<'a> {
    pub(crate) fn new(mut lists: Lists<'a>) -> Conjunction<'a> {
        lists.sort_by_key(List::cost);
        let mut matches: Lent<Matches> = Lent::take();
        matches.reserve(lists.len());
        Conjunction { lists, matches }
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
        // The leader is asked first whatever it holds.
        let early = first_late(&self.lists, 1, segment);
        let mut block = self.lists[0].find(DocId(range.start));
        while self.is_in_range(block, &range) && !top.stop().ends_hits(self.start(block), work) {
            top.context.exchange();
            let least = self.least_of_leader(top.threshold());
            let leader = &mut self.lists[0];
            if least.is_none_or(|least| !leader.is_bounded() || leader.bound(block) >= least) {
                // Every match counts, so where they are counted none is left out.
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
                    top.found(wanted, self.matches.docs(), segment);
                }
                self.offer(early, sought == Sought::Scores, segment, top);
            } else if counted {
                self.find_matches(block, &range, None, Sought::Documents);
                top.found(wanted, self.matches.docs(), segment);
            }
            block += 1;
        }
        first_damage(&mut self.lists)
    }

    /// What a document must score in the leader to reach a threshold with the help of all others; `None`
    /// where any will do.
    fn least_of_leader(&mut self, threshold: f32) -> Option<f32> {
        if threshold <= 0.0 {
            // There is nothing to compare with yet, and what others add is not asked for in vain.
            return None;
        }
        let others: f32 = self.lists[1..].iter_mut().map(List::most_unread).sum();
        (threshold > others).then_some(threshold - others)
    }

    /// Damage met so far.
    pub(crate) fn take_error(&mut self) -> Option<IndexError> {
        let mut lists = self.lists.iter_mut();
        lists.find_map(|list| list.blocks.take_error())
    }

    /// The most that a document of a range can score.
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

    /// Whether all lists are dense enough to be intersected as bits.
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
        while self.is_in_range(block, &range) && !stop.ends_count(work) {
            self.find_matches(block, &range, None, Sought::Documents);
            collectors::found(matches, self.matches.docs(), segment);
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
        while base < range.end && !stop.ends_count(work) {
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

    /// The first document that a block of the leader may hold.
    pub(crate) fn start(&self, block: usize) -> u32 {
        self.lists[0].start(block)
    }

    /// Whether a block of the leader may hold documents of the range.
    pub(crate) fn is_in_range(&self, block: usize, range: &Range<u32>) -> bool {
        !self.lists[0].is_past(block, range.end)
    }

    /// Finds the documents of a block of the leader that all lists hold; only those that score at least so
    /// much in the leader, where that is given.
    pub(crate) fn find_matches(
        &mut self,
        block: usize,
        range: &Range<u32>,
        least: Option<f32>,
        sought: Sought,
    ) {
        self.find_matches_of(self.lists.len(), block, range, least, sought);
    }

    /// As [`Conjunction::find_matches`], of the first `lists_count` lists.
    pub(crate) fn find_matches_of(
        &mut self,
        lists_count: usize,
        block: usize,
        range: &Range<u32>,
        least: Option<f32>,
        sought: Sought,
    ) {
        let Some(leader) = self.lists.first_mut() else {
            return;
        };
        let Matches {
            count,
            docs: matches,
            scores,
            ..
        } = &mut *self.matches;
        leader.blocks.prefetch(block + 1);
        leader.check(block);
        leader.blocks.load(block);
        let mut kept = [0u8; BLOCK];
        *count = match least {
            Some(least) => {
                let docs = leader.score_block(scores);
                let count = lanes::at_least(&scores[..docs.len()], least, &mut kept);
                for (doc, &index) in matches.iter_mut().zip(&kept[..count]) {
                    *doc = docs[index as usize];
                }
                count
            }
            None => {
                let docs = leader.blocks.docs();
                matches[..docs.len()].copy_from_slice(docs);
                kept[..docs.len()].copy_from_slice(&INDEXES[..docs.len()]);
                docs.len()
            }
        };
        clip_matches(count, matches, &mut kept, range);
        self.narrow(1..lists_count, &mut kept, sought);
        let (leader, matches) = (&self.lists[0], &mut *self.matches);
        let kept = &kept[..matches.count];
        if sought != Sought::Documents {
            for (place, &index) in matches.places[0].iter_mut().zip(kept) {
                *place = leader.blocks.place(index.into());
            }
        }
        if sought == Sought::Scores {
            for (sum, &index) in matches.sums.iter_mut().zip(kept) {
                *sum = matches.scores[index as usize];
            }
        }
    }

    /// Finds those of some documents (increasing, 256 at most) that all lists hold, and their places; writes
    /// to `kept` which of them they are.
    pub(crate) fn find_among(&mut self, docs: &[u32], kept: &mut [u8; BLOCK]) {
        self.matches.docs[..docs.len()].copy_from_slice(docs);
        self.matches.count = docs.len();
        *kept = INDEXES;
        self.narrow(0..self.lists.len(), kept, Sought::Places);
    }

    /// Keeps the matches that the lists from number `first` on hold too, with their places in these; writes to
    /// `kept` which of them they were.
    pub(crate) fn keep_held(&mut self, first: usize, kept: &mut [u8; BLOCK]) {
        *kept = INDEXES;
        self.narrow(first..self.lists.len(), kept, Sought::Places);
    }

    /// Keeps the matches that the lists of some numbers hold, and with them what belongs to them.
    #[inline]
    fn narrow(&mut self, numbers: Range<usize>, kept: &mut [u8; BLOCK], sought: Sought) {
        let first = numbers.start;
        let Matches {
            count,
            docs: matches,
            places,
            found,
            ..
        } = &mut *self.matches;
        for (number, other) in self.lists[..numbers.end].iter_mut().enumerate().skip(first) {
            if *count == 0 {
                return;
            }
            let (before, rest) = places.split_at_mut(number);
            let place = rest.first_mut().filter(|_| sought != Sought::Documents);
            other.probe(&matches[..*count], found, place, |_, _, _| true);
            if found.count < *count {
                let wanted = &found.wanted[..found.count];
                pick(matches, wanted);
                if sought != Sought::Documents {
                    pick(kept, wanted);
                    for places in &mut before[first..] {
                        pick(places, wanted);
                    }
                }
            }
            *count = found.count;
        }
    }

    /// Scores the matches of the first `early` lists, which may be scored in the leader already, and offers those that
    /// all lists hold. What cannot enter any more is left out on the way, so that longer lists are never asked whether
    /// they hold it, and how often.
    fn offer<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        early: usize,
        is_scored: bool,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
    ) {
        let first = usize::from(is_scored);
        let Matches {
            count,
            docs,
            places,
            found,
            scores,
            sums,
            frequencies,
            ..
        } = &mut *self.matches;
        let mut rest = match top.threshold() > 0.0 && *count > 0 {
            true => {
                let others = self.lists.iter_mut().skip(first + 1);
                others.map(List::most_unread).sum()
            }
            false => f32::INFINITY,
        };
        if !is_scored {
            sums[..*count].fill(0.0);
        }
        for number in first..self.lists.len() {
            if *count == 0 {
                return;
            }
            let list = &mut self.lists[number];
            if number >= early {
                // What blocks add at most is not asked: it takes longer than the blocks that it leaves out.
                let places = &mut places[number];
                list.probe(&docs[..*count], found, Some(places), |_, _, _| true);
                if found.count < *count {
                    *count = found.count;
                    let wanted = &found.wanted[..found.count];
                    pick(docs, wanted);
                    pick(sums, wanted);
                }
            }
            let (frequencies, scores) = (&mut frequencies[..*count], &mut scores[..*count]);
            list.blocks.lookup(&places[number][..*count], frequencies);
            list.scorer.score_many(&docs[..*count], frequencies, scores);
            for (sum, score) in sums.iter_mut().zip(&*scores) {
                *sum += *score;
            }
            let kept = lanes::at_least(&sums[..*count], top.threshold() - rest, &mut found.wanted);
            if kept < *count {
                *count = kept;
                let wanted = &found.wanted[..kept];
                pick(docs, wanted);
                pick(sums, wanted);
                for places in places[..early].iter_mut().skip(number + 1) {
                    pick(places, wanted);
                }
            }
            if let Some(next) = self.lists.get_mut(number + 1) {
                // Exact: all of them lie on the grid.
                rest -= next.most_unread();
            }
        }
        crate::context::counters::offered(*count);
        let has_deletions = segment.has_deletions();
        for (&doc, &sum) in docs[..*count].iter().zip(&*sums) {
            if !(has_deletions && segment.is_deleted(DocId(doc))) {
                top.offer(sum, DocId(doc));
            }
        }
    }
}

/// Returns the number of the first dense list from `from` on: probing it drops fewer candidates than scores do.
pub(crate) fn first_late(lists: &[List<'_>], from: usize, segment: &Segment) -> usize {
    let many = segment.documents_count() / LATE;
    let rare = lists[from..].iter().take_while(|list| list.cost() < many);
    from + rare.count()
}

/// What is wanted of matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    /// Which they are.
    Documents,
    /// And where every list has them.
    Places,
    /// And their scores in the leader, where these have a minimum.
    Scores,
}

/// Leaves out what lies outside the range; few blocks reach over its ends.
#[inline]
fn clip_matches(
    count: &mut usize,
    docs: &mut [u32; BLOCK],
    kept: &mut [u8; BLOCK],
    range: &Range<u32>,
) {
    let all = &docs[..*count];
    let inside = |doc: Option<&u32>| doc.is_none_or(|doc| range.contains(doc));
    if inside(all.first()) && inside(all.last()) {
        return;
    }
    let mut inside = 0;
    for at in 0..*count {
        if range.contains(&docs[at]) {
            docs[inside] = docs[at];
            kept[inside] = kept[at];
            inside += 1;
        }
    }
    *count = inside;
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
