//! Window of documents with the best of their scores, into which lists are poured one after another.
//!
//! Like [`crate::block::window::Window`], but a document keeps the greatest of what is poured, not the sum.

use crate::context::scratch::{Aligned, kept_by_thread};
use codec::{bits, sums};

/// Width in documents: its scores fit a second-level cache, and many lists are begun anew in each window.
pub(crate) const WIDTH: u32 = if cfg!(test) { 128 } else { 32768 };
const WORDS: usize = WIDTH as usize / 64;

/// The best scores of documents; those without a mark are 0.
#[derive(Debug)]
pub(crate) struct BestWindow {
    base: u32,
    scores: Box<Aligned<[[f32; 64]; WORDS]>>,
    matched: Box<[u64; WORDS]>,
}

kept_by_thread!(BestWindow);

impl Default for BestWindow {
    fn default() -> BestWindow {
        BestWindow {
            base: 0,
            scores: Box::new(Aligned([[0.0; 64]; WORDS])),
            matched: Box::new([0; WORDS]),
        }
    }
}

impl BestWindow {
    /// Empties the window and moves it to the documents from `base` on, a multiple of 64.
    pub(crate) fn begin(&mut self, base: u32) {
        self.base = base;
        let rows = self.scores.0.iter_mut().zip(&mut *self.matched);
        for (row, word) in rows.filter(|(_, word)| **word != 0) {
            row.fill(0.0);
            *word = 0;
        }
    }

    /// Raises the scores of documents of the window.
    #[inline]
    pub(crate) fn pour(&mut self, docs: &[u32], scores: &[f32]) {
        let best = &mut self.scores.0;
        for (&doc, &score) in docs.iter().zip(scores) {
            // A damaged list may name documents out of order; they must not leave the window.
            let at = doc.wrapping_sub(self.base) as usize % WIDTH as usize;
            let best = &mut best[at / 64][at % 64];
            *best = if score > *best { score } else { *best };
        }
        bits::set(&mut *self.matched, self.base, docs);
    }

    /// Returns the score of a document of the window; `None` where nothing was poured for it.
    #[inline]
    pub(crate) fn score(&self, doc: u32) -> Option<f32> {
        let at = doc.wrapping_sub(self.base) as usize % WIDTH as usize;
        let is_matched = self.matched[at / 64] >> (at % 64) & 1 == 1;
        is_matched.then(|| self.scores.0[at / 64][at % 64])
    }

    /// Returns the number of words of 64 documents.
    pub(crate) fn words_count(&self) -> usize {
        WORDS
    }

    /// Calls `each` for the documents of a word that score `least` or more, in order.
    #[inline]
    pub(crate) fn each_of_word(&self, word: usize, least: f32, mut each: impl FnMut(u32, f32)) {
        let mut rest = self.matched[word];
        if rest == 0 {
            return;
        }
        let scores = &self.scores.0[word];
        if least > 0.0 {
            rest = sums::reach(scores, least);
        }
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            each(self.base + word as u32 * 64 + bit, scores[bit as usize]);
        }
    }
}
