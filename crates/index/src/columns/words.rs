//! Dictionary of the keywords of a column, by rank.
//!
//! ```text
//! words  := starts block{words / 16, rounded up}
//! starts := u32le{blocks}                        in the blocks
//! block  := { shared:vint own:vint byte{own} }{16}        the last one may have fewer
//! ```
//!
//! Words increase. A word is the first `shared` bytes of the word before it in its block, and its own bytes.

use crate::sealed::read_u32;
use codec::vint;

/// Words of a block.
const BLOCK_WORDS: u64 = 16;

/// Dictionary of keywords.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'a> {
    starts: &'a [u8],
    blocks: &'a [u8],
    count: u64,
}

impl<'a> Words<'a> {
    /// Opens a dictionary of `count` words; `None` where it is shorter than its starts.
    pub(super) fn open(bytes: &'a [u8], count: u64) -> Option<Words<'a>> {
        let starts = usize::try_from(count.div_ceil(BLOCK_WORDS))
            .ok()?
            .checked_mul(4)?;
        let (starts, blocks) = bytes.split_at_checked(starts)?;
        Some(Words {
            starts,
            blocks,
            count,
        })
    }

    /// Writes the word at `rank`, from 0, to `word`; `None` where there is none, or where it is damaged.
    pub(super) fn get<'w>(&self, rank: u64, word: &'w mut Vec<u8>) -> Option<&'w str> {
        if rank >= self.count {
            return None;
        }
        let mut at = self.start(rank / BLOCK_WORDS);
        word.clear();
        for _ in 0..=rank % BLOCK_WORDS {
            self.advance(&mut at, word)?;
        }
        std::str::from_utf8(word).ok()
    }

    fn start(&self, block: u64) -> usize {
        read_u32(self.starts, block as usize * 4) as usize
    }

    /// Replaces a word by the one after it, which begins `at` a place in the blocks.
    fn advance(&self, at: &mut usize, word: &mut Vec<u8>) -> Option<()> {
        let shared = vint::read_u32(self.blocks, at).ok()? as usize;
        let own = vint::read_u32(self.blocks, at).ok()? as usize;
        if shared > word.len() {
            return None;
        }
        let end = at.checked_add(own)?;
        word.truncate(shared);
        word.extend_from_slice(self.blocks.get(*at..end)?);
        *at = end;
        Some(())
    }

    /// Returns the first word of a block, which is there as it is.
    fn first_of(&self, block: u64) -> Option<&'a str> {
        let mut at = self.start(block);
        if vint::read_u32(self.blocks, &mut at).ok()? != 0 {
            return None;
        }
        let own = vint::read_u32(self.blocks, &mut at).ok()? as usize;
        std::str::from_utf8(self.blocks.get(at..at.checked_add(own)?)?).ok()
    }

    /// Returns the number of words for which `is_before` holds; it holds for the first ones only. `None` on damage.
    pub(super) fn partition_point(&self, mut is_before: impl FnMut(&str) -> bool) -> Option<u64> {
        let (mut low, mut high) = (0, self.count.div_ceil(BLOCK_WORDS));
        while low < high {
            let middle = low + (high - low) / 2;
            match is_before(self.first_of(middle)?) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let Some(block) = low.checked_sub(1) else {
            return Some(0);
        };
        // The first word of this block is before, that of the next one is not.
        let mut rank = block * BLOCK_WORDS;
        let end = self.count.min(rank + BLOCK_WORDS);
        let (mut at, mut word) = (self.start(block), Vec::new());
        while rank < end {
            self.advance(&mut at, &mut word)?;
            if !is_before(std::str::from_utf8(&word).ok()?) {
                break;
            }
            rank += 1;
        }
        Some(rank)
    }
}

/// Writes a dictionary of `words`, which increase.
pub(super) fn write<'w>(words: impl ExactSizeIterator<Item = &'w str>, out: &mut Vec<u8>) {
    let (mut starts, mut blocks) = (Vec::new(), Vec::new());
    let mut before: &str = "";
    for (rank, word) in words.enumerate() {
        if (rank as u64).is_multiple_of(BLOCK_WORDS) {
            starts.extend_from_slice(&(blocks.len() as u32).to_le_bytes());
            before = "";
        }
        let same = before.bytes().zip(word.bytes()).take_while(|(a, b)| a == b);
        let shared = same.count();
        vint::write_u32(&mut blocks, shared as u32);
        vint::write_u32(&mut blocks, (word.len() - shared) as u32);
        blocks.extend_from_slice(&word.as_bytes()[shared..]);
        before = word;
    }
    out.extend_from_slice(&starts);
    out.extend_from_slice(&blocks);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_come_back(words in prop::collection::btree_set(".{0,12}", 0..80), asked in ".{0,12}") {
            let mut bytes = Vec::new();
            write(words.iter().map(String::as_str), &mut bytes);
            let dictionary = Words::open(&bytes, words.len() as u64).unwrap();
            let mut buffer = Vec::new();
            for (rank, word) in words.iter().enumerate() {
                prop_assert_eq!(dictionary.get(rank as u64, &mut buffer), Some(word.as_str()));
            }
            prop_assert_eq!(dictionary.get(words.len() as u64, &mut buffer), None);
            let before = words.iter().filter(|word| **word < asked).count() as u64;
            prop_assert_eq!(dictionary.partition_point(|word| word < asked.as_str()), Some(before));
        }

        #[test]
        fn any_bytes_give_a_word_or_none(bytes in prop::collection::vec(any::<u8>(), 0..100), count in 0u64..100) {
            if let Some(words) = Words::open(&bytes, count) {
                let mut buffer = Vec::new();
                for rank in 0..count {
                    let _ = words.get(rank, &mut buffer);
                }
                let _ = words.partition_point(|word| word < "m");
            }
        }
    }
}
