//! The real disk.
use crate::*;
use std::path::Path;

/// A directory of the file system.
#[derive(Debug)]
pub struct RealStorage {
    _directory: PathBuf,
}
impl RealStorage {
    /// Uses an existing directory.
    pub fn open(_directory: impl AsRef<Path>) -> Result<RealStorage, StorageError> {
        unimplemented!()
    }
    /// Creates the directory (and its parents) where it is missing.
    pub fn create_directory(_directory: impl AsRef<Path>) -> Result<RealStorage, StorageError> {
        unimplemented!()
    }
}
impl Storage for RealStorage {
    fn location(&self) -> PathBuf {
        unimplemented!()
    }
    fn create(&self, _name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
        unimplemented!()
    }
    fn open(&self, _name: &str) -> Result<Region, StorageError> {
        unimplemented!()
    }
    fn rename(&self, _from: &str, _to: &str) -> Result<(), StorageError> {
        unimplemented!()
    }
    fn remove(&self, _name: &str) -> Result<(), StorageError> {
        unimplemented!()
    }
    fn list(&self) -> Result<Vec<String>, StorageError> {
        unimplemented!()
    }
    fn sync_directory(&self) -> Result<(), StorageError> {
        unimplemented!()
    }
    fn lock(&self, _name: &str) -> Result<Lock, StorageError> {
        unimplemented!()
    }
}
