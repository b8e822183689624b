//! Decoding statistics: what the searches of a thread did to the blocks of their lists.
//!
//! A list that is opened while [`watch_blocks`] or [`watch_lists`] runs remembers of each of its blocks what
//! was done to it, and tells that when it is dropped. Any other list carries an empty watch: one test a
//! block, beside decoding it.

use super::BLOCK;
use super::list::ListBytes;
use std::cell::{Cell, RefCell};

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

/// What was done to each block of one list, from its opening until it was dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListWork {
    /// Where its bytes are.
    pub(super) at: usize,
    /// By block, flags of what was done.
    pub(super) done: Vec<u8>,
}

thread_local! {
    static ACCOUNT: Cell<Option<BlocksWork>> = const { Cell::new(None) };
    static LISTS: RefCell<Option<Vec<ListWork>>> = const { RefCell::new(None) };
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

/// Runs something; what it did to each list that it opened and dropped on this thread, in the order of dropping.
pub fn watch_lists<R>(run: impl FnOnce() -> R) -> (R, Vec<ListWork>) {
    let before = OpenLists(LISTS.replace(Some(Vec::new())));
    let result = run();
    let lists = LISTS.take().unwrap_or_default();
    drop(before);
    (result, lists)
}

/// As [`Open`].
struct OpenLists(Option<Vec<ListWork>>);

impl Drop for OpenLists {
    fn drop(&mut self) {
        LISTS.replace(self.0.take());
    }
}

pub(super) const DOCUMENTS: u8 = 1;
const BITS: u8 = 2;
pub(super) const FREQUENCIES: u8 = 4;

/// What was done to each block of one list, where somebody wants to know.
#[derive(Debug)]
pub(super) struct Watch(Option<Box<Seen>>);

#[derive(Debug)]
struct Seen(ListWork);

impl Watch {
    /// The watch of a list.
    pub(super) fn new(list: &ListBytes<'_>) -> Watch {
        let wanted = ACCOUNT.get().is_some() || LISTS.with_borrow(Option::is_some);
        Watch(wanted.then(|| Box::new(Seen::new(list))))
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
    fn new(list: &ListBytes<'_>) -> Seen {
        let blocks_count = (list.documents_count as usize).div_ceil(BLOCK);
        Seen(ListWork {
            at: list.postings.as_ptr() as usize,
            done: vec![0; blocks_count],
        })
    }

    // Out of the way: most lists are not watched.
    #[cold]
    #[inline(never)]
    fn note(&mut self, block: usize, what: u8) {
        if let Some(flags) = self.0.done.get_mut(block) {
            *flags |= what;
        }
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        LISTS.with_borrow_mut(|lists| {
            if let Some(lists) = lists {
                lists.push(self.0.clone());
            }
        });
        let Some(mut account) = ACCOUNT.get() else {
            return;
        };
        account.lists_count += 1;
        account.blocks_count += self.0.done.len() as u64;
        for flags in &self.0.done {
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

    fn watch(documents_count: u32) -> Watch {
        Watch::new(&ListBytes {
            codec: crate::PostingsCodec::Packed,
            documents_count,
            occurrences_count: 0,
            docs_limit: documents_count,
            postings: &[],
            positions: Default::default(),
        })
    }

    #[test]
    fn each_block_counts_once_and_only_while_watched() {
        drop(watch(700));
        let (_, inner) = watch_blocks(|| {
            let mut list = watch(3 * BLOCK as u32 + 1);
            list.loaded(0, false, false);
            list.loaded(0, false, false);
            list.frequencies(0);
            list.loaded(1, true, false);
            list.bits(2);
            list.spread(2);
            // A tail without documents is no block.
            list.loaded(4, false, true);
            drop(watch(BLOCK as u32));
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

    #[test]
    fn lists_are_told_one_by_one_and_blocks_beside_them() {
        let ((_, work), lists) = watch_lists(|| {
            watch_blocks(|| {
                let mut list = watch(2 * BLOCK as u32);
                list.loaded(1, false, true);
            })
        });
        assert_eq!(lists.len(), 1);
        assert_eq!(lists[0].done, [0, DOCUMENTS | FREQUENCIES]);
        assert_eq!((work.decoded_count, work.left_count), (1, 1));
        drop(watch(5));
        assert_eq!(watch_lists(|| ()).1, []);
    }
}
