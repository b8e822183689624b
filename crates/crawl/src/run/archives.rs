//! Archives of the members of a crawl, read as one: their files have numbers one after the other.

use crate::archive;
use crate::frontier::WarcPlace;
use vfs::{Region, SharedStorage, StorageError};

/// Archives of several crawls, or of one.
pub(super) struct Archives<'a> {
    /// Storages with the number that the first file of each would have as file 0.
    parts: Vec<(u32, &'a SharedStorage)>,
}

impl<'a> Archives<'a> {
    /// Returns the archive of one crawl, with its own numbers.
    pub(super) fn of(storage: &'a SharedStorage) -> Archives<'a> {
        Archives {
            parts: vec![(0, storage)],
        }
    }

    /// Returns the archives of several.
    pub(super) fn of_all(storages: &'a [SharedStorage]) -> Result<Archives<'a>, StorageError> {
        let (mut parts, mut first) = (Vec::with_capacity(storages.len()), 0);
        for storage in storages {
            parts.push((first, storage));
            first += archive::numbers(storage)?.last().map_or(0, |last| last + 1);
        }
        Ok(Archives { parts })
    }

    /// Returns a place of the archive at `part` as a place in all archives together, whose files are numbered on.
    pub(super) fn placed(&self, part: usize, place: WarcPlace) -> WarcPlace {
        WarcPlace {
            file: self.parts[part].0 + place.file,
            ..place
        }
    }

    /// Opens a file by its number among all.
    pub(super) fn open(&self, number: u32) -> Result<Region, StorageError> {
        let after = self.parts.partition_point(|(first, _)| *first <= number);
        let (first, storage) = self.parts[after.saturating_sub(1)];
        archive::open(storage, number - first)
    }
}
