//! Documents that a clause was found in, among those that it was probed with.

use crate::block::matches::Matches;
use crate::block::term_scorer::Found;
use crate::context::scratch::kept_by_thread;
use crate::plan::scorer::BLOCK;
use index::Place;

/// Those of some documents that match, and what they score.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Indexes among the documents asked about.
    pub(crate) found: Found,
    /// What each of those found scores, where that was asked for.
    pub(crate) scores: [f32; BLOCK],
    pub(crate) docs: [u32; BLOCK],
    pub(crate) places: [Place; BLOCK],
    pub(crate) frequencies: [u32; BLOCK],
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
    /// Keeps the matches that were found, and adds their scores.
    pub(crate) fn keep_found(&self, matches: &mut Matches, lists_count: usize) {
        self.add_to(&mut matches.sums);
        matches.keep(self.indexes(), lists_count);
    }

    pub(crate) fn add_to(&self, sums: &mut [f32; BLOCK]) {
        for (&index, score) in self.indexes().iter().zip(&self.scores) {
            sums[index as usize] += score;
        }
    }
}
