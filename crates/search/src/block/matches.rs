//! Documents that all of some lists hold, and where they hold them.

use crate::block::columns::pick;
use crate::block::term_scorer::{Found, List};
use crate::context::scratch::kept_by_thread;
use crate::plan::scorer::BLOCK;
use index::Place;

/// Documents that all lists hold, of one block of the leader.
#[repr(C, align(64))]
pub(crate) struct Matches {
    pub(crate) docs: [u32; BLOCK],
    /// What each scores as far as it was looked at.
    pub(crate) sums: [f32; BLOCK],
    /// What the documents of the block, or the matches, score in one list.
    pub(crate) scores: [f32; BLOCK],
    pub(crate) frequencies: [u32; BLOCK],
    pub(crate) found: Found,
    pub(crate) count: usize,
    /// By list, the place of every match.
    pub(crate) places: Vec<[Place; BLOCK]>,
}

kept_by_thread!(Matches);

impl Default for Matches {
    fn default() -> Matches {
        Matches {
            count: 0,
            docs: [0; BLOCK],
            places: Vec::new(),
            sums: [0.0; BLOCK],
            found: Found::default(),
            scores: [0.0; BLOCK],
            frequencies: [1; BLOCK],
        }
    }
}

impl Matches {
    /// Makes room for the places in `lists_count` lists.
    pub(crate) fn reserve(&mut self, lists_count: usize) {
        if self.places.len() < lists_count {
            self.places.resize(lists_count, [Place::default(); BLOCK]);
        }
    }

    /// The documents, increasing.
    #[inline]
    pub(crate) fn docs(&self) -> &[u32] {
        &self.docs[..self.count]
    }

    /// Keeps the matches at the increasing indexes `wanted`, with their sums and their places in the first `lists_count` lists.
    pub(crate) fn keep(&mut self, wanted: &[u8], lists_count: usize) {
        if wanted.len() == self.count {
            return;
        }
        pick(&mut self.docs, wanted);
        pick(&mut self.sums, wanted);
        for places in &mut self.places[..lists_count] {
            pick(places, wanted);
        }
        self.count = wanted.len();
    }

    /// Adds to the sums what one of the lists, of that number, has for the matches.
    pub(crate) fn add(&mut self, number: usize, list: &mut List<'_>) {
        let count = self.count;
        let (frequencies, scores) = (&mut self.frequencies[..count], &mut self.scores[..count]);
        list.blocks
            .lookup(&self.places[number][..count], frequencies);
        list.scorer
            .score_many(&self.docs[..count], frequencies, scores);
        for (sum, score) in self.sums.iter_mut().zip(&*scores) {
            *sum += *score;
        }
    }
}
