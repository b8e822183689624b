//! Competitive pairs: upper bounds on the scores of a block of postings, for any ranking.
//!
//! ```text
//! pairs := { frequency:u8 length:u8 }{4}         unused ones are 0
//! ```
//!
//! Both are bytes as in [`crate::length`]. A frequency without a byte of its own (some above 40) is rounded up to the
//! next one that has; 255 stands for any frequency.
//!
//! A posting of frequency f in a document of length l is *competitive* in its block if no other has both
//! a higher frequency and a shorter length. Every ranking that rises with the frequency and falls with
//! the length has its maximum over the block on a competitive pair (Lucene calls them impacts). At most
//! four are kept: neighbours are joined into (the higher frequency, the shorter length), which can only
//! raise the bound.

use super::BLOCK;
use crate::length;

/// Pairs kept for a block.
pub(crate) const PAIRS: usize = 4;
/// Bytes of the pairs of a block.
pub(crate) const PAIRS_BYTES: usize = PAIRS * 2;

/// Frequency of each byte.
static FREQUENCIES: [u32; 256] = frequencies();

const fn frequencies() -> [u32; 256] {
    let mut frequencies = [u32::MAX; 256];
    let mut byte = 0;
    while byte < 255 {
        frequencies[byte] = length::dequantize(byte as u8);
        byte += 1;
    }
    frequencies
}

/// Returns the byte of the lowest representable frequency that is at least `frequency`.
fn byte_not_below(frequency: u32) -> u8 {
    let byte = length::quantize(frequency);
    byte.saturating_add(u8::from(FREQUENCIES[usize::from(byte)] < frequency))
}

/// Competitive pair: frequency and quantised length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Impact {
    /// Frequency that no posting of the block exceeds at this length or longer.
    pub frequency: u32,
    /// Quantised length.
    pub length: u8,
}

/// Encodes the competitive pairs of a block, by increasing length and frequency.
pub(crate) fn encode(frequencies: &[u32], lengths: &[u8]) -> [u8; PAIRS_BYTES] {
    let mut highest = [0u32; 256];
    for (&frequency, &length) in frequencies.iter().zip(lengths) {
        let at = &mut highest[length as usize];
        *at = frequency.max(*at);
    }
    encode_highest(&highest)
}

/// Adds the pairs of a block to `highest`, the highest frequency of the list for each length.
pub(crate) fn add_to(highest: &mut [u32; 256], pairs: &[u8; PAIRS_BYTES]) {
    for pair in decode(pairs) {
        let at = &mut highest[pair.length as usize];
        *at = pair.frequency.max(*at);
    }
}

/// Encodes the competitive pairs of postings with the highest frequencies `highest`, by length.
pub(crate) fn encode_highest(highest: &[u32; 256]) -> [u8; PAIRS_BYTES] {
    let mut pairs = [Impact::default(); BLOCK];
    let mut count = 0;
    let mut best = 0;
    for (length, &frequency) in highest.iter().enumerate() {
        if frequency > best {
            best = FREQUENCIES[usize::from(byte_not_below(frequency))];
            pairs[count] = Impact {
                frequency: best,
                length: length as u8,
            };
            count += 1;
        }
    }
    // Most blocks have at most `PAIRS`.
    if count > PAIRS {
        let mut joining = Joining::of(&pairs[..count]);
        while count > PAIRS {
            let at = joining.cheapest(&pairs[..count]);
            pairs[at].frequency = pairs[at + 1].frequency;
            pairs.copy_within(at + 2..count, at + 1);
            count -= 1;
        }
    }
    let mut bytes = [0; PAIRS_BYTES];
    for (out, pair) in bytes.as_chunks_mut().0.iter_mut().zip(&pairs[..count]) {
        *out = [byte_not_below(pair.frequency), pair.length];
    }
    bytes
}

/// Rankings for which bounds should be tight: usual values of k1 and b of BM25.
const USUAL: [(f32, f32); 2] = [(1.2, 0.75), (0.9, 0.4)];

/// Choice of the neighbours to join, so that the maximum score under the usual rankings rises least.
struct Joining {
    /// Mean length of documents, on which scores depend.
    average: f32,
    /// Highest score so far, by ranking.
    most: [f32; USUAL.len()],
}

impl Joining {
    /// Creates the choice for some pairs. The middle of their lengths stands for the mean length of documents.
    fn of(pairs: &[Impact]) -> Joining {
        let bytes: usize = pairs.iter().map(|pair| usize::from(pair.length)).sum();
        let middle = bytes.checked_div(pairs.len()).unwrap_or(0);
        let mut joining = Joining {
            average: length::dequantize(middle as u8).max(1) as f32,
            most: [0.0; USUAL.len()],
        };
        for pair in pairs {
            let scores = joining.scores(pair.frequency, pair.length);
            joining.raise(scores);
        }
        joining
    }

    /// Returns the score under each ranking, without the weight of the term.
    fn scores(&self, frequency: u32, length: u8) -> [f32; USUAL.len()] {
        let frequency = frequency as f32;
        let length = length::dequantize(length) as f32 / self.average;
        USUAL.map(|(k1, b)| frequency / (frequency + k1 * (1.0 - b + b * length)))
    }

    fn raise(&mut self, scores: [f32; USUAL.len()]) {
        for (most, score) in self.most.iter_mut().zip(scores) {
            *most = most.max(score);
        }
    }

    /// Returns the index of the pair to join with the next one.
    fn cheapest(&mut self, pairs: &[Impact]) -> usize {
        let (mut at, mut least) = (0, f32::INFINITY);
        for (number, both) in pairs.windows(2).enumerate() {
            let joined = self.scores(both[1].frequency, both[0].length);
            let rise = |(most, score): (&f32, &f32)| (score - most).max(0.0) + score / 1024.0;
            let rise = self.most.iter().zip(&joined).map(rise).sum();
            if rise < least {
                (at, least) = (number, rise);
            }
        }
        self.raise(self.scores(pairs[at + 1].frequency, pairs[at].length));
        at
    }
}

/// Decodes the pairs; unused ones have frequency 0.
pub(crate) fn decode(bytes: &[u8]) -> [Impact; PAIRS] {
    let mut pairs = [Impact::default(); PAIRS];
    for (pair, &[frequency, length]) in pairs.iter_mut().zip(bytes.as_chunks().0) {
        *pair = Impact {
            frequency: FREQUENCIES[usize::from(frequency)],
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
        fn every_posting_is_dominated(
            postings in prop::collection::vec((prop_oneof![1u32..9, 1u32..100_000], any::<u8>()), 1..=BLOCK)
        ) {
            let (frequencies, lengths): (Vec<u32>, Vec<u8>) = postings.iter().copied().unzip();
            let pairs = decode(&encode(&frequencies, &lengths));
            for (frequency, length) in postings {
                let dominated =
                    pairs.iter().any(|pair| pair.frequency >= frequency && pair.length <= length);
                prop_assert!(dominated, "{frequency} {length} by {pairs:?}");
            }
        }

        #[test]
        fn few_pairs_are_exact(
            postings in prop::collection::vec((prop_oneof![1u32..=40, 1u32..60_000], any::<u8>()), 1..=PAIRS)
        ) {
            let (frequencies, lengths): (Vec<u32>, Vec<u8>) = postings.iter().copied().unzip();
            let pairs = decode(&encode(&frequencies, &lengths));
            for pair in pairs.iter().filter(|pair| pair.frequency > 0) {
                let is_it = |posting: &(u32, u8)| {
                    let over = pair.frequency.checked_sub(posting.0);
                    posting.1 == pair.length && over.is_some_and(|over| over <= posting.0 / 8)
                };
                prop_assert!(postings.iter().any(is_it), "{pair:?} of {postings:?}");
            }
        }

        #[test]
        fn pairs_of_pairs_are_the_same(postings in prop::collection::vec((1u32.., any::<u8>()), 1..=PAIRS)) {
            let (frequencies, lengths): (Vec<u32>, Vec<u8>) = postings.iter().copied().unzip();
            let bytes = encode(&frequencies, &lengths);
            let mut highest = [0; 256];
            add_to(&mut highest, &bytes);
            prop_assert_eq!(encode_highest(&highest), bytes);
        }
    }
}
