//! Set of the verified blocks of a file.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Set of verified blocks. Any thread may add blocks, and none are removed: changes of the file's bytes show in its
/// stamp.
#[derive(Debug)]
pub(super) struct VerifiedBlocks {
    words: Box<[AtomicU64]>,
    all: usize,
    /// Number of blocks that are not in the set.
    left: AtomicUsize,
}

impl VerifiedBlocks {
    /// Creates an empty set for `count` blocks.
    pub(super) fn new(count: usize) -> VerifiedBlocks {
        VerifiedBlocks {
            words: (0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            all: count,
            left: AtomicUsize::new(count),
        }
    }

    #[inline]
    pub(super) fn are_all(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// Counts the blocks in the set.
    pub(super) fn count(&self) -> usize {
        self.all - self.left.load(Ordering::Acquire)
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
                assert!(!blocks.are_all() && !blocks.contains(block));
                blocks.insert(block);
                blocks.insert(block);
                assert!(blocks.contains(block) && !blocks.contains(block.wrapping_sub(1)));
            }
            assert!(blocks.are_all() && !blocks.contains(count + 64));
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
        assert!(blocks.are_all());
    }
}
