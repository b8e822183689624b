//! Decoding statistics: the work of a thread's searches on the blocks of their lists.
//!
//! A list that is opened inside [`watch_blocks`] or [`watch_lists`] records the work on each of its blocks, and reports
//! it when it is dropped. Any other list carries an empty recorder, which costs one test per block.

use super::BLOCK;
use super::list::ListBytes;
use std::cell::{Cell, RefCell};

/// Work on the blocks of some lists. A list that is opened twice counts twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlocksWork {
    /// Lists opened.
    pub lists_count: u64,
    /// Blocks of the lists, tails included.
    pub blocks_count: u64,
    /// Blocks whose documents were decoded.
    pub decoded_count: u64,
    /// Blocks of bits that were read as such, without decoding.
    pub as_bits_count: u64,
    /// Blocks of which only headers were read.
    pub left_count: u64,
    /// Blocks whose frequencies were decoded as a whole.
    pub frequencies_count: u64,
}

/// Work on each block of one list, from its opening to its drop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListWork {
    /// Address of its bytes.
    pub(super) at: usize,
    /// Flags of the work on each block.
    pub(super) done: Vec<u8>,
}

thread_local! {
    static ACCOUNT: Cell<Option<BlocksWork>> = const { Cell::new(None) };
    static LISTS: RefCell<Option<Vec<ListWork>>> = const { RefCell::new(None) };
}

/// Calls `run`; returns its result, and the work on the blocks of all lists that it opened and dropped on this thread.
pub fn watch_blocks<R>(run: impl FnOnce() -> R) -> (R, BlocksWork) {
    let account = Open(ACCOUNT.replace(Some(BlocksWork::default())));
    let result = run();
    let work = ACCOUNT.get().unwrap_or_default();
    drop(account);
    (result, work)
}

/// Guard that restores the account of an outer watcher, also after a panic.
struct Open(Option<BlocksWork>);

impl Drop for Open {
    fn drop(&mut self) {
        ACCOUNT.set(self.0);
    }
}

/// Calls `run`; returns its result, and the work on each list that it opened and dropped on this thread, in the order
/// of dropping.
pub fn watch_lists<R>(run: impl FnOnce() -> R) -> (R, Vec<ListWork>) {
    let before = OpenLists(LISTS.replace(Some(Vec::new())));
    let result = run();
    let lists = LISTS.take().unwrap_or_default();
    drop(before);
    (result, lists)
}

/// Guard that restores the lists of an outer watcher, as [`Open`] does.
struct OpenLists(Option<Vec<ListWork>>);

impl Drop for OpenLists {
    fn drop(&mut self) {
        LISTS.replace(self.0.take());
    }
}

pub(super) const DOCUMENTS: u8 = 1;
const BITS: u8 = 2;
pub(super) const FREQUENCIES: u8 = 4;

/// Recorder of the work on each block of one list; empty where nothing is recorded.
#[derive(Debug)]
pub(super) struct Watch(Option<Box<Seen>>);

#[derive(Debug)]
struct Seen(ListWork);

impl Watch {
    /// Creates the recorder of a list.
    pub(super) fn new(list: &ListBytes<'_>) -> Watch {
        let wanted = ACCOUNT.get().is_some() || LISTS.with_borrow(Option::is_some);
        Watch(wanted.then(|| Box::new(Seen::new(list))))
    }

    /// Records that a block was loaded, as bits or with its documents decoded, and whether frequencies were decoded
    /// with it.
    #[inline]
    pub(super) fn loaded(&mut self, block: usize, is_bits: bool, with_frequencies: bool) {
        let documents = if is_bits { BITS } else { DOCUMENTS };
        let frequencies = if with_frequencies { FREQUENCIES } else { 0 };
        self.saw(block, documents | frequencies);
    }

    /// Records that a block of bits was read as such.
    #[inline]
    pub(super) fn bits(&mut self, block: usize) {
        self.saw(block, BITS);
    }

    /// Records that the documents of a block of bits were decoded.
    #[inline]
    pub(super) fn spread(&mut self, block: usize) {
        self.saw(block, DOCUMENTS);
    }

    /// Records that the frequencies of a block were decoded.
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

    // Not inlined, because most lists are not recorded.
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
            // A tail without documents is not a block.
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
