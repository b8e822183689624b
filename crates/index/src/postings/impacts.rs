//! Competitive pairs: what bounds the scores of a block of postings, whatever the ranking.
//!
//! ```text
//! pairs := { frequency:u16le length:u8 }{4}      unused ones are 0; 65535 stands for any frequency
//! ```
//!
//! A posting of frequency f in a document of length l is *competitive* in its block if no other has both
//! a higher frequency and a shorter length. Every ranking that rises with the frequency and falls with
//! the length has its maximum over the block on a competitive pair (Lucene calls them impacts). At most
//! four are kept: neighbours are joined into (the higher frequency, the shorter length), which can only
//! raise the bound.

use super::BLOCK;

/// Pairs kept for a block.
pub(crate) const PAIRS: usize = 4;
/// Bytes of the pairs of a block.
pub(crate) const PAIRS_BYTES: usize = PAIRS * 3;

/// The most that a block of postings can offer: frequency and quantised length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Impact {
    /// No posting of the block has a higher frequency at this length or longer.
    pub frequency: u32,
    /// Quantised length.
    pub length: u8,
}

/// The competitive pairs of a block, by increasing length and frequency, as bytes.
pub(crate) fn encode(frequencies: &[u32], lengths: &[u8]) -> [u8; PAIRS_BYTES] {
    let mut highest = [0u32; 256];
    for (&frequency, &length) in frequencies.iter().zip(lengths) {
        let at = &mut highest[length as usize];
        *at = frequency.max(*at);
    }
    encode_highest(&highest)
}

/// Adds the pairs of a block to the highest frequencies of a whole list, by length.
pub(crate) fn add_to(highest: &mut [u32; 256], pairs: &[u8; PAIRS_BYTES]) {
    for pair in decode(pairs) {
        let at = &mut highest[pair.length as usize];
        *at = pair.frequency.max(*at);
    }
}

/// The competitive pairs of what has these highest frequencies by length.
pub(crate) fn encode_highest(highest: &[u32; 256]) -> [u8; PAIRS_BYTES] {
    let mut pairs = [Impact::default(); BLOCK];
    let mut count = 0;
    let mut best = 0;
    for (length, &frequency) in highest.iter().enumerate() {
        if frequency > best {
            best = frequency;
            pairs[count] = Impact {
                frequency,
                length: length as u8,
            };
            count += 1;
        }
    }
    while count > PAIRS {
        join_nearest(&mut pairs[..count]);
        count -= 1;
    }
    let mut bytes = [0; PAIRS_BYTES];
    for (out, pair) in bytes.chunks_exact_mut(3).zip(&pairs[..count]) {
        let frequency = u16::try_from(pair.frequency).unwrap_or(u16::MAX);
        out[..2].copy_from_slice(&frequency.to_le_bytes());
        out[2] = pair.length;
    }
    bytes
}

/// Joins the two neighbours whose join adds least, and closes the gap.
fn join_nearest(pairs: &mut [Impact]) {
    let cost = |at: &usize| {
        let (near, far) = (pairs[*at], pairs[*at + 1]);
        // What a bound gains in proportion: frequencies count by their ratio, as lengths' bytes do.
        let rise = u64::from(far.frequency - near.frequency) * 64 / u64::from(near.frequency);
        rise.saturating_mul(u64::from(far.length - near.length))
    };
    let Some(at) = (0..pairs.len() - 1).min_by_key(cost) else {
        return;
    };
    pairs[at].frequency = pairs[at + 1].frequency;
    pairs.copy_within(at + 2.., at + 1);
}

/// Reads what `encode` wrote; pairs that are not there have frequency 0.
pub(crate) fn decode(bytes: &[u8]) -> [Impact; PAIRS] {
    let mut pairs = [Impact::default(); PAIRS];
    for (pair, bytes) in pairs.iter_mut().zip(bytes.chunks_exact(3)) {
        let frequency = u16::from_le_bytes([bytes[0], bytes[1]]);
        // Above what fits, nothing is known but that it is much.
        let frequency = if frequency == u16::MAX {
            u32::MAX
        } else {
            frequency.into()
        };
        *pair = Impact {
            frequency,
            length: bytes[2],
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
        fn few_pairs_are_exact(postings in prop::collection::vec((1u32..60_000, any::<u8>()), 1..=PAIRS)) {
            let (frequencies, lengths): (Vec<u32>, Vec<u8>) = postings.iter().copied().unzip();
            let pairs = decode(&encode(&frequencies, &lengths));
            for pair in pairs.iter().filter(|pair| pair.frequency > 0) {
                prop_assert!(postings.contains(&(pair.frequency, pair.length)));
            }
        }
    }
}
