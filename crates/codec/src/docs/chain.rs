//! Blocks of bits that follow each other, put together as one long row of words.
//!
//! To join a block with a set takes longer than its five or ten words: their number is hard to guess, and the first of
//! them was just written for the block before. Put together, words are only written, eight at a time, whatever comes
//! behind them; the row is joined at once.

use super::{BITS, Bits, HEADER_BYTES, first_of};

/// Words that are written at once.
const TOGETHER: usize = 8;
/// Words of a row that no block is appended to any more.
const FULL: usize = 192;
/// Words of the longest block that is put together with others: those of 1 in 16 documents.
const BLOCK_MAX: usize = 64;

/// Blocks of bits put together, none at first.
#[derive(Debug)]
pub struct Chain {
    /// The first document of the first word.
    first: u32,
    count: usize,
    /// Behind the counted ones may be anything.
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
    /// Appends the block at the start of `bytes`, whose documents come after `base`; `false` where it is none of
    /// bits, does not follow the last one, or finds no room.
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
        // It begins with the word that the one before ends in, or with the next one.
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

    /// Adds all documents to `window`, whose first bit stands for `base`, a multiple of 64, and begins anew.
    pub fn join_into(&mut self, window: &mut [u64], base: u32) {
        let words = &self.words[..self.count];
        let first = self.first;
        Bits { first, words }.join_into(window, base);
        self.count = 0;
    }
}

/// Writes so many words, and what comes behind them where that is faster; `false` where there are not as many.
#[inline(always)]
fn write(to: &mut [[u8; 8]], from: &[[u8; 8]], count: usize) -> bool {
    // Fixed numbers of words, so that no loop is taken for a call of `memcpy`.
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
                // Between blocks there may be documents that are not asked for.
                base = base.wrapping_add(apart[number]);
                let gaps: [u32; BLOCK] = std::array::from_fn(|at| 1 + (at as u32 * 7919 + most) % most);
                starts.push((bytes.len(), base));
                encode(base, &gaps, &mut bytes);
                base = gaps.iter().fold(base, |doc, gap| doc.wrapping_add(*gap));
                // Frequencies.
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
                // Often just behind the last.
                base = if kind == 2 { base.wrapping_add(u32::from(count) * 64) } else { other };
                if !chain.push(&bytes, base) {
                    chain.join_into(&mut window, other & !63);
                }
            }
        }
    }
}
