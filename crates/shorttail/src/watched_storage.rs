//! Storage of a writer: its writes are counted, and fail once the writer is cancelled.
//!
//! All work of a commit goes through writes, so it ends within one of them, and the index stays as it was.

use crate::progress::Watch;
use std::io::{self, Write};
use vfs::{OpenFile, SharedStorage, Storage, StorageDelegation, StorageError, WriteFile};

#[derive(Debug)]
pub(crate) struct WatchedStorage {
    inner: SharedStorage,
    watch: Watch,
}

impl WatchedStorage {
    pub(crate) fn new(inner: SharedStorage, watch: Watch) -> WatchedStorage {
        WatchedStorage { inner, watch }
    }

    fn ensure_going(&self, operation: &'static str, name: &str) -> Result<(), StorageError> {
        ensure_going(&self.watch).map_err(|cancelled| {
            StorageError::from_io(operation, &self.inner.location().join(name), cancelled)
        })
    }
}

fn ensure_going(watch: &Watch) -> io::Result<()> {
    match watch.is_cancelled() {
        true => Err(io::Error::other("cancelled")),
        false => Ok(()),
    }
}

impl StorageDelegation for WatchedStorage {
    fn inner(&self) -> &dyn Storage {
        &*self.inner
    }

    fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
        self.ensure_going("create", name)?;
        Ok(Box::new(WatchedFile {
            inner: self.inner.create(name)?,
            watch: self.watch.clone(),
        }))
    }

    fn open_file(&self, name: &str) -> Result<OpenFile, StorageError> {
        self.ensure_going("open", name)?;
        self.inner.open_file(name)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        self.ensure_going("rename", from)?;
        self.inner.rename(from, to)
    }
}

struct WatchedFile {
    inner: Box<dyn WriteFile>,
    watch: Watch,
}

impl Write for WatchedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        ensure_going(&self.watch)?;
        let written = self.inner.write(bytes)?;
        self.watch.count_bytes(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl WriteFile for WatchedFile {
    fn sync(&mut self) -> Result<(), StorageError> {
        self.inner.sync()
    }

    fn finish(self: Box<Self>) -> Result<(), StorageError> {
        self.inner.finish()
    }

    fn has_name(&self) -> bool {
        self.inner.has_name()
    }
}
