//! Score histogram: the score that k documents reach, known while hits are still gathered.
//!
//! ```text
//! step begins at   8.00  8.06  8.12  8.19      of k = 5 documents 5 reach 8.06: no hit scores less
//! documents           9     3     2     0
//! ```
//!
//! Steps are narrow in the usual range: 128 for each doubling, from 2^-8 to 2^8. Lower scores count as
//! 0, higher ones as 2^8, so a step never begins above the scores counted in it.

use crate::context::scratch::kept_by_thread;

pub(crate) const STEPS: usize = 16 * 128;
/// Shift that leaves the sign, the exponent and seven fraction bits of a score.
const SHIFT: u32 = 23 - 7;
const FIRST: u32 = (127 - 8) << 7;

/// Returns the step of a score.
#[inline]
pub(crate) fn step(score: f32) -> usize {
    if score <= 0.0 {
        return 0;
    }
    let step = (score.to_bits() >> SHIFT).saturating_sub(FIRST);
    (step as usize).min(STEPS - 1)
}

/// Returns the score at which a step begins.
fn begin(step: usize) -> f32 {
    match step {
        0 => 0.0,
        _ => f32::from_bits((step as u32 + FIRST) << SHIFT),
    }
}

/// Number of steps whose documents are added up at once.
const TOGETHER: usize = 16;

/// Returns the begin of the highest step that `k` or more documents reach, given the documents in each
/// step; 0 if fewer do.
pub(crate) fn reached<N>(k: usize, steps: &[N], count: impl Fn(&N) -> u32) -> f32 {
    let mut above = 0;
    let mut end = steps.len();
    for some in steps.rchunks(TOGETHER) {
        let start = end - some.len();
        let together: u32 = some.iter().map(&count).sum();
        if above + (together as usize) < k {
            above += together as usize;
            end = start;
            continue;
        }
        for (step, here) in (start..end).zip(some).rev() {
            above += count(here) as usize;
            if above >= k {
                return begin(step);
            }
        }
    }
    0.0
}

/// Documents by step, of one search.
#[derive(Debug)]
pub(crate) struct Counts {
    steps: Box<[u32; STEPS]>,
    total: usize,
    /// Upper bound on the occupied steps.
    highest: usize,
}

kept_by_thread!(Counts);

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            steps: Box::new([0; STEPS]),
            total: 0,
            highest: 0,
        }
    }
}

impl Counts {
    /// Resets the histogram.
    pub(crate) fn clear(&mut self) {
        self.steps[..=self.highest].fill(0);
        (self.total, self.highest) = (0, 0);
    }

    /// Counts further documents; returns the score that `k` documents are known to reach.
    pub(crate) fn add(&mut self, scores: impl ExactSizeIterator<Item = f32>, k: usize) -> f32 {
        self.total += scores.len();
        for score in scores {
            let step = step(score);
            self.steps[step] += 1;
            self.highest = self.highest.max(step);
        }
        match self.total < k {
            true => 0.0,
            false => reached(k, &self.steps[..=self.highest], |&count| count),
        }
    }
}
