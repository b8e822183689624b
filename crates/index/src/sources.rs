//! Sources of a generation: the files that a commit, a merge or an optimization reads, examined before anything rests on
//! them.
//!
//! A writer verifies each block at its first touch and reads it later, perhaps minutes later. Bytes that change in
//! between would be written into a new file with right checksums, where no check finds them, and the old file would be
//! removed. So every file that is opened for reading is remembered here, whoever opens it, and a manifest is put in place
//! only with the proof that their stamps are those from their opening.

use crate::IndexError;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use vfs::{Change, Lock, OtherEntry, Region, SharedStorage, Storage, StorageError, WriteFile};

/// Prefix of the files that a writer makes for itself and removes: no generation has them.
const TEMPORARY: &str = "tmp-";

/// Storage that remembers the files opened through it.
#[derive(Debug)]
pub(crate) struct Sources {
    storage: SharedStorage,
    opened: Mutex<Vec<(String, Region)>>,
}

/// Proof that the files of a generation rest on verified bytes alone.
#[derive(Debug)]
pub(crate) struct Unchanged(());

impl Unchanged {
    /// Returns the proof for files that were read back after they were written, and verified against the manifest.
    pub(crate) fn read_back() -> Unchanged {
        Unchanged(())
    }
}

impl Sources {
    /// Creates a storage over another one; nothing is opened yet.
    pub(crate) fn over(storage: &SharedStorage) -> Arc<Sources> {
        Arc::new(Sources {
            storage: storage.clone(),
            opened: Mutex::default(),
        })
    }

    /// Returns the proof that no opened file changed since it was opened.
    ///
    /// # Errors
    /// The first file that changed. What was written from it must not be used.
    pub(crate) fn ensure_unchanged(&self) -> Result<Unchanged, IndexError> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        match opened.iter().find(|(_, region)| has_changed(region)) {
            None => Ok(Unchanged(())),
            Some((name, _)) => Err(IndexError::Changed {
                path: self.storage.location().join(name),
            }),
        }
    }
}

fn has_changed(region: &Region) -> bool {
    let Some(source) = region.source() else {
        return false;
    };
    // A failed call does not show that the file is unchanged.
    let change = source
        .now()
        .map(|now| source.at_open().change(now.as_ref()));
    region.has_faulted() || !matches!(change, Ok(Change::None | Change::Links))
}

impl Storage for Sources {
    fn location(&self) -> PathBuf {
        self.storage.location()
    }

    fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
        self.storage.create(name)
    }

    fn open(&self, name: &str) -> Result<Region, StorageError> {
        let region = self.storage.open(name)?;
        if region.source().is_some() && !name.starts_with(TEMPORARY) {
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            opened.push((name.to_owned(), region.clone()));
        }
        Ok(region)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        self.storage.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        self.storage.remove(name)
    }

    fn list(&self) -> Result<Vec<String>, StorageError> {
        self.storage.list()
    }

    fn list_others(&self) -> Result<Vec<OtherEntry>, StorageError> {
        self.storage.list_others()
    }

    fn sync_directory(&self) -> Result<(), StorageError> {
        self.storage.sync_directory()
    }

    fn lock(&self, name: &str) -> Result<Lock, StorageError> {
        self.storage.lock(name)
    }

    fn is_locked(&self, name: &str) -> Result<bool, StorageError> {
        self.storage.is_locked(name)
    }

    fn available_bytes(&self) -> Option<u64> {
        self.storage.available_bytes()
    }
}
