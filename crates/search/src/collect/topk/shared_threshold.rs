//! Threshold shared by several searches of one query.

use crate::collect::topk::score_histogram::{STEPS, reached, step};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Highest threshold known to several searches of one query: k of the documents that they offered
/// together reach it.
#[derive(Debug, Default)]
pub struct SharedThreshold {
    /// Bits of a score that is not negative.
    bits: AtomicU32,
    /// Number of searches that share it, finished ones included.
    searches_count: AtomicUsize,
    /// Shared counts, made by the first of several searches that counts.
    counts: OnceLock<SharedCounts>,
}

impl SharedThreshold {
    /// Returns the threshold.
    pub fn get(&self) -> f32 {
        f32::from_bits(self.bits.load(Ordering::Relaxed))
    }

    /// Raises the threshold to `score`, which k hits reach and which is not negative.
    pub fn raise(&self, score: f32) {
        // Non-negative floating-point numbers are in the order of their bits.
        self.bits
            .fetch_max(score.max(0.0).to_bits(), Ordering::Relaxed);
    }

    /// Adds a search that shares the threshold.
    pub(crate) fn join(&self) {
        self.searches_count.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns whether several searches share the threshold. A single search counts for itself, because
    /// shared counts need atomic instructions.
    pub(crate) fn has_several(&self) -> bool {
        self.searches_count.load(Ordering::Relaxed) > 1
    }

    /// Counts further documents of one search; returns the score that `k` of all are known to reach.
    pub(crate) fn count(&self, scores: impl ExactSizeIterator<Item = f32>, k: usize) -> f32 {
        self.counts
            .get_or_init(SharedCounts::default)
            .add(scores, k)
    }
}

/// Documents by step, of several searches of one query; each document is counted by one of them.
#[derive(Debug)]
struct SharedCounts {
    steps: Box<[AtomicU32; STEPS]>,
    total: AtomicUsize,
}

impl Default for SharedCounts {
    fn default() -> SharedCounts {
        SharedCounts {
            steps: Box::new([const { AtomicU32::new(0) }; STEPS]),
            total: AtomicUsize::new(0),
        }
    }
}

impl SharedCounts {
    /// Counts further documents; returns the score that `k` of all are known to reach. Another search
    /// may count meanwhile; counts missed so only lower the result.
    fn add(&self, scores: impl ExactSizeIterator<Item = f32>, k: usize) -> f32 {
        let total = self.total.fetch_add(scores.len(), Ordering::Relaxed) + scores.len();
        for score in scores {
            self.steps[step(score)].fetch_add(1, Ordering::Relaxed);
        }
        match total < k {
            true => 0.0,
            false => reached(k, &*self.steps, |count| count.load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::topk::score_histogram::Counts;
    use proptest::prelude::*;
    use testkit::floats;

    proptest! {
        #[test]
        fn k_reach_it_and_it_is_close(
            scores in prop::collection::vec(
                prop_oneof![floats(0.0, 0.01), floats(1.0, 30.0), Just(0.0), floats(0.0, 2000.0)], 1..400),
            k in 1usize..200,
            parts in 1usize..5,
        ) {
            let (mut own, shared) = (Counts::default(), SharedCounts::default());
            own.add([7.0, 900.0].into_iter(), 1);
            own.clear();
            let (mut last, mut last_shared) = (0.0, 0.0);
            for part in scores.chunks(scores.len().div_ceil(parts)) {
                last = own.add(part.iter().copied(), k);
                last_shared = shared.add(part.iter().copied(), k);
            }
            prop_assert_eq!(last, last_shared);
            let reaching = scores.iter().filter(|score| **score >= last).count();
            prop_assert!(last == 0.0 || reaching >= k);
            let mut sorted = scores.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            if let Some(&worst) = sorted.get(k - 1) {
                prop_assert!(last <= worst);
                let counted_exactly = (0.01..256.0).contains(&worst);
                prop_assert!(!counted_exactly || worst < last * (1.0 + 1.0 / 127.0));
            }
        }
    }
}
