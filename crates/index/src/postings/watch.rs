//! What did the searches of a thread do to the blocks of their lists?
//!
//! A list that is opened while [`watch_blocks`] runs remembers of each of its blocks what was done to it,
//! and adds that to the account when it is dropped. Any other list carries an empty watch: one test a
//! block, beside decoding it.

use super::BLOCK;
use std::cell::Cell;

/// What was done to the blocks of some lists. A list that is opened twice counts twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlocksWork {
    /// Lists opened.
    pub lists_count: u64,
    /// Blocks of them, tails included.
    pub blocks_count: u64,
    /// Blocks whose documents were decoded.
    pub decoded_count: u64,
    /// Blocks of bits that were read as such, and not decoded.
    pub as_bits_count: u64,
    /// Blocks left alone: nothing of them was read but their headers.
    pub left_count: u64,
    /// Blocks whose frequencies were decoded, all of a block at once.
    pub frequencies_count: u64,
}

thread_local! {
    static ACCOUNT: Cell<Option<BlocksWork>> = const { Cell::new(None) };
}

/// Runs something; what it did to the blocks of the lists that it opened and dropped on this thread.
pub fn watch_blocks<R>(run: impl FnOnce() -> R) -> (R, BlocksWork) {
    let account = Open(ACCOUNT.replace(Some(BlocksWork::default())));
    let result = run();
    let work = ACCOUNT.get().unwrap_or_default();
    drop(account);
    (result, work)
}

/// Puts the account of whoever watched before back, also where a panic passes.
struct Open(Option<BlocksWork>);

impl Drop for Open {
    fn drop(&mut self) {
        ACCOUNT.set(self.0);
    }
}

const DOCUMENTS: u8 = 1;
const BITS: u8 = 2;
const FREQUENCIES: u8 = 4;

/// What was done to each block of one list, where somebody wants to know.
#[derive(Debug)]
pub(super) struct Watch(Option<Box<Seen>>);

/// By block, flags of what was done.
#[derive(Debug)]
struct Seen(Vec<u8>);

impl Watch {
    /// The watch of a list of so many documents.
    pub(super) fn new(documents_count: u32) -> Watch {
        let blocks_count = (documents_count as usize).div_ceil(BLOCK);
        let wanted = ACCOUNT.get().is_some();
        Watch(wanted.then(|| Box::new(Seen(vec![0; blocks_count]))))
    }

    /// A block was loaded: found to be one of bits, or its documents decoded, frequencies maybe with them.
    #[inline]
    pub(super) fn loaded(&mut self, block: usize, is_bits: bool, with_frequencies: bool) {
        let documents = if is_bits { BITS } else { DOCUMENTS };
        let frequencies = if with_frequencies { FREQUENCIES } else { 0 };
        self.saw(block, documents | frequencies);
    }

    /// A block of bits was read as such.
    #[inline]
    pub(super) fn bits(&mut self, block: usize) {
        self.saw(block, BITS);
    }

    /// The documents of a block of bits were decoded after all.
    #[inline]
    pub(super) fn spread(&mut self, block: usize) {
        self.saw(block, DOCUMENTS);
    }

    /// The frequencies of a block were decoded.
    #[inline]
    pub(super) fn frequencies(&mut self, block: usize) {
        self.saw(block, FREQUENCIES);
    }

    #[inline]
    fn saw(&mut self, block: usize, what: u8) {
        if let Some(seen) = &mut self.0 {
            seen.note(block, what);
        }
    }
}

impl Seen {
    // Out of the way: most lists are not watched.
    #[cold]
    #[inline(never)]
    fn note(&mut self, block: usize, what: u8) {
        if let Some(flags) = self.0.get_mut(block) {
            *flags |= what;
        }
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        let Some(mut account) = ACCOUNT.get() else {
            return;
        };
        account.lists_count += 1;
        account.blocks_count += self.0.len() as u64;
        for flags in &self.0 {
            account.decoded_count += u64::from(flags & DOCUMENTS != 0);
            account.as_bits_count += u64::from(flags & (DOCUMENTS | BITS) == BITS);
            account.left_count += u64::from(*flags == 0);
            account.frequencies_count += u64::from(flags & FREQUENCIES != 0);
        }
        ACCOUNT.set(Some(account));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_counts_once_and_only_while_watched() {
        drop(Watch::new(700));
        let (_, inner) = watch_blocks(|| {
            let mut list = Watch::new(3 * BLOCK as u32 + 1);
            list.loaded(0, false, false);
            list.loaded(0, false, false);
            list.frequencies(0);
            list.loaded(1, true, false);
            list.bits(2);
            list.spread(2);
            // A tail without documents is no block.
            list.loaded(4, false, true);
            drop(Watch::new(BLOCK as u32));
        });
        let expected = BlocksWork {
            lists_count: 2,
            blocks_count: 5,
            decoded_count: 2,
            as_bits_count: 1,
            left_count: 2,
            frequencies_count: 1,
        };
        assert_eq!(inner, expected);
        assert_eq!(watch_blocks(|| ()).1, BlocksWork::default());
    }
}
