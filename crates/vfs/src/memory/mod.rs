//! A disk in memory that knows what a power loss would leave.
//!
//! What a file holds is durable once it is finished; that it has a name, another name, or none, is
//! durable once the directory is synced. A disk made with [`MemoryStorage::recording`] can be had
//! as it was found after a power loss at any moment of its history:
//!
//! ```
//! use vfs::{MemoryStorage, Storage};
//! let disk = MemoryStorage::recording();
//! disk.create("A")?.finish()?;
//! disk.sync_directory()?;
//! for operation in 0..=disk.operations() {
//!     for seed in 0..4 {
//!         let found = disk.power_loss_after(operation, seed);
//!         assert!(found.files().len() <= 1);
//!     }
//! }
//! # Ok::<(), vfs::StorageError>(())
//! ```
use crate::buffered::{Buffered, Sink};
use crate::name::path_of;
use crate::{Lock, OpenFile, OtherEntry, Region, Storage, StorageError, WriteFile};
use disk::{Disk, FileId, Operation};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

mod disk;
mod power_loss;
#[cfg(test)]
mod tests;

/// Small, so that ordinary files take several writes and can be torn between them.
const BUFFER_BYTES: usize = 4 << 10;

/// Files in memory. A clone is the same disk.
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    disk: Disk,
    /// Operations so far.
    operations: usize,
    history: Option<History>,
    /// Locks end with the process, so they are no part of the disk.
    locked: BTreeSet<String>,
}

/// Operations that led to the state of the disk.
#[derive(Debug)]
struct History {
    start: Disk,
    log: Vec<Operation>,
}

impl MemoryStorage {
    /// Returns an empty disk.
    pub fn new() -> MemoryStorage {
        MemoryStorage::default()
    }

    /// Returns an empty disk that remembers its operations, for [`MemoryStorage::power_loss_after`].
    pub fn recording() -> MemoryStorage {
        MemoryStorage::holding(Disk::default(), true)
    }

    /// Returns the number of operations (create, write, sync, rename, remove, sync of the directory) that the disk has
    /// seen.
    pub fn operations(&self) -> usize {
        self.state().operations
    }

    /// Returns the disk as found after a power loss now. Synced content and names are there; what was not
    /// synced is kept, dropped, torn or zero-filled as `seed` decides. Seed 0 loses all that may
    /// be lost, seed 1 nothing. The disk found records where this one does.
    pub fn power_loss(&self, seed: u64) -> MemoryStorage {
        let state = self.state();
        MemoryStorage::holding(state.disk.power_loss(seed), state.history.is_some())
    }

    /// Returns the disk as found after a power loss when it had seen `operation` operations.
    ///
    /// # Panics
    /// On a disk that does not record.
    pub fn power_loss_after(&self, operation: usize, seed: u64) -> MemoryStorage {
        let state = self.state();
        let Some(history) = &state.history else {
            panic!("only a disk made with MemoryStorage::recording can go back");
        };
        let mut disk = history.start.clone();
        for operation in history.log.iter().take(operation) {
            disk.apply(operation);
        }
        MemoryStorage::holding(disk.power_loss(seed), true)
    }

    /// Returns the names of all files, sorted.
    pub fn files(&self) -> Vec<String> {
        self.state().disk.names()
    }

    /// Returns the bytes of a file; `None` where there is none.
    pub fn read_raw(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        let id = state.disk.find(name)?;
        Some(state.disk.content(id)?.to_vec())
    }

    /// Makes `name` hold `bytes`, durably, whatever it held: damage done on purpose.
    pub fn write_raw(&self, name: &str, bytes: impl Into<Vec<u8>>) {
        self.state().apply(Operation::Replace {
            name: name.to_owned(),
            bytes: bytes.into(),
        });
    }

    fn holding(disk: Disk, recording: bool) -> MemoryStorage {
        let history = recording.then(|| History {
            start: disk.clone(),
            log: Vec::new(),
        });
        let state = State {
            disk,
            history,
            ..State::default()
        };
        MemoryStorage {
            state: Arc::new(Mutex::new(state)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No operation leaves the disk half changed, so a panic elsewhere does not matter.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path_of(&self, name: &str) -> Result<PathBuf, StorageError> {
        path_of(Path::new("memory"), name)
    }
}

impl State {
    fn apply(&mut self, operation: Operation) {
        self.disk.apply(&operation);
        self.operations += 1;
        if let Some(history) = &mut self.history {
            history.log.push(operation);
        }
    }

    fn find(&self, name: &str, path: PathBuf) -> Result<FileId, StorageError> {
        self.disk.find(name).ok_or(StorageError::NotFound { path })
    }
}

impl Storage for MemoryStorage {
    fn location(&self) -> PathBuf {
        PathBuf::from("memory")
    }

    fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
        let path = self.path_of(name)?;
        let mut state = self.state();
        if state.disk.find(name).is_some() {
            let source = io::Error::from(io::ErrorKind::AlreadyExists);
            return Err(StorageError::from_io("create", &path, source));
        }
        let id = state.disk.next_id();
        state.apply(Operation::Create {
            name: name.to_owned(),
        });
        let file = MemoryFile {
            storage: self.clone(),
            id,
            path,
        };
        Ok(Box::new(Buffered::new(file, BUFFER_BYTES)))
    }

    fn open_file(&self, name: &str) -> Result<OpenFile, StorageError> {
        let path = self.path_of(name)?;
        let state = self.state();
        let id = state.find(name, path)?;
        let bytes = state.disk.content(id).unwrap_or_default();
        Ok(OpenFile::Region(Region::new(bytes)))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        let path = self.path_of(from)?;
        self.path_of(to)?;
        let mut state = self.state();
        state.find(from, path)?;
        state.apply(Operation::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
        });
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        let path = self.path_of(name)?;
        let mut state = self.state();
        state.find(name, path)?;
        state.apply(Operation::Remove {
            name: name.to_owned(),
        });
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>, StorageError> {
        Ok(self.files())
    }

    fn list_others(&self) -> Result<Vec<OtherEntry>, StorageError> {
        Ok(Vec::new())
    }

    fn sync_directory(&self) -> Result<(), StorageError> {
        self.state().apply(Operation::SyncDirectory);
        Ok(())
    }

    fn lock(&self, name: &str) -> Result<Lock, StorageError> {
        let path = self.path_of(name)?;
        let mut state = self.state();
        if state.disk.find(name).is_none() {
            state.apply(Operation::Create {
                name: name.to_owned(),
            });
        }
        if !state.locked.insert(name.to_owned()) {
            return Err(StorageError::Locked { path });
        }
        Ok(Lock::new(Held {
            storage: self.clone(),
            name: name.to_owned(),
        }))
    }

    fn is_locked(&self, name: &str) -> Result<bool, StorageError> {
        self.path_of(name)?;
        Ok(self.state().locked.contains(name))
    }

    fn available_bytes(&self) -> Option<u64> {
        None
    }
}

struct MemoryFile {
    storage: MemoryStorage,
    id: FileId,
    path: PathBuf,
}

impl Sink for MemoryFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.storage.state().apply(Operation::Append {
            id: self.id,
            bytes: bytes.to_vec(),
        });
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.storage.state().apply(Operation::Sync { id: self.id });
        Ok(())
    }

    fn finish(&mut self) -> Result<(), StorageError> {
        self.sync()
    }
}

struct Held {
    storage: MemoryStorage,
    name: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.storage.state().locked.remove(&self.name);
    }
}
