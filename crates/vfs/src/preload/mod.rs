//! Loading of an index into memory before the first query, and what the kernel says of it then.
//!
//! ```text
//! touch      every page is read into the page cache and mapped: no query waits for the disk or a
//!            page fault, unless the kernel needs the memory for something else
//! tmpfs      files are copied into memory files: dropped caches and other readers of the disk do
//!            not push them out
//! hugepages  files are copied into memory mapped by pages of 2 MiB: fewer misses of the TLB
//! ```
//!
//! A copy in memory has no name: it goes when the last mapping goes, however the process ends.
//! [`PreloadedStorage`] is a storage whose files were loaded so, for whoever opens an index in it.
//! What could not be done is left as it was on disk, and told, with figures that the kernel gave.

// Mapping files, asking where pages are: each block carries its proof.
#[allow(unsafe_code)]
mod load;
#[allow(unsafe_code)]
mod measure;
mod options;

pub use options::{Preload, PreloadOptions};

use crate::delegation::StorageDelegation;
use crate::{OpenFile, Region, SharedStorage, Storage, StorageError};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Progress of loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreloadProgress {
    /// Bytes that are loaded.
    pub bytes_done: u64,
    /// Bytes of all files.
    pub bytes_total: u64,
    /// Since it began.
    pub elapsed: Duration,
}

/// Told after every few megabytes; `Break` ends the loading, and the rest stays on disk.
pub type OnProgress<'a> = dyn FnMut(PreloadProgress) -> ControlFlow<()> + 'a;

/// Result of loading, and how much of it holds now.
#[derive(Debug, Clone, PartialEq)]
pub struct PreloadReport {
    /// Requested way of loading.
    pub asked: Preload,
    /// Files that were to be loaded.
    pub files_count: usize,
    /// Bytes of these files.
    pub bytes: u64,
    /// Bytes that were loaded as asked.
    pub loaded_bytes: u64,
    /// Duration of loading.
    pub elapsed: Duration,
    /// Bytes that are in memory now (mincore(2)), or why that is not known. The kernel tells it of
    /// files that this user may write, and says of all others that they are in memory.
    pub resident_bytes: Result<u64, String>,
    /// Bytes that are mapped by huge pages now (`/proc/self/smaps`), or why that is not known.
    pub huge_bytes: Result<u64, String>,
    /// Reasons for which not all was done, one line each.
    pub shortfalls: Vec<String>,
}

impl PreloadReport {
    /// Bytes loaded each second.
    pub fn bytes_per_s(&self) -> f64 {
        self.loaded_bytes as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

impl fmt::Display for PreloadReport {
    /// `preload touch: 120.0 MB of 120.0 MB in 3 files, 0.05 s; resident 120.0 MB; huge pages 0.0 MB`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mb = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
        let or_why = |bytes: &Result<u64, String>| match bytes {
            Ok(bytes) => mb(*bytes),
            Err(why) => format!("unknown ({why})"),
        };
        write!(
            f,
            "preload {}: {} of {} in {} file{}, {:.2} s; resident {}; huge pages {}",
            self.asked,
            mb(self.loaded_bytes),
            mb(self.bytes),
            self.files_count,
            if self.files_count == 1 { "" } else { "s" },
            self.elapsed.as_secs_f64(),
            or_why(&self.resident_bytes),
            or_why(&self.huge_bytes),
        )?;
        self.shortfalls
            .iter()
            .try_for_each(|why| write!(f, "; {why}"))
    }
}

/// A file of a [`PreloadedStorage`].
#[derive(Debug, Clone)]
pub struct LoadedFile {
    /// Bytes of the file: in memory, or as before where loading failed.
    region: Region,
    /// Bytes of it that were loaded as asked.
    loaded_bytes: u64,
}

/// A storage some of whose files are in memory already. Everything else is as in the one below.
#[derive(Debug)]
pub struct PreloadedStorage {
    storage: SharedStorage,
    asked: Preload,
    /// Files by name.
    files: BTreeMap<String, LoadedFile>,
    elapsed: Duration,
    shortfalls: Vec<String>,
}

impl PreloadedStorage {
    /// Loads the files `names` of `storage` as `options` say. A file that cannot be opened is an error. A file that
    /// cannot be loaded is used as it is, and [`PreloadedStorage::report`] has the reason.
    pub fn load(
        storage: SharedStorage,
        names: &[String],
        options: &PreloadOptions,
        on_progress: &mut OnProgress,
    ) -> Result<PreloadedStorage, StorageError> {
        PreloadedStorage::load_beside(storage, names, Vec::new(), options, on_progress)
    }

    /// Loads files as [`PreloadedStorage::load`] does, beside files that were loaded before: by name, as
    /// [`PreloadedStorage::loaded`] gave them.
    pub fn load_beside(
        storage: SharedStorage,
        names: &[String],
        kept: Vec<(String, LoadedFile)>,
        options: &PreloadOptions,
        on_progress: &mut OnProgress,
    ) -> Result<PreloadedStorage, StorageError> {
        let begun = Instant::now();
        let mut opened = BTreeMap::new();
        for name in names {
            opened.insert(name.clone(), storage.open(name)?);
        }
        let lengths: Vec<u64> = opened.values().map(|region| region.len() as u64).collect();
        let bytes_total = lengths.iter().sum();
        let mut bytes_done = 0;
        let mut stopped = false;
        let mut on_bytes = |bytes: usize| {
            bytes_done += bytes as u64;
            let progress = PreloadProgress {
                bytes_done,
                bytes_total,
                elapsed: begun.elapsed(),
            };
            let next = on_progress(progress);
            stopped |= next.is_break();
            next
        };
        let mut loader = load::Loader::new(options, &lengths, &mut on_bytes);
        let mut files: BTreeMap<String, LoadedFile> = opened
            .into_iter()
            .map(|(name, region)| {
                let before = loader.loaded_bytes();
                let region = loader.load(&storage.location().join(&name), region);
                let loaded_bytes = loader.loaded_bytes() - before;
                (
                    name,
                    LoadedFile {
                        region,
                        loaded_bytes,
                    },
                )
            })
            .collect();
        let mut shortfalls = loader.finish();
        files.extend(kept);
        if stopped {
            shortfalls.push("it was stopped".into());
        }
        Ok(PreloadedStorage {
            storage,
            asked: options.preload,
            files,
            elapsed: begun.elapsed(),
            shortfalls,
        })
    }

    /// Returns a file as it was loaded, for a storage that is to have it too; `None` where it is read from the storage
    /// below.
    pub fn loaded(&self, name: &str) -> Option<LoadedFile> {
        self.files.get(name).cloned()
    }

    /// Returns the result of loading, measured anew.
    pub fn report(&self) -> PreloadReport {
        let regions = || self.files.values().map(|file| &file.region);
        PreloadReport {
            asked: self.asked,
            files_count: self.files.len(),
            bytes: regions().map(|region| region.len() as u64).sum(),
            loaded_bytes: self.files.values().map(|file| file.loaded_bytes).sum(),
            elapsed: self.elapsed,
            resident_bytes: regions()
                .map(|region| measure::resident_bytes(region))
                .sum(),
            huge_bytes: measure::huge_bytes(regions().map(|region| region.as_ptr_range())),
            shortfalls: self.shortfalls.clone(),
        }
    }
}

impl StorageDelegation for PreloadedStorage {
    fn inner(&self) -> &dyn Storage {
        &*self.storage
    }

    fn open_file(&self, name: &str) -> Result<OpenFile, StorageError> {
        match self.files.get(name) {
            Some(file) => Ok(OpenFile::Region(file.region.clone())),
            None => self.storage.open_file(name),
        }
    }
}
