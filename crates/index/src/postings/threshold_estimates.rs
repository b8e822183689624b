//! Floors: lower bounds on the score of the k-th best posting of a list, for any ranking. They are the initial
//! threshold of a search for k hits.
//!
//! ```text
//! floors := { frequency:u8 length:u8 }{3}{3}         for k = 10, 100, 1000; unused ones are 0
//! ```
//!
//! A pair (f, l) is a floor for k if at least k postings have a frequency of f or more in a document of length l or
//! less. Every ranking that rises with the frequency and falls with the length scores each of them at least as high as
//! (f, l). Three floors are kept for each k: the best under each of three representative rankings ([`KEEPERS`]).
//! Thresholds kept per term are the idea of Mallia, Siedlaczek & Suel, "A comparison of top-k threshold estimation
//! techniques" (2020); pairs instead of scores make them valid for any parameters.

use super::impacts::Impact;
use crate::length::dequantize;

/// Values of k for which floors are stored. A search uses those of the lowest value that is not below its own k.
pub(crate) const KEPT: [u32; 3] = [10, 100, 1000];
/// Floors for each value of k.
pub(crate) const PAIRS: usize = 3;
/// Bytes of the floors of a list.
pub(crate) const FLOORS_BYTES: usize = KEPT.len() * PAIRS * 2;
/// Highest frequency distinguished; higher ones count as this one.
const FREQUENCY_MAX: usize = 63;

/// Rankings by which floors are chosen: score of a frequency at a length, given the mean length.
const KEEPERS: [fn(f32, f32, f32) -> f32; PAIRS] = [
    // BM25 with its usual parameters, ...
    |frequency, length, mean| frequency / (frequency + 0.3 + 0.9 * length / mean),
    // ... where this list's documents are longer than most, ...
    |frequency, length, mean| frequency / (frequency + 0.3 + 1.8 * length / mean),
    // ... and tf·idf.
    |frequency, length, _| (frequency / length.max(1.0)).sqrt(),
];

/// Histogram of a list's postings by frequency and length, reused for each list.
pub(crate) struct FloorsCounter {
    counts: Box<[[u32; 256]; FREQUENCY_MAX + 1]>,
    highest: usize,
    lengths_sum: u64,
    postings_count: u64,
}

impl FloorsCounter {
    pub(crate) fn new() -> FloorsCounter {
        FloorsCounter {
            counts: Box::new([[0; 256]; FREQUENCY_MAX + 1]),
            highest: 0,
            lengths_sum: 0,
            postings_count: 0,
        }
    }

    /// Adds postings, each a frequency and a quantised length.
    pub(crate) fn add(&mut self, postings: impl Iterator<Item = (u32, u8)>) {
        for (frequency, length) in postings {
            let frequency = (frequency as usize).min(FREQUENCY_MAX);
            self.counts[frequency][length as usize] += 1;
            self.highest = self.highest.max(frequency);
            self.lengths_sum += u64::from(dequantize(length));
            self.postings_count += 1;
        }
    }

    /// Returns the encoded floors of the postings added, and clears the histogram.
    pub(crate) fn finish(&mut self) -> [u8; FLOORS_BYTES] {
        let mean = self.lengths_sum as f32 / self.postings_count.max(1) as f32;
        let mut best = [[(0.0f32, Impact::default()); PAIRS]; KEPT.len()];
        let mut at_least = [0u32; 256];
        for frequency in (1..=self.highest).rev() {
            for (sum, count) in at_least.iter_mut().zip(&self.counts[frequency]) {
                *sum += count;
            }
            let mut kept = KEPT.iter().zip(&mut best).peekable();
            let mut postings = 0;
            for (length, count) in at_least.iter().enumerate() {
                postings += count;
                while let Some((_, best)) = kept.next_if(|(k, _)| postings >= **k) {
                    let pair = Impact {
                        frequency: frequency as u32,
                        length: length as u8,
                    };
                    for (best, keeper) in best.iter_mut().zip(KEEPERS) {
                        let worth = keeper(frequency as f32, dequantize(length as u8) as f32, mean);
                        if worth > best.0 {
                            *best = (worth, pair);
                        }
                    }
                }
                if kept.peek().is_none() {
                    break;
                }
            }
        }
        for row in &mut self.counts[..=self.highest] {
            row.fill(0);
        }
        (self.highest, self.lengths_sum, self.postings_count) = (0, 0, 0);
        let mut bytes = [0; FLOORS_BYTES];
        let pairs = best.iter().flatten().map(|(_, pair)| pair);
        for (out, pair) in bytes.as_chunks_mut().0.iter_mut().zip(pairs) {
            *out = [pair.frequency as u8, pair.length];
        }
        bytes
    }
}

/// Returns the floors for a search for `k` hits: at least `k` postings reach each of them. Unused ones have frequency
/// 0.
pub(crate) fn decode(bytes: &[u8], k: usize) -> [Impact; PAIRS] {
    let mut pairs = [Impact::default(); PAIRS];
    let Some(at) = KEPT.iter().position(|&kept| kept as usize >= k) else {
        return pairs;
    };
    let bytes = bytes.get(at * PAIRS * 2..).unwrap_or(&[]);
    for (pair, &[frequency, length]) in pairs.iter_mut().zip(bytes.as_chunks().0) {
        *pair = Impact {
            frequency: frequency.into(),
            length,
        };
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn so_many_postings_reach_every_floor(
            postings in prop::collection::vec((1u32..90, 0u8..90), 0..3000),
            k in 1usize..1200,
        ) {
            let mut counter = FloorsCounter::new();
            counter.add([(7, 7), (300, 200)].into_iter());
            counter.finish();
            counter.add(postings.iter().copied());
            let floors = decode(&counter.finish(), k);
            let kept = KEPT.iter().find(|&&kept| kept as usize >= k);
            for floor in floors.iter().filter(|floor| floor.frequency > 0) {
                let reach = |posting: &&(u32, u8)| {
                    posting.0 >= floor.frequency && posting.1 <= floor.length
                };
                prop_assert!(postings.iter().filter(reach).count() >= k);
            }
            let any = floors.iter().any(|floor| floor.frequency > 0);
            prop_assert_eq!(any, kept.is_some_and(|&kept| postings.len() >= kept as usize));
        }
    }
}
