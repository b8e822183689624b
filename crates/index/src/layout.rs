//! Layout of the chunks of an index in segments: one segment for each chunk, or one for all chunks of a partition.
//!
//! Chunks are the unit into which an index can be divided. An index server with several chunks in separate segments
//! opens every posting list once per chunk. An index laid out for its partitions holds the chunks of each partition in
//! one segment; it can then be served as those partitions, or as unions of them.

use crate::IndexError;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

/// Upper limit on chunks, above the size of any planned cluster.
pub(crate) const CHUNKS_MAX: u32 = 1 << 20;

/// Chunks, and the partitions that they are laid out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Number of chunks; at least 1.
    pub chunks: u32,
    /// Number of partitions, each with segments of its own; 1 to `chunks`.
    pub partitions: u32,
}

impl Layout {
    /// Returns the chunk of the document whose URL has the hash `url_hash`.
    pub fn chunk_of(&self, url_hash: u64) -> u32 {
        (url_hash % u64::from(self.chunks)) as u32
    }

    /// Returns the partition that contains `chunk`.
    pub fn partition_of(&self, chunk: u32) -> u32 {
        let (chunk, chunks) = (u64::from(chunk), u64::from(self.chunks));
        // The last p whose first chunk, p · chunks / partitions rounded down, is at most this one.
        (((chunk + 1) * u64::from(self.partitions) - 1) / chunks) as u32
    }

    /// Returns the chunks of `partition`: contiguous, and as equal in number as possible.
    pub fn chunks_of(&self, partition: u32) -> RangeInclusive<u32> {
        let (chunks, partitions) = (u64::from(self.chunks), u64::from(self.partitions));
        let cut = |partition: u32| (u64::from(partition) * chunks / partitions) as u32;
        cut(partition)..=cut(partition + 1) - 1
    }

    /// Returns the chunks of each partition, in order.
    pub fn partitions(self) -> impl Iterator<Item = RangeInclusive<u32>> {
        (0..self.partitions).map(move |partition| self.chunks_of(partition))
    }

    /// Returns the same chunks laid out for `partitions` partitions, or a message with the remedy where the number is
    /// not in 1 to `chunks`.
    pub fn of_partitions(self, partitions: u32) -> Result<Layout, String> {
        let Layout { chunks, .. } = self;
        match (1..=chunks).contains(&partitions) {
            true => Ok(Layout { chunks, partitions }),
            false => Err(format!(
                "{partitions} partitions cannot share the {chunks} chunks of this index; choose 1 to {chunks}, or build it \
                 with more --chunks"
            )),
        }
    }

    /// Does the same as [`Layout::of_partitions`] for the index in the directory `path`, which the error names.
    pub(crate) fn with_partitions(
        self,
        path: PathBuf,
        partitions: u32,
    ) -> Result<Layout, IndexError> {
        let layout = self.of_partitions(partitions);
        layout.map_err(|reason| IndexError::Mismatch { path, reason })
    }

    /// Returns a partition that `chunks` contains in part but not as a whole.
    pub(crate) fn cut_by(&self, chunks: &Range<u32>) -> Option<RangeInclusive<u32>> {
        let ends = [chunks.start, chunks.end.saturating_sub(1)];
        ends.into_iter()
            .filter(|&chunk| chunk < self.chunks && !chunks.is_empty())
            .map(|chunk| self.chunks_of(self.partition_of(chunk)))
            .find(|partition| !partition.clone().all(|chunk| chunks.contains(&chunk)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_is_in_one_partition_of_about_the_same_size() {
        for chunks in 1..40u32 {
            for partitions in 1..=chunks {
                let layout = Layout { chunks, partitions };
                let all: Vec<u32> = layout.partitions().flatten().collect();
                assert_eq!(all, (0..chunks).collect::<Vec<_>>());
                let sizes = || layout.partitions().map(Iterator::count);
                assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
                for chunk in 0..chunks {
                    let partition = layout.partition_of(chunk);
                    assert!(layout.chunks_of(partition).contains(&chunk), "{layout:?}");
                }
            }
        }
    }

    #[test]
    fn what_cuts_a_partition_is_found() {
        let layout = Layout {
            chunks: 8,
            partitions: 3,
        };
        assert_eq!(
            layout.partitions().collect::<Vec<_>>(),
            [0..=1, 2..=4, 5..=7]
        );
        for whole in [0..2, 2..5, 5..8, 0..5, 2..8, 0..8, 3..3, 0..20] {
            assert_eq!(layout.cut_by(&whole), None, "{whole:?}");
        }
        for (cut, partition) in [(0..1, 0..=1), (0..3, 2..=4), (4..8, 2..=4), (6..7, 5..=7)] {
            assert_eq!(layout.cut_by(&cut), Some(partition), "{cut:?}");
        }
    }
}
