//! Window of documents with sums of scores, into which lists are poured one after another.
//!
//! (Strohman, Turtle & Croft 2005 call it term-at-a-time in document windows.) Between windows everything
//! is zero, so a window costs what is poured into it, not its width.

use crate::block::candidate_block::CandidateBlock;
use crate::context::scratch::{Aligned, kept_by_thread};
use codec::{bits, sums};

/// Width of the widest window, in documents: its sums fit a second-level cache.
pub(crate) const WIDTH_MAX: u32 = if cfg!(test) { 256 } else { 16384 };
const WORDS: usize = WIDTH_MAX as usize / 64;

/// Sums and marks by document, all zero between windows. Marks tell which documents match if the sum does not, and
/// which rows are empty if most are.
#[derive(Debug)]
pub(crate) struct Window {
    sums: Box<Aligned<[[f32; 64]; WORDS]>>,
    matched: Box<Aligned<[u64; WORDS]>>,
}

kept_by_thread!(Window);

impl Default for Window {
    fn default() -> Window {
        Window {
            sums: Box::new(Aligned([[0.0; 64]; WORDS])),
            matched: Box::new(Aligned([0; WORDS])),
        }
    }
}

impl Window {
    /// Adds scores of documents from `base` on. The window must be emptied by [`Window::drain`] with a `least` above
    /// 0.
    #[inline]
    pub(crate) fn pour(&mut self, base: u32, docs: &[u32], scores: &[f32]) {
        let sums = &mut self.sums.0;
        for (&doc, &score) in docs.iter().zip(scores) {
            // A damaged list may name documents out of order; they must not leave the window.
            let at = doc.wrapping_sub(base) as usize % WIDTH_MAX as usize;
            sums[at / 64][at % 64] += score;
        }
    }

    /// Pours postings as `pour` does, and marks the documents, for [`Window::drain_marked`].
    #[inline]
    pub(crate) fn pour_marked(&mut self, base: u32, docs: &[u32], scores: &[f32]) {
        self.pour(base, docs, scores);
        bits::set(&mut self.matched.0, base, docs);
    }

    /// Moves documents that reach `least` to `candidates`, in order, from the row `from` on, and empties the rows.
    /// Ends when `candidates` has no room for another row, or at `width`; returns the row that it ended before.
    #[inline]
    pub(crate) fn drain(
        &mut self,
        from: usize,
        width: u32,
        base: u32,
        least: f32,
        candidates: &mut CandidateBlock,
    ) -> usize {
        let rows = &mut self.sums.0[from..width.div_ceil(64) as usize];
        let base = base + from as u32 * 64;
        let CandidateBlock {
            count, docs, sums, ..
        } = candidates;
        from + sums::drain(rows, base, least, count, docs, sums)
    }

    /// Empties the window, whatever it holds.
    #[cold]
    pub(crate) fn clear(&mut self) {
        self.sums.0.as_flattened_mut().fill(0.0);
        self.matched.0.fill(0);
    }

    /// Calls `each` for the documents that reach `least`, in order, and empties the first `width` places.
    #[inline]
    pub(crate) fn drain_marked(&mut self, width: u32, least: f32, mut each: impl FnMut(u32, f32)) {
        let words = width.div_ceil(64) as usize;
        for (number, word) in self.matched.0[..words].iter_mut().enumerate() {
            if *word == 0 {
                continue;
            }
            let sums = &mut self.sums.0[number];
            // A matching document may have a score of 0, so the sum does not tell.
            let mut rest = match least > 0.0 {
                true => sums::reach(sums, least),
                false => *word,
            };
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                each(number as u32 * 64 + bit, sums[bit as usize]);
            }
            sums.fill(0.0);
            *word = 0;
        }
    }
}
