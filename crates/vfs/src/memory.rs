//! A disk in memory that knows what a power loss would leave.
use crate::*;

/// Files in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {}
impl Storage for MemoryStorage {
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
