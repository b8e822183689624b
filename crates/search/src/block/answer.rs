//! Documents that a clause was found in, among those that it was probed with.

use crate::block::matches::Matches;
use crate::block::term_scorer::{Found, List};
use crate::context::scratch::kept_by_thread;
use crate::plan::scorer::BLOCK;
use index::Place;
use std::ops::Range;

/// Those of some documents that match, and what they score.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Indexes among the documents asked about.
    pub(crate) found: Found,
    /// What each of those found scores, where that was asked for.
    pub(crate) scores: [f32; BLOCK],
    docs: [u32; BLOCK],
    places: [Place; BLOCK],
    frequencies: [u32; BLOCK],
}

kept_by_thread!(Answer);

impl Default for Answer {
    fn default() -> Answer {
        Answer {
            found: Found::default(),
            scores: [0.0; BLOCK],
            docs: [0; BLOCK],
            places: [Place::default(); BLOCK],
            frequencies: [1; BLOCK],
        }
    }
}

impl Answer {
    /// Indexes of those found.
    pub(crate) fn indexes(&self) -> &[u8] {
        &self.found.wanted[..self.found.count]
    }

    /// Adds one that was found.
    pub(crate) fn push(&mut self, index: u8, score: f32) {
        self.found.wanted[self.found.count] = index;
        self.scores[self.found.count] = score;
        self.found.count += 1;
    }
}

impl Answer {
    /// Looks for `docs` (increasing, 256 at most) in a list.
    pub(crate) fn find(&mut self, list: &mut List<'_>, docs: &[u32]) {
        list.probe(docs, &mut self.found, None, |_, _, _| true);
    }

    /// As [`Answer::find`], and scores those found. Before a block is read, `matters` is asked, as [`List::probe`] says.
    #[inline]
    pub(crate) fn look_up<'a>(
        &mut self,
        list: &mut List<'a>,
        docs: &[u32],
        matters: impl FnMut(Range<usize>, &mut List<'a>, usize) -> bool,
    ) {
        let Answer {
            found,
            scores,
            docs: held,
            places,
            frequencies,
        } = self;
        list.probe(docs, found, Some(places), matters);
        let count = found.count;
        if count == 0 {
            return;
        }
        let frequencies = &mut frequencies[..count];
        list.blocks.lookup(&places[..count], frequencies);
        for (held, &index) in held.iter_mut().zip(&found.wanted[..count]) {
            *held = docs[index as usize];
        }
        list.scorer
            .score_many(&held[..count], frequencies, &mut scores[..count]);
    }

    /// Keeps the matches that were found, and adds their scores.
    pub(crate) fn keep_found(&self, matches: &mut Matches, lists_count: usize) {
        self.add_to(&mut matches.sums);
        matches.keep(self.indexes(), lists_count);
    }

    /// Adds the scores of those found to sums by document.
    #[inline]
    pub(crate) fn add_to(&self, sums: &mut [f32; BLOCK]) {
        for (&index, score) in self.indexes().iter().zip(&self.scores) {
            sums[index as usize] += score;
        }
    }
}
