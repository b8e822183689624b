//! Archive of a crawl: WARC files in its storage, appended to, synced, and cut where a crash tore one.
//!
//! Files are `pages-<number>.warc.gz`, each record a gzip member of its own. A start never appends to an existing file:
//! it begins the next number. A file whose last member is torn is replaced by its whole members, so that any WARC reader
//! takes it.

use crate::frontier::WarcPlace;
use std::io::Write;
use std::path::PathBuf;
use vfs::{Region, SharedStorage, StorageError, WriteFile};
use web::warc;

const PREFIX: &str = "pages-";
const SUFFIX: &str = ".warc.gz";

/// Writer of the WARC files of a crawl.
pub struct Archive {
    storage: SharedStorage,
    file: Option<Box<dyn WriteFile>>,
    number: u32,
    offset_bytes: u64,
    bytes_max: u64,
    is_synced: bool,
}

/// Bytes cut from the end of files at a start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Torn {
    /// Files that ended within a record.
    pub files: u32,
    /// Bytes cut off.
    pub bytes: u64,
}

impl Archive {
    /// Opens the archive, cuts torn files, and begins a new file at the first record.
    pub fn open(storage: SharedStorage, bytes_max: u64) -> Result<(Archive, Torn), StorageError> {
        let numbers = numbers(&storage)?;
        let mut torn = Torn::default();
        // Only the last file can be torn: a file is synced before the next one begins.
        if let Some(&last) = numbers.last() {
            let cut = cut_torn(&storage, last)?;
            torn.files += u32::from(cut > 0);
            torn.bytes += cut;
        }
        let archive = Archive {
            storage,
            file: None,
            number: numbers.last().copied().unwrap_or(0),
            offset_bytes: 0,
            bytes_max,
            is_synced: true,
        };
        Ok((archive, torn))
    }

    /// Appends whole gzip members; returns the place of the `record_at`-th byte of them, which a record begins at.
    pub fn append(
        &mut self,
        members: &[u8],
        record_at: u64,
        record_bytes: u64,
    ) -> Result<WarcPlace, StorageError> {
        if self.file.is_some() && self.offset_bytes >= self.bytes_max {
            self.close()?;
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                self.number += 1;
                self.offset_bytes = 0;
                let created = self.storage.create(&file_name(self.number))?;
                self.storage.sync_directory()?;
                self.file.insert(created)
            }
        };
        let path = || self.storage.location().join(file_name(self.number));
        self.is_synced = false;
        file.write_all(members)
            .map_err(|error| StorageError::from_io("write", &path(), error))?;
        let offset_bytes = self.offset_bytes + record_at;
        self.offset_bytes += members.len() as u64;
        Ok(WarcPlace {
            file: self.number,
            offset_bytes,
            length_bytes: record_bytes,
        })
    }

    /// Makes everything appended durable.
    pub fn sync(&mut self) -> Result<(), StorageError> {
        if let (Some(file), false) = (&mut self.file, self.is_synced) {
            file.sync()?;
            self.is_synced = true;
        }
        Ok(())
    }

    /// Returns the end of the archive: the number of the last file, and its length in bytes.
    pub fn end(&self) -> (u32, u64) {
        match self.file {
            Some(_) => (self.number, self.offset_bytes),
            // Records follow in the next file.
            None => (self.number + 1, 0),
        }
    }

    /// Makes everything durable and closes the file. The next record begins another.
    pub fn close(&mut self) -> Result<(), StorageError> {
        match self.file.take() {
            Some(file) => file.finish(),
            None => Ok(()),
        }
    }
}

/// Returns the name of a WARC file.
pub fn file_name(number: u32) -> String {
    format!("{PREFIX}{number:08}{SUFFIX}")
}

/// Returns the path of a WARC file, for messages.
pub fn path_of(storage: &SharedStorage, number: u32) -> PathBuf {
    storage.location().join(file_name(number))
}

/// Returns the numbers of the WARC files, increasing.
pub fn numbers(storage: &SharedStorage) -> Result<Vec<u32>, StorageError> {
    let names = storage.list()?;
    let mut numbers: Vec<u32> = names
        .iter()
        .filter_map(|name| {
            name.strip_prefix(PREFIX)?
                .strip_suffix(SUFFIX)?
                .parse()
                .ok()
        })
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Opens a WARC file for reading.
pub fn open(storage: &SharedStorage, number: u32) -> Result<Region, StorageError> {
    storage.open(&file_name(number))
}

/// Replaces a file that ends within a member by its whole members. Returns the bytes cut.
fn cut_torn(storage: &SharedStorage, number: u32) -> Result<u64, StorageError> {
    let name = file_name(number);
    let bytes = storage.open(&name)?;
    let path = storage.location().join(&name);
    let whole =
        warc::recover(&bytes[..]).map_err(|error| StorageError::from_io("read", &path, error))?;
    let cut = bytes.len() as u64 - whole;
    if cut == 0 {
        return Ok(0);
    }
    let temporary = format!("tmp-{name}");
    match storage.remove(&temporary) {
        Ok(()) | Err(StorageError::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    let mut out = storage.create(&temporary)?;
    out.write_all(&bytes[..whole as usize])
        .map_err(|error| StorageError::from_io("write", &path, error))?;
    out.finish()?;
    storage.rename(&temporary, &name)?;
    storage.sync_directory()?;
    Ok(cut)
}
