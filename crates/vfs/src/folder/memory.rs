//! A folder in memory, for tests.

use super::{StorageFolder, ensure_name};
use crate::{MemoryStorage, SharedStorage, StorageError};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A folder of storages in memory.
#[derive(Debug, Default)]
pub struct MemoryFolder(Mutex<BTreeMap<String, MemoryStorage>>);

impl MemoryFolder {
    fn storages(&self) -> MutexGuard<'_, BTreeMap<String, MemoryStorage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StorageFolder for MemoryFolder {
    fn location(&self) -> PathBuf {
        PathBuf::from("memory")
    }

    fn list(&self) -> Result<Vec<String>, StorageError> {
        Ok(self.storages().keys().cloned().collect())
    }

    fn open(&self, name: &str) -> Result<Option<SharedStorage>, StorageError> {
        ensure_name(self.location(), name)?;
        let found = self.storages().get(name).cloned();
        Ok(found.map(|storage| Arc::new(storage) as SharedStorage))
    }

    fn create(&self, name: &str) -> Result<SharedStorage, StorageError> {
        ensure_name(self.location(), name)?;
        let storage = self.storages().entry(name.to_owned()).or_default().clone();
        Ok(Arc::new(storage))
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        ensure_name(self.location(), name)?;
        self.storages().remove(name);
        Ok(())
    }
}
