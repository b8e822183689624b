//! A folder of the file system, whose storages are its subdirectories.

use super::{StorageFolder, ensure_name, is_storage_name};
use crate::real::{failed, sync};
use crate::{RealStorage, SharedStorage, StorageError};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Prefix of the names of removed storages, which no storage can have.
const REMOVED: &str = ".removed-";

/// A folder of the file system. A storage may be a symbolic link to a directory; removing it removes the link alone.
#[derive(Debug)]
pub struct RealFolder {
    directory: PathBuf,
    removed_count: AtomicU64,
}

impl RealFolder {
    /// Uses an existing directory.
    ///
    /// # Errors
    /// There is no directory, or it cannot be read.
    pub fn open(directory: impl AsRef<Path>) -> Result<RealFolder, StorageError> {
        let directory = directory.as_ref().to_owned();
        fs::read_dir(&directory).map_err(failed("list", &directory))?;
        Ok(RealFolder {
            directory,
            removed_count: AtomicU64::new(0),
        })
    }

    /// Removes what is left of storages whose removal was interrupted.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn end_removals(&self) -> Result<(), StorageError> {
        let failed = failed("list", &self.directory);
        for entry in fs::read_dir(&self.directory).map_err(&failed)? {
            let name = entry.map_err(&failed)?.file_name();
            if name.to_str().is_some_and(is_removed_name) {
                // Another process may remove it too.
                let _ = remove_entry(&self.directory.join(name));
            }
        }
        Ok(())
    }

    fn path_of(&self, name: &str) -> Result<PathBuf, StorageError> {
        ensure_name(self.directory.clone(), name)?;
        Ok(self.directory.join(name))
    }
}

impl StorageFolder for RealFolder {
    fn location(&self) -> PathBuf {
        self.directory.clone()
    }

    fn list(&self) -> Result<Vec<String>, StorageError> {
        let failed = failed("list", &self.directory);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            // Through links, which may lead nowhere.
            let is_directory = || fs::metadata(entry.path()).is_ok_and(|found| found.is_dir());
            if let Some(name) = entry.file_name().to_str()
                && is_storage_name(name)
                && is_directory()
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    fn open(&self, name: &str) -> Result<Option<SharedStorage>, StorageError> {
        let path = self.path_of(name)?;
        match fs::metadata(&path) {
            Ok(found) if !found.is_dir() => Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            _ => Ok(Some(Arc::new(RealStorage::open(path)?))),
        }
    }

    fn create(&self, name: &str) -> Result<SharedStorage, StorageError> {
        Ok(Arc::new(RealStorage::create_directory(
            self.path_of(name)?,
        )?))
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        let path = self.path_of(name)?;
        let number = self.removed_count.fetch_add(1, Ordering::Relaxed);
        let removed = format!("{REMOVED}{}-{number}-{name}", std::process::id());
        let removed = self.directory.join(removed);
        match fs::rename(&path, &removed) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(StorageError::from_io("remove", &path, error)),
        }
        sync(&self.directory)?;
        // It has no name any more: what is left of its files takes room until the folder is opened again, and no more.
        if let Err(error) = remove_entry(&removed) {
            return Err(StorageError::from_io("remove", &removed, error));
        }
        Ok(())
    }
}

/// Returns whether a name is one that [`RealFolder::remove`] gives: process, number and name follow the prefix. Others are
/// of somebody else.
fn is_removed_name(name: &str) -> bool {
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    let mut parts = name.strip_prefix(REMOVED).unwrap_or("").splitn(3, '-');
    let [process, number, name] = [parts.next(), parts.next(), parts.next()];
    process.is_some_and(is_number)
        && number.is_some_and(is_number)
        && name.is_some_and(is_storage_name)
}

/// Removes a directory with its files, or a link alone.
fn remove_entry(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}
