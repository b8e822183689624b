//! Set of the verified blocks of a file, and whether a reader has read any of them.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Set of verified blocks. Any thread may add blocks, and none are removed: changes of the file's bytes show in its
/// stamp.
#[derive(Debug)]
pub(super) struct VerifiedBlocks {
    words: Box<[AtomicU64]>,
    all: usize,
    /// Number of blocks that are not in the set, and one more until the first read. So one load tells readers that
    /// nothing is left to verify and nothing left to note.
    left: AtomicUsize,
    is_read: AtomicBool,
}

impl VerifiedBlocks {
    /// Creates an empty set for `count` blocks.
    pub(super) fn new(count: usize) -> VerifiedBlocks {
        VerifiedBlocks {
            words: (0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            all: count,
            left: AtomicUsize::new(count + 1),
            is_read: AtomicBool::new(false),
        }
    }

    /// Returns whether every block is in the set and a read is noted.
    #[inline]
    pub(super) fn are_all_read(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// Returns whether every block is in the set.
    pub(super) fn are_all(&self) -> bool {
        self.contain(0..self.all)
    }

    /// Notes that a reader is about to read a block.
    #[inline]
    pub(super) fn note_read(&self) {
        if !self.is_read() && !self.is_read.swap(true, Ordering::AcqRel) {
            self.left.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Returns whether a reader has read any block.
    #[inline]
    pub(super) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Acquire)
    }

    /// Counts the blocks in the set.
    pub(super) fn count(&self) -> usize {
        let words = self.words.iter();
        let counts = words.map(|word| word.load(Ordering::Acquire).count_ones() as usize);
        counts.sum()
    }

    #[inline]
    pub(super) fn contains(&self, block: usize) -> bool {
        let word = self.words.get(block / 64);
        word.is_some_and(|word| word.load(Ordering::Acquire) >> (block % 64) & 1 == 1)
    }

    /// Returns whether all blocks of a range are in the set; compares 64 of them at a time.
    #[inline]
    pub(super) fn contain(&self, blocks: Range<usize>) -> bool {
        let mut from = blocks.start;
        while from < blocks.end {
            let end = blocks.end.min((from / 64 + 1) * 64);
            let wanted = u64::MAX >> (64 - (end - from)) << (from % 64);
            let word = self.words.get(from / 64);
            if word.is_none_or(|word| word.load(Ordering::Acquire) & wanted != wanted) {
                return false;
            }
            from = end;
        }
        true
    }

    /// Adds a block, whose number is below `count`.
    pub(super) fn insert(&self, block: usize) {
        let bit = 1 << (block % 64);
        if self.words[block / 64].fetch_or(bit, Ordering::AcqRel) & bit == 0 {
            self.left.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_are_there_once_each_was_added() {
        for count in [1, 63, 64, 65, 200] {
            let blocks = VerifiedBlocks::new(count);
            for block in (0..count).rev() {
                assert!(!blocks.are_all() && !blocks.are_all_read() && !blocks.contains(block));
                blocks.insert(block);
                blocks.insert(block);
                assert!(blocks.contains(block) && !blocks.contains(block.wrapping_sub(1)));
            }
            assert!(blocks.are_all() && !blocks.contains(count + 64));
            assert_eq!(blocks.count(), count);
        }
    }

    #[test]
    fn the_first_read_is_noted_once_whenever_it_comes() {
        for read_from in [0, 1, 99, 100] {
            let blocks = VerifiedBlocks::new(100);
            for block in 0..100 {
                if block >= read_from {
                    blocks.note_read();
                }
                assert_eq!(blocks.is_read(), block >= read_from);
                assert!(!blocks.are_all_read());
                blocks.insert(block);
                assert_eq!(blocks.count(), block + 1);
            }
            assert!(blocks.are_all());
            assert_eq!(blocks.are_all_read(), read_from < 100);
            blocks.note_read();
            assert!(blocks.are_all_read());
        }
    }

    proptest! {
        #[test]
        fn ranges_are_contained_as_their_blocks_are(
            added in prop::collection::vec((0usize..300, 1usize..90), 0..8),
            start in 0usize..300,
            count in 0usize..200,
        ) {
            let blocks = VerifiedBlocks::new(300);
            for (from, count) in added {
                (from..300.min(from + count)).for_each(|block| blocks.insert(block));
            }
            let range = start..start + count;
            prop_assert_eq!(blocks.contain(range.clone()), range.clone().all(|block| blocks.contains(block)));
        }
    }

    #[test]
    fn threads_that_add_the_same_blocks_count_each_once() {
        let blocks = VerifiedBlocks::new(1000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..999).for_each(|block| blocks.insert(block)));
            }
        });
        assert!(!blocks.are_all());
        blocks.insert(999);
        assert!(blocks.are_all() && !blocks.are_all_read());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| blocks.note_read());
            }
        });
        assert!(blocks.are_all_read());
    }
}
