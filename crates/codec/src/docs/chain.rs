//! Chain of consecutive blocks of bits, joined into a window as one row of words.
//!
//! Joining a block with a set takes longer than its five or ten words suggest: their number is hard to predict, and
//! the first word was just written for the block before. In a chain, words are only written, eight at a time,
//! regardless of the bytes behind them, and the row is joined once.

use super::{BITS, Bits, HEADER_BYTES, first_of};

/// Number of words written at once.
const TOGETHER: usize = 8;
/// Number of words beyond which no block is appended to a row.
const FULL: usize = 192;
/// Upper limit on the words of a chained block: the block of a term in 1 of 16 documents.
const BLOCK_MAX: usize = 64;

/// A chain of blocks of bits, empty at first.
#[derive(Debug)]
pub struct Chain {
    /// The document of the first bit of the first word.
    first: u32,
    count: usize,
    /// The words of the chain; those past `count` are unspecified.
    words: [[u8; 8]; FULL + BLOCK_MAX],
}

impl Default for Chain {
    fn default() -> Chain {
        Chain {
            first: 0,
            count: 0,
            words: [[0; 8]; FULL + BLOCK_MAX],
        }
    }
}

impl Chain {
    /// Appends the block at the start of `bytes`, whose documents come after `base`. Returns `false` where it is no
    /// block of bits, does not follow the last block, or does not fit.
    #[inline]
    pub fn push(&mut self, bytes: &[u8], base: u32) -> bool {
        let Some((&[BITS, words_count], rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return false;
        };
        let (rest, words_count) = (rest.as_chunks::<8>().0, usize::from(words_count));
        let first = first_of(base);
        if self.count == 0 {
            self.first = first;
        }
        let at = (first.wrapping_sub(self.first) / 64) as usize;
        // The block begins in the last word of the block before, or in the next word.
        let shares = at + 1 == self.count;
        if !(shares || at == self.count) || at > FULL || !(1..=BLOCK_MAX).contains(&words_count) {
            return false;
        }
        let shared = match shares {
            true => u64::from_le_bytes(self.words[at]),
            false => 0,
        };
        let Some(to) = self.words.get_mut(at..) else {
            return false;
        };
        if !write(to, rest, words_count) {
            return false;
        }
        let own = u64::from_le_bytes(self.words[at]);
        self.words[at] = (own | shared).to_le_bytes();
        self.count = at + words_count;
        true
    }

    /// Sets the bits of all documents in `window`, whose first bit stands for document `base`, a multiple of 64, and
    /// empties the chain.
    pub fn join_into(&mut self, window: &mut [u64], base: u32) {
        let words = &self.words[..self.count];
        let first = self.first;
        Bits { first, words }.join_into(window, base);
        self.count = 0;
    }
}

/// Writes `count` words, and the bytes behind them where that is faster. Returns `false` where `from` has fewer words.
#[inline(always)]
fn write(to: &mut [[u8; 8]], from: &[[u8; 8]], count: usize) -> bool {
    // Fixed numbers of words, so that the compiler turns no loop into a call of `memcpy`.
    let (eights, sources) = (
        to.as_chunks_mut::<TOGETHER>().0,
        from.as_chunks::<TOGETHER>().0,
    );
    match (eights, sources) {
        ([to, ..], [from, ..]) if count <= TOGETHER => *to = *from,
        ([to, more, ..], [from, others, ..]) if count <= 2 * TOGETHER => {
            *to = *from;
            *more = *others;
        }
        _ => match (to.get_mut(..count), from.get(..count)) {
            (Some(to), Some(from)) => to.copy_from_slice(from),
            _ => return false,
        },
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::{BLOCK, encode};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_together_are_blocks_one_by_one(
            start in prop_oneof![Just(u32::MAX), 0u32..3000],
            gaps in prop::collection::vec(prop_oneof![6 => 1u32..3, 2 => 1u32..12, 1 => 1u32..200], 1..12),
            apart in prop::collection::vec(prop_oneof![4 => Just(0u32), 1 => 1u32..500], 12),
            window_base in (0u32..40).prop_map(|word| word * 64),
            window_words in 0usize..90,
            behind in 0usize..100,
        ) {
            let (mut bytes, mut starts, mut base) = (Vec::new(), Vec::new(), start);
            for (number, &most) in gaps.iter().enumerate() {
                // Documents between the blocks, which no block holds.
                base = base.wrapping_add(apart[number]);
                let gaps: [u32; BLOCK] = std::array::from_fn(|at| 1 + (at as u32 * 7919 + most) % most);
                starts.push((bytes.len(), base));
                encode(base, &gaps, &mut bytes);
                base = gaps.iter().fold(base, |doc, gap| doc.wrapping_add(*gap));
                // Stand-in for the frequencies behind a block.
                bytes.extend((0..behind).map(|byte| byte as u8 | 1));
            }
            let (mut expected, mut found) = (vec![0; window_words], vec![0; window_words]);
            let mut chain = Chain::default();
            for (start, base) in starts {
                let bytes = &bytes[start..];
                let bits = Bits::read(bytes, base).unwrap();
                if let Some(bits) = bits {
                    bits.join_into(&mut expected, window_base);
                    if chain.push(bytes, base) {
                        continue;
                    }
                    chain.join_into(&mut found, window_base);
                    prop_assert!(chain.push(bytes, base) || bits.words_count() > BLOCK_MAX);
                    if bits.words_count() > BLOCK_MAX {
                        bits.join_into(&mut found, window_base);
                    }
                } else {
                    prop_assert!(!chain.push(bytes, base));
                }
            }
            chain.join_into(&mut found, window_base);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn any_bytes_are_refused_or_kept(
            blocks in prop::collection::vec(
                (prop::collection::vec(any::<u8>(), 0..700), any::<u32>(), 0u8..3, any::<u8>()), 1..20),
        ) {
            let mut chain = Chain::default();
            let mut window = [0; 40];
            let mut base = u32::MAX;
            for (mut bytes, other, kind, count) in blocks {
                if let [first, second, ..] = &mut bytes[..] && kind > 0 {
                    (*first, *second) = (BITS, count);
                }
                // Mostly directly behind the last block.
                base = if kind == 2 { base.wrapping_add(u32::from(count) * 64) } else { other };
                if !chain.push(&bytes, base) {
                    chain.join_into(&mut window, other & !63);
                }
            }
        }
    }
}
