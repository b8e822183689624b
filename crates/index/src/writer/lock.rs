//! The lock of an index, which one writer at a time has.

use crate::leftovers::remove_leftovers;
use crate::names::LOCK_NAME;
use crate::{IndexError, manifest};
use std::path::PathBuf;
use std::sync::Arc;
use vfs::{Lock, SharedStorage};

/// Lock that excludes other writers of an index, in this process and in others. A clone is the same lock, given back when
/// the last one is dropped.
#[derive(Debug, Clone)]
pub struct WriteLock(Arc<Lock>, PathBuf);

impl WriteLock {
    /// Takes the lock.
    ///
    /// # Errors
    /// Another writer has it.
    pub fn take(storage: &SharedStorage) -> Result<WriteLock, IndexError> {
        let lock = Arc::new(storage.lock(LOCK_NAME)?);
        Ok(WriteLock(lock, storage.location().join(LOCK_NAME)))
    }

    /// Fails where the file of the lock was removed or replaced, so that another writer may have taken it.
    ///
    /// # Errors
    /// [`IndexError::Removed`].
    pub fn ensure_current(&self) -> Result<(), IndexError> {
        match self.0.is_current() {
            true => Ok(()),
            false => Err(IndexError::Removed {
                path: self.1.clone(),
                what: "the lock of writers",
            }),
        }
    }

    /// Removes files that no generation needs, as every commit does: those of a merge that was given up. No merge may be
    /// under way.
    ///
    /// # Errors
    /// Files that cannot be read or removed.
    pub fn remove_unneeded(&self, storage: &SharedStorage) -> Result<(), IndexError> {
        match manifest::read_newest(storage)? {
            Some(manifest) => remove_leftovers(storage, &manifest, None),
            None => Ok(()),
        }
    }
}
