//! Candidates with what they score so far, on their way through the lists that have not been asked yet.

use crate::block::answer::Answer;
use crate::block::columns::pick;
use crate::block::impact_filter;
use crate::block::impact_filter::{Reached, Room};
use crate::block::term_scorer::List;
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::context::counters;
use crate::context::scratch::kept_by_thread;
use crate::plan::scorer::BLOCK;
use codec::lanes;
use index::{DocId, Segment};

/// Up to 256 documents, increasing, with sums of scores.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Batch {
    pub(crate) docs: [u32; BLOCK],
    pub(crate) sums: [f32; BLOCK],
    kept: [u8; BLOCK],
    room: Room,
    answer: Answer,
    pub(crate) count: usize,
}

kept_by_thread!(Batch);

impl Default for Batch {
    fn default() -> Batch {
        Batch {
            count: 0,
            docs: [0; BLOCK],
            sums: [0.0; BLOCK],
            kept: [0; BLOCK],
            room: Room::default(),
            answer: Answer::default(),
        }
    }
}

impl Batch {
    /// Adds a candidate; there is room for it.
    #[inline]
    pub(crate) fn push(&mut self, doc: u32, sum: f32) {
        self.docs[self.count] = doc;
        self.sums[self.count] = sum;
        self.count += 1;
    }

    /// Takes of a list's loaded block the postings that score `least` or more; the batch is empty before.
    pub(crate) fn take(&mut self, list: &mut List<'_>, least: f32) {
        let reached = Reached {
            indexes: &mut self.kept,
            docs: &mut self.docs,
            scores: &mut self.sums,
            room: &mut self.room,
        };
        self.count = impact_filter::reaching(list, least, reached);
    }

    /// Takes of some scored documents those whose score is `least` or more; the batch is empty before.
    pub(crate) fn take_scored(&mut self, docs: &[u32], scores: &[f32], least: f32) {
        self.count = lanes::at_least(scores, least, &mut self.kept);
        for (at, &index) in self.kept[..self.count].iter().enumerate() {
            self.docs[at] = docs[index as usize];
            self.sums[at] = scores[index as usize];
        }
    }

    /// Keeps the candidates of a range.
    pub(crate) fn clip(&mut self, range: &std::ops::Range<u32>) {
        let docs = &self.docs[..self.count];
        if docs.first().is_some_and(|doc| range.contains(doc))
            && docs.last().is_some_and(|doc| range.contains(doc))
        {
            return;
        }
        let mut count = 0;
        for at in 0..self.count {
            if range.contains(&self.docs[at]) {
                self.docs[count] = self.docs[at];
                self.sums[count] = self.sums[at];
                count += 1;
            }
        }
        self.count = count;
    }

    /// Keeps the candidates whose sum is `least` or more.
    pub(crate) fn retain(&mut self, least: f32) {
        let sums = &self.sums[..self.count];
        let count = lanes::at_least(sums, least, &mut self.kept);
        self.pick(count);
    }

    /// Keeps the `count` candidates whose indexes were noted.
    fn pick(&mut self, count: usize) {
        if count < self.count {
            pick(&mut self.docs, &self.kept[..count]);
            pick(&mut self.sums, &self.kept[..count]);
            self.count = count;
        }
    }

    /// Adds what a list has for the candidates. Those that cannot reach `least`, whatever the lists after
    /// it add (`rest` at most), may be left without.
    pub(crate) fn add(&mut self, list: &mut List<'_>, rest: f32, least: f32) {
        let Batch {
            count,
            docs,
            sums,
            answer,
            ..
        } = self;
        let docs = &docs[..*count];
        answer.look_up(list, docs, |range, list, block| {
            let most = list.bound(block) + rest;
            sums[range].iter().any(|sum| sum + most >= least)
        });
        answer.add_to(sums);
    }

    /// Keeps the candidates whose indexes `choose` writes, given their documents; it returns how many they are.
    #[inline]
    pub(crate) fn keep(&mut self, choose: impl FnOnce(&[u32], &mut [u8; BLOCK]) -> usize) {
        if self.count == 0 {
            return;
        }
        let count = choose(&self.docs[..self.count], &mut self.kept);
        self.pick(count);
    }

    /// Offers the candidates, now that all is added, and empties the batch.
    #[inline]
    pub(crate) fn offer<'a, H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
    ) {
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
