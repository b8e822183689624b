//! Report of a check, and the damage that it found.

use crate::IndexError;
use crate::leftovers::{Stray, Unfinished};
use vfs::StorageError;

/// Report of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Generation checked.
    pub generation: u64,
    /// Generation before it, whose files are kept for readers that have just opened it.
    pub generation_before: Option<u64>,
    /// Chunks of the index.
    pub chunks: u64,
    /// Partitions that the chunks are laid out for.
    pub partitions: u64,
    /// Files read.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Segments.
    pub segments: u64,
    /// Segments in each order, indexed as `Order::ALL`.
    pub segments_by_order: [u64; 3],
    /// Live documents.
    pub documents: u64,
    /// Terms, summed over segments and fields.
    pub terms: u64,
    /// Postings.
    pub postings: u64,
    /// Positions.
    pub positions: u64,
    /// Changes in logs that the generation does not contain; the next writer commits them.
    pub logged_changes: u64,
    /// Directory entries that belong to none of these generations, by name.
    pub strays: Vec<Stray>,
    /// Newer generation with files but no manifest.
    pub unfinished: Option<Unfinished>,
}

/// Damage found so far.
pub(super) struct Damages {
    pub(super) found: Vec<IndexError>,
    pub(super) max: usize,
}

impl Damages {
    pub(super) fn add(&mut self, damage: IndexError) {
        if self.found.len() < self.max {
            self.found.push(damage);
        }
    }

    /// Returns whether no further damage is recorded, so that the search for it may end.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= self.max
    }
}

/// Converts the error of a missing file that the manifest names to damage; returns other storage errors as `Err`.
pub(super) fn missing_is_damage(error: IndexError) -> Result<IndexError, IndexError> {
    match error {
        IndexError::Storage(StorageError::NotFound { path }) => Ok(IndexError::Damaged {
            path,
            offset: 0,
            what: "the manifest names this file, but it is not there".into(),
        }),
        damage @ (IndexError::Damaged { .. } | IndexError::LogLost { .. }) => Ok(damage),
        other => Err(other),
    }
}
