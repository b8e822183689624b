//! The one door to the system: the disk (real, in memory, failing), and what the kernel tells and grants.
//!
//! An index is a flat directory of files that are written once, synced, and never changed.
//! [`Storage`] offers exactly that and no more, so tests can replace the disk by a
//! [`MemoryStorage`] (which knows what survives a power loss) or a [`FaultyStorage`].
//! [`PreloadedStorage`] has some of its files in memory. A [`StorageFolder`] has many storages, each with a name.
//!
//! ```text
//! open_file ─► OpenFile: a mapping, or a handle        all that a backend has to give
//!              (ReadFile: length, read(range))
//! open      ─► Region, complete                       mapped where the backend maps, else read into memory
//! open_lazy ─► Region, fetched as it is used          mapped, else memory of the length: Region::fetch(range)
//!                                                     before each first use of a range
//! ```
//!
//! A failed read that may succeed soon is [`StorageError::is_transient`]; any other one lasts.
//!
//! Apart from it, [`platform`]: where threads run and take their memory from, the texts of `/sys` and `/proc`, signals, FIFOs and
//! files of one user.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

mod buffered;
mod delegation;
mod entry;
pub mod error;
// The handler of a signal, and what it does to mappings.
#[allow(unsafe_code)]
mod fault;
mod faulty;
// Mappings of memory files are `unsafe`.
#[allow(unsafe_code)]
mod fetched;
mod folder;
mod memory;
mod name;
mod open_file;
pub mod platform;
pub mod preload;
mod read;
// Mappings and advice on them are `unsafe`; each block carries its proof.
#[allow(unsafe_code)]
mod real;
#[allow(unsafe_code)]
mod region;
mod source;
mod stamp;
mod unmapped;

pub use delegation::StorageDelegation;
pub use entry::{OtherEntry, OtherKind};
pub use error::StorageError;
pub use fault::survive_lost_pages;
pub use faulty::{Fault, FaultKind, FaultyStorage};
pub use folder::{
    MemoryFolder, RealFolder, STORAGE_NAME_BYTES_MAX, StorageFolder, is_storage_name,
};
pub use memory::MemoryStorage;
pub use open_file::OpenFile;
pub use preload::{
    LoadedFile, Preload, PreloadOptions, PreloadProgress, PreloadReport, PreloadedStorage,
};
pub use read::ReadFile;
pub use real::RealStorage;
pub use region::Region;
pub use source::SourceFile;
pub use stamp::{Change, FileStamp};
pub use unmapped::{ReadFault, UnmappedStorage};

/// A flat directory of write-once files. Names hold letters, digits, `-`, `_` and `.` only.
pub trait Storage: Send + Sync + std::fmt::Debug {
    /// Returns the location for messages: a path, or `memory`.
    fn location(&self) -> PathBuf;
    /// Creates `name` for writing; an existing file is an error (`O_EXCL`).
    fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError>;
    /// Opens a file for reads of ranges. What it reads is the file as it was at this moment, whatever becomes of the name.
    fn open_file(&self, name: &str) -> Result<OpenFile, StorageError>;
    /// Returns the whole file: mapped read-only, or read into memory where the storage cannot map.
    fn open(&self, name: &str) -> Result<Region, StorageError> {
        match self.open_file(name)? {
            OpenFile::Region(region) => Ok(region),
            OpenFile::Handle(file) => Region::read_whole(&*file, &self.location().join(name)),
        }
    }
    /// Returns the file for readers that call [`Region::fetch`] before they read a range: mapped read-only, or memory of
    /// its length whose blocks are fetched then.
    fn open_lazy(&self, name: &str) -> Result<Region, StorageError> {
        match self.open_file(name)? {
            OpenFile::Region(region) => Ok(region),
            OpenFile::Handle(file) => Region::fetched(file, &self.location().join(name)),
        }
    }
    /// Gives `from` the name `to`, replacing what was there. Durable after `sync_directory`.
    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError>;
    /// Removes a file. Regions already opened stay readable.
    fn remove(&self, name: &str) -> Result<(), StorageError>;
    /// Returns the names of all files, sorted.
    fn list(&self) -> Result<Vec<String>, StorageError>;
    /// Returns the other entries of the directory, sorted: entries that are no regular files, and files whose names a
    /// storage does not use.
    fn list_others(&self) -> Result<Vec<OtherEntry>, StorageError>;
    /// Makes created, renamed and removed names durable.
    fn sync_directory(&self) -> Result<(), StorageError>;
    /// Takes the exclusive lock `name` (an OS lock: it ends with the process, whatever the file). Fails at once with
    /// `StorageError::Locked` when another process or writer holds it.
    fn lock(&self, name: &str) -> Result<Lock, StorageError>;
    /// Returns whether any process holds the lock `name` now. Neither takes the lock nor creates a file.
    fn is_locked(&self, name: &str) -> Result<bool, StorageError>;
    /// Returns the bytes for which the device has room; `None` where the storage does not know.
    fn available_bytes(&self) -> Option<u64>;
}

/// A file being written. Dropping it without `finish` leaves an unsynced file behind.
pub trait WriteFile: Write + Send {
    /// Writes buffered bytes and makes them durable; the file stays open. After an error the file can neither be
    /// written nor synced again.
    fn sync(&mut self) -> Result<(), StorageError>;
    /// Writes buffered bytes and syncs the file to the disk, then closes it.
    fn finish(self: Box<Self>) -> Result<(), StorageError>;
    /// Returns whether the file still has a name: one that was removed is lost when it is closed, synced or not.
    fn has_name(&self) -> bool {
        true
    }
}

/// An exclusive lock, given back when dropped.
pub struct Lock {
    _held: Box<dyn Send + Sync>,
    is_current: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Lock {
    /// Wraps whatever, when dropped, gives the lock back.
    pub fn new(held: impl Send + Sync + 'static) -> Lock {
        Lock::of_name(held, || true)
    }

    /// Does the same for a lock that others take by a name; `is_current` tells whether they still meet this one there.
    pub fn of_name(
        held: impl Send + Sync + 'static,
        is_current: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Lock {
        Lock {
            _held: Box::new(held),
            is_current: Box::new(is_current),
        }
    }

    /// Returns whether the lock still excludes others. It does not where its file was removed or replaced.
    pub fn is_current(&self) -> bool {
        (self.is_current)()
    }
}

impl std::fmt::Debug for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lock")
    }
}

/// A storage shared between the parts of a program.
pub type SharedStorage = Arc<dyn Storage>;
