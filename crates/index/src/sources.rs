//! Sources of a generation: the files that a commit, a merge or an optimization reads, examined before anything rests on
//! them.
//!
//! A writer verifies each block at its first touch and reads it later, perhaps minutes later. Bytes that change in
//! between would be written into a new file with right checksums, where no check finds them, and the old file would be
//! removed. So every file that is opened for reading is remembered here, whoever opens it, and a manifest is put in place
//! only with the proof that their stamps are those from their opening. Of files that cannot be mapped, the proof is that
//! no read failed: bytes that were not fetched are zeros to readers that cannot fail.

use crate::IndexError;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use vfs::{
    Change, OpenFile, ReadFile, Region, SharedStorage, Storage, StorageDelegation, StorageError,
};

/// Prefix of the files that a writer makes for itself and removes: no generation has them.
const TEMPORARY: &str = "tmp-";

/// Storage that remembers the files opened through it.
#[derive(Debug)]
pub(crate) struct Sources {
    storage: SharedStorage,
    opened: Mutex<Vec<(String, Region)>>,
    /// Failed reads of files that are not mapped.
    missed: Arc<AtomicBool>,
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
            missed: Arc::default(),
        })
    }

    /// Returns the proof that no opened file changed since it was opened, and that none missed a read.
    ///
    /// # Errors
    /// The first file that changed. What was written from it must not be used.
    pub(crate) fn ensure_unchanged(&self) -> Result<Unchanged, IndexError> {
        if self.missed.load(Ordering::Acquire) {
            return Err(IndexError::Changed {
                path: self.storage.location(),
            });
        }
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

impl StorageDelegation for Sources {
    fn inner(&self) -> &dyn Storage {
        &*self.storage
    }

    fn open_file(&self, name: &str) -> Result<OpenFile, StorageError> {
        let file = self.storage.open_file(name)?;
        // What is no mapping is a copy of ours, which nobody else changes.
        match &file {
            OpenFile::Region(region) => {
                if region.source().is_some() && !name.starts_with(TEMPORARY) {
                    let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
                    opened.push((name.to_owned(), region.clone()));
                }
                Ok(file)
            }
            OpenFile::Handle(inner) => Ok(OpenFile::Handle(Arc::new(NotedFile {
                inner: Arc::clone(inner),
                missed: Arc::clone(&self.missed),
            }))),
        }
    }
}

/// File that is read by ranges, whose failed reads are noted.
#[derive(Debug)]
struct NotedFile {
    inner: Arc<dyn ReadFile>,
    missed: Arc<AtomicBool>,
}

impl ReadFile for NotedFile {
    fn length(&self) -> u64 {
        self.inner.length()
    }

    fn read(&self, range: Range<u64>) -> Result<Vec<u8>, StorageError> {
        let wanted = range.end.saturating_sub(range.start);
        let read = self.inner.read(range);
        if !matches!(&read, Ok(bytes) if bytes.len() as u64 == wanted) {
            self.missed.store(true, Ordering::Release);
        }
        read
    }
}
