//! A folder of storages, each with a name: the indexes of a server of many.
//!
//! ```text
//! folder ── open "news" ─────► Storage     the files of one index
//!        ── create "mail" ───► Storage     a new one, empty
//!        ── remove "mail"                  gone at once and as a whole; what is open stays readable
//! ```

mod memory;
mod real;

pub use memory::MemoryFolder;
pub use real::RealFolder;

use crate::{SharedStorage, StorageError};
use std::path::PathBuf;

/// Upper limit on a name, in bytes: file systems have 255, and removed storages have longer names for a while.
pub const STORAGE_NAME_BYTES_MAX: usize = 200;

/// A folder of storages. A name has letters and digits of any script, `-`, `_` and `.`, and begins with a letter or a
/// digit ([`is_storage_name`]); other entries of the folder are no storages.
pub trait StorageFolder: Send + Sync + std::fmt::Debug {
    /// Returns the location for messages: a path, or `memory`.
    fn location(&self) -> PathBuf;
    /// Returns the names of all storages, sorted.
    fn list(&self) -> Result<Vec<String>, StorageError>;
    /// Opens a storage; `None` where there is none of the name.
    fn open(&self, name: &str) -> Result<Option<SharedStorage>, StorageError>;
    /// Opens a storage, and creates it durably where it is missing.
    fn create(&self, name: &str) -> Result<SharedStorage, StorageError>;
    /// Removes a storage with all its files, durably. It is gone as a whole, whenever the power is lost. Regions that are
    /// open stay readable. Nothing happens where there is none of the name.
    fn remove(&self, name: &str) -> Result<(), StorageError>;
}

/// Returns whether a storage of a folder may have this name.
pub fn is_storage_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.len() <= STORAGE_NAME_BYTES_MAX
        && name.starts_with(char::is_alphanumeric)
        && name.chars().all(is_allowed)
}

fn ensure_name(location: PathBuf, name: &str) -> Result<(), StorageError> {
    match is_storage_name(name) {
        true => Ok(()),
        false => Err(StorageError::InvalidName {
            directory: location,
            name: name.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests;
