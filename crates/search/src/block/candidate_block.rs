//! Block of candidates: up to 256 documents with the sums of their scores, on their way through the clauses of a query.
//!
//! ```text
//! row     docs   sums   places of list 0, 1, …       columns; rows increase by document
//! 0       17     3.2    …
//! 1       23     1.9    …
//! ```
//!
//! Clauses are applied one after another ([`crate::block::apply`]): each adds scores, drops rows, or both. A list of
//! a conjunction may note where it holds each candidate (its place), so that scores and positions can be read later.

use crate::block::columns::{ROWS, pick};
use crate::block::impact_filter;
use crate::block::impact_filter::{Reached, Room};
use crate::block::probed::{Clause, Demand, Probed};
use crate::block::term_scorer::List;
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::context::cancel::StopRef;
use crate::context::contract;
use crate::context::counters;
use crate::context::scratch::kept_by_thread;
use crate::plan::scorer::BLOCK;
use codec::lanes;
use index::{DocId, Place, Segment};
use std::ops::Range;

/// Block of up to 256 documents, increasing, with sums of scores.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct CandidateBlock {
    pub(crate) docs: [u32; BLOCK],
    pub(crate) sums: [f32; BLOCK],
    pub(crate) count: usize,
    /// The result of the last probe.
    pub(crate) probed: Probed,
    /// Places of the candidates, by list of a conjunction.
    pub(crate) places: Vec<[Place; BLOCK]>,
    /// The columns of places that are known and still needed.
    pub(crate) placed: Range<usize>,
    /// The row of each candidate in the block that it was taken from, as far as the join of lists goes.
    pub(crate) origins: [u8; BLOCK],
    rows: [u8; BLOCK],
    room: Room,
}

kept_by_thread!(CandidateBlock);

impl Default for CandidateBlock {
    fn default() -> CandidateBlock {
        CandidateBlock {
            docs: [0; BLOCK],
            sums: [0.0; BLOCK],
            count: 0,
            probed: Probed::default(),
            places: Vec::new(),
            placed: 0..0,
            origins: [0; BLOCK],
            rows: [0; BLOCK],
            room: Room::default(),
        }
    }
}

/// Filling.
impl CandidateBlock {
    /// Makes room for the places in `lists_count` lists.
    pub(crate) fn reserve(&mut self, lists_count: usize) {
        if self.places.len() < lists_count {
            self.places.resize(lists_count, [Place::default(); BLOCK]);
        }
    }

    /// Empties the block.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.placed = 0..0;
    }

    /// Adds a candidate after all others; there is room for it.
    #[inline]
    pub(crate) fn push(&mut self, doc: u32, sum: f32) {
        self.docs[self.count] = doc;
        self.sums[self.count] = sum;
        self.count += 1;
    }

    /// Takes documents (increasing, 256 at most). The origin of each is its row; sums are not set.
    #[inline]
    pub(crate) fn take_docs(&mut self, docs: &[u32]) {
        self.docs[..docs.len()].copy_from_slice(docs);
        self.origins[..docs.len()].copy_from_slice(&ROWS[..docs.len()]);
        self.count = docs.len();
        self.placed = 0..0;
    }

    /// Takes the postings of a list's loaded block; with `least`, only those with at least that score. Their scores are
    /// left in the block of the list, by origin; sums are not set.
    #[inline]
    pub(crate) fn take_block(&mut self, list: &mut List<'_>, least: Option<f32>) {
        let Some(least) = least else {
            return self.take_docs(list.blocks.docs());
        };
        let scores = &mut self.probed.scores;
        let docs = list.score_block(scores);
        self.count = lanes::at_least(&scores[..docs.len()], least, &mut self.origins);
        self.placed = 0..0;
        for (doc, &origin) in self.docs.iter_mut().zip(&self.origins[..self.count]) {
            *doc = docs[origin as usize];
        }
    }

    /// Takes the postings of a list's loaded block that score `least` or more.
    pub(crate) fn take_reaching(&mut self, list: &mut List<'_>, least: f32) {
        let reached = Reached {
            indexes: &mut self.rows,
            docs: &mut self.docs,
            scores: &mut self.sums,
            room: &mut self.room,
        };
        self.count = impact_filter::reaching(list, least, reached);
        self.placed = 0..0;
    }

    /// Takes the scored documents whose score is `least` or more.
    pub(crate) fn take_scored(&mut self, docs: &[u32], scores: &[f32], least: f32) {
        self.placed = 0..0;
        self.count = lanes::at_least(scores, least, &mut self.rows);
        for (at, &row) in self.rows[..self.count].iter().enumerate() {
            self.docs[at] = docs[row as usize];
            self.sums[at] = scores[row as usize];
        }
    }

    /// Takes documents with their sums, 256 at most.
    #[inline]
    pub(crate) fn take_sums(&mut self, docs: &[u32], sums: &[f32]) {
        self.placed = 0..0;
        self.count = docs.len();
        self.docs[..docs.len()].copy_from_slice(docs);
        self.sums[..docs.len()].copy_from_slice(sums);
    }

    /// Sets the sums of all candidates to 0.
    #[inline]
    pub(crate) fn clear_sums(&mut self) {
        self.sums[..self.count].fill(0.0);
    }
}

/// Selection of rows.
impl CandidateBlock {
    /// Returns the documents, increasing.
    #[inline]
    pub(crate) fn docs(&self) -> &[u32] {
        &self.docs[..self.count]
    }

    /// Keeps the candidates at `rows`, increasing, in all columns but `origins`.
    #[inline]
    pub(crate) fn keep(&mut self, rows: &[u8]) {
        let CandidateBlock {
            docs,
            sums,
            count,
            places,
            placed,
            ..
        } = self;
        keep_in(docs, sums, &mut places[placed.clone()], count, rows);
    }

    /// Keeps the candidates at `rows`, increasing, of documents just taken: with their origins, as nothing else is known of them.
    pub(crate) fn keep_taken(&mut self, rows: &[u8]) {
        pick(&mut self.docs, rows);
        pick(&mut self.origins, rows);
        self.count = rows.len();
    }

    /// Keeps the candidates whose row `is_kept`.
    pub(crate) fn keep_where(&mut self, is_kept: impl Fn(usize) -> bool) {
        let (mut rows, mut kept) = ([0; BLOCK], 0);
        for (number, row) in ROWS[..self.count].iter().enumerate() {
            rows[kept] = *row;
            kept += usize::from(is_kept(number));
        }
        self.keep(&rows[..kept]);
    }

    /// Keeps the candidates whose sum is `least` or more.
    #[inline]
    pub(crate) fn retain(&mut self, least: f32) {
        let CandidateBlock {
            docs,
            sums,
            count,
            places,
            placed,
            rows,
            ..
        } = self;
        let reaching = lanes::at_least(&sums[..*count], least, rows);
        let places = &mut places[placed.clone()];
        keep_in(docs, sums, places, count, &rows[..reaching]);
    }

    /// Keeps the candidates of a range, with their origins.
    #[inline]
    pub(crate) fn clip(&mut self, range: &Range<u32>) {
        let docs = self.docs();
        let is_inside = |doc: Option<&u32>| doc.is_none_or(|doc| range.contains(doc));
        if is_inside(docs.first()) && is_inside(docs.last()) {
            return;
        }
        let mut inside = 0;
        for row in 0..self.count {
            if range.contains(&self.docs[row]) {
                self.docs[inside] = self.docs[row];
                self.sums[inside] = self.sums[row];
                self.origins[inside] = self.origins[row];
                inside += 1;
            }
        }
        self.count = inside;
    }
}

/// Keeps some rows of columns of `count` rows.
#[inline]
fn keep_in(
    docs: &mut [u32; BLOCK],
    sums: &mut [f32; BLOCK],
    places: &mut [[Place; BLOCK]],
    count: &mut usize,
    rows: &[u8],
) {
    if rows.len() == *count {
        return;
    }
    pick(docs, rows);
    pick(sums, rows);
    for places in places {
        pick(places, rows);
    }
    *count = rows.len();
}

/// Probes, and what is done with their results. [`crate::block::apply`] has the combinations of these.
impl CandidateBlock {
    /// Probes a clause for the candidates.
    #[inline]
    pub(crate) fn probe<C: Clause>(&mut self, clause: &mut C, demand: Demand, stop: StopRef<'_>) {
        let (docs, sums) = (&self.docs[..self.count], &self.sums[..self.count]);
        clause.probe_rows(docs, sums, demand, stop, &mut self.probed);
    }

    /// Keeps the rows of the last probe.
    #[inline]
    pub(crate) fn keep_probed(&mut self) {
        let CandidateBlock {
            docs,
            sums,
            count,
            places,
            placed,
            probed,
            ..
        } = self;
        keep_in(
            docs,
            sums,
            &mut places[placed.clone()],
            count,
            probed.rows(),
        );
    }

    /// Drops the rows of the last probe.
    pub(crate) fn drop_probed(&mut self) {
        let mut rows = [0; BLOCK];
        let mut found = self.probed.rows().iter().copied().peekable();
        let mut others = 0;
        for row in &ROWS[..self.count] {
            rows[others] = *row;
            others += usize::from(found.next_if_eq(row).is_none());
        }
        self.keep(&rows[..others]);
    }

    /// Adds the scores of the last probe to the sums, after [`CandidateBlock::keep_probed`].
    #[inline]
    pub(crate) fn add_probed(&mut self) {
        let scores = &self.probed.scores[..self.count];
        for (sum, score) in self.sums.iter_mut().zip(scores) {
            *sum += *score;
        }
    }

    /// Adds the scores of the last probe to the sums of its rows, all candidates staying.
    #[inline]
    pub(crate) fn scatter_probed(&mut self) {
        for (&row, score) in self.probed.rows().iter().zip(&self.probed.scores) {
            self.sums[row as usize] += score;
        }
    }

    /// Adds the scores of the list of a number, whose places are known, to the sums; its places are not needed then.
    #[inline]
    pub(crate) fn add_placed(&mut self, number: usize, list: &mut List<'_>) {
        let count = self.count;
        let Probed {
            scores,
            frequencies,
            ..
        } = &mut self.probed;
        let (frequencies, scores) = (&mut frequencies[..count], &mut scores[..count]);
        let places = &self.places[number][..count];
        list.blocks.lookup(places, frequencies);
        list.scorer
            .score_many(&self.docs[..count], frequencies, scores);
        for (sum, score) in self.sums.iter_mut().zip(&*scores) {
            *sum += *score;
        }
    }

    /// Offers the candidates, whose scores are complete, and empties the block.
    #[inline]
    pub(crate) fn offer<'a, H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
    ) {
        contract::check_docs(self.docs(), 0, segment.documents_count().saturating_sub(1));
        counters::offered(self.count);
        let has_deletions = segment.has_deletions();
        for (&doc, &sum) in self.docs[..self.count].iter().zip(&self.sums) {
            if top.would_enter(sum) && !(has_deletions && segment.is_deleted(DocId(doc))) {
                top.offer(sum, DocId(doc));
            }
        }
        self.count = 0;
    }
}
