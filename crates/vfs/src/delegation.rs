//! Storage over another storage: all goes to the one below but what is taken over here.
//!
//! A wrapper implements this trait, and no method of [`Storage`] itself, so it can forget none of them.

use crate::{Lock, OpenFile, OtherEntry, Storage, StorageError, WriteFile};
use std::path::PathBuf;

/// A storage that is another one with some operations changed. Each method is that of [`Storage`] with its name.
///
/// ```
/// use std::sync::Arc;
/// use vfs::{MemoryStorage, SharedStorage, Storage, StorageDelegation, StorageError, WriteFile};
///
/// /// Has no room for anything.
/// #[derive(Debug)]
/// struct Full(SharedStorage);
///
/// impl StorageDelegation for Full {
///     fn inner(&self) -> &dyn Storage {
///         &*self.0
///     }
///     fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
///         let full = std::io::ErrorKind::StorageFull.into();
///         Err(StorageError::from_io("create", name.as_ref(), full))
///     }
/// }
///
/// let storage: SharedStorage = Arc::new(Full(Arc::new(MemoryStorage::new())));
/// assert!(storage.create("a").is_err() && storage.list().unwrap().is_empty());
/// ```
#[allow(missing_docs)] // Those of `Storage`.
pub trait StorageDelegation: Send + Sync + std::fmt::Debug {
    /// Returns the storage below.
    fn inner(&self) -> &dyn Storage;
    fn location(&self) -> PathBuf {
        self.inner().location()
    }
    fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
        self.inner().create(name)
    }
    fn open_file(&self, name: &str) -> Result<OpenFile, StorageError> {
        self.inner().open_file(name)
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        self.inner().rename(from, to)
    }
    fn remove(&self, name: &str) -> Result<(), StorageError> {
        self.inner().remove(name)
    }
    fn list(&self) -> Result<Vec<String>, StorageError> {
        self.inner().list()
    }
    fn list_others(&self) -> Result<Vec<OtherEntry>, StorageError> {
        self.inner().list_others()
    }
    fn sync_directory(&self) -> Result<(), StorageError> {
        self.inner().sync_directory()
    }
    fn lock(&self, name: &str) -> Result<Lock, StorageError> {
        self.inner().lock(name)
    }
    fn is_locked(&self, name: &str) -> Result<bool, StorageError> {
        self.inner().is_locked(name)
    }
    fn available_bytes(&self) -> Option<u64> {
        self.inner().available_bytes()
    }
}

impl<T: StorageDelegation> Storage for T {
    fn location(&self) -> PathBuf {
        StorageDelegation::location(self)
    }

    fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
        StorageDelegation::create(self, name)
    }

    fn open_file(&self, name: &str) -> Result<OpenFile, StorageError> {
        StorageDelegation::open_file(self, name)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        StorageDelegation::rename(self, from, to)
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        StorageDelegation::remove(self, name)
    }

    fn list(&self) -> Result<Vec<String>, StorageError> {
        StorageDelegation::list(self)
    }

    fn list_others(&self) -> Result<Vec<OtherEntry>, StorageError> {
        StorageDelegation::list_others(self)
    }

    fn sync_directory(&self) -> Result<(), StorageError> {
        StorageDelegation::sync_directory(self)
    }

    fn lock(&self, name: &str) -> Result<Lock, StorageError> {
        StorageDelegation::lock(self, name)
    }

    fn is_locked(&self, name: &str) -> Result<bool, StorageError> {
        StorageDelegation::is_locked(self, name)
    }

    fn available_bytes(&self) -> Option<u64> {
        StorageDelegation::available_bytes(self)
    }
}
