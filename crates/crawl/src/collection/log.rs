//! Log of facts: files of checksummed entries, of which the last about a page holds.
//!
//! file  := magic entry*
//! entry := length:u32le checksum:u64le kind:u8 payload          the checksum is of kind and payload
//! kind  := 1 page · 2 gone: url_hash · 3 settled: url_hash derived · 4 alias: url_hash url_hash · 5 probe: origin text
//!
//! Example, `gone` of the hash 7: 08 00 00 00 · checksum · 02 · 07 00 00 00 00 00 00 00. A run begins a file of its own; an
//! entry that cannot be read ends its file, since what is lost is read again from the archive.

use vfs::{Region, SharedStorage, StorageError, WriteFile};
use xxhash_rust::xxh3::xxh3_64;

const PREFIX: &str = "facts-";
const SUFFIX: &str = ".log";
const MAGIC: &[u8; 8] = b"STfacts1";
const HEAD_BYTES: usize = 13;

/// Entry of the log without its frame: kind and payload.
pub(super) type Entry<'a> = (u8, &'a [u8]);

/// Place of an entry's payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EntryPlace {
    file: u32,
    length_bytes: u32,
    at: u64,
}

/// Files of the log, and the one that is written.
pub(super) struct FactsLog {
    storage: SharedStorage,
    number: u32,
    file: Option<Box<dyn WriteFile>>,
    end: u64,
    is_synced: bool,
    /// Mapped files by their numbers.
    read: Vec<(u32, Region)>,
}

impl FactsLog {
    /// Opens the log and gives each entry to `each`. Returns it with its files and the bytes of them that can be read.
    pub(super) fn open(
        storage: SharedStorage,
        each: &mut dyn FnMut(EntryPlace, Entry<'_>),
    ) -> Result<(FactsLog, Vec<(u32, u64)>), StorageError> {
        let numbers = numbers(&storage)?;
        let (mut read, mut ends) = (Vec::new(), Vec::new());
        for &number in &numbers {
            let bytes = storage.open(&name(number))?;
            let end = each_entry(&bytes, &mut |at, entry| {
                each(place(number, at, entry.1), entry);
            });
            ends.push((number, end as u64));
            read.push((number, bytes));
        }
        let log = FactsLog {
            storage,
            number: numbers.last().copied().unwrap_or(0),
            file: None,
            end: 0,
            is_synced: true,
            read,
        };
        Ok((log, ends))
    }

    /// Appends an entry.
    pub(super) fn append(&mut self, kind: u8, payload: &[u8]) -> Result<EntryPlace, StorageError> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                self.number += 1;
                let name = name(self.number);
                let mut created = self.storage.create(&name)?;
                let failed = |error| {
                    StorageError::from_io("write", &self.storage.location().join(&name), error)
                };
                created.write_all(MAGIC).map_err(failed)?;
                self.storage.sync_directory()?;
                self.end = MAGIC.len() as u64;
                self.file.insert(created)
            }
        };
        let mut entry = Vec::with_capacity(HEAD_BYTES + payload.len());
        entry.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        entry.extend_from_slice(&[0; 8]);
        entry.push(kind);
        entry.extend_from_slice(payload);
        let checksum = xxh3_64(&entry[12..]);
        entry[4..12].copy_from_slice(&checksum.to_le_bytes());
        let path = || self.storage.location().join(name(self.number));
        file.write_all(&entry)
            .map_err(|error| StorageError::from_io("write", &path(), error))?;
        self.is_synced = false;
        let at = self.end + HEAD_BYTES as u64;
        self.end += entry.len() as u64;
        Ok(place(self.number, at as usize, payload))
    }

    /// Makes everything appended durable.
    pub(super) fn sync(&mut self) -> Result<(), StorageError> {
        if let (Some(file), false) = (&mut self.file, self.is_synced) {
            file.sync()?;
            self.is_synced = true;
        }
        Ok(())
    }

    /// Returns the number and the length of the file being written; of a closed log, the number of its last file, and
    /// 0.
    pub(super) fn end(&self) -> (u32, u64) {
        match self.file {
            Some(_) => (self.number, self.end),
            None => (self.number, 0),
        }
    }

    /// Makes everything durable and closes the file.
    pub(super) fn close(&mut self) -> Result<(), StorageError> {
        match self.file.take() {
            Some(file) => file.finish(),
            None => Ok(()),
        }
    }

    /// Makes everything appended so far readable.
    pub(super) fn map(&mut self) -> Result<(), StorageError> {
        self.sync()?;
        if self.file.is_some() {
            let bytes = self.storage.open(&name(self.number))?;
            self.read.retain(|(number, _)| *number != self.number);
            self.read.push((self.number, bytes));
        }
        Ok(())
    }

    /// Returns the payload at a place that was mapped.
    pub(super) fn payload(&self, place: EntryPlace) -> Option<&[u8]> {
        let (_, bytes) = self
            .read
            .iter()
            .rev()
            .find(|(number, _)| *number == place.file)?;
        let at = usize::try_from(place.at).ok()?;
        bytes.get(at..at.checked_add(place.length_bytes as usize)?)
    }

    /// Replaces all files by one with the entries that `write` appends.
    pub(super) fn rewrite(
        &mut self,
        write: &mut dyn FnMut(&mut FactsLog) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        self.close()?;
        let obsolete = numbers(&self.storage)?;
        write(self)?;
        self.map()?;
        // A crash before leaves both: entries of the new file repeat those of the old ones.
        for number in obsolete {
            self.storage.remove(&name(number))?;
            self.read.retain(|(read, _)| *read != number);
        }
        self.storage.sync_directory()
    }
}

/// Gives each entry of a file with the offset of its payload, up to one that cannot be read. Returns where that is.
fn each_entry(bytes: &[u8], each: &mut dyn FnMut(usize, Entry<'_>)) -> usize {
    let mut at = MAGIC.len();
    if bytes.get(..at) != Some(MAGIC) {
        return 0;
    }
    while let Some(head) = bytes.get(at..at + HEAD_BYTES) {
        let (length, checksum) = (&head[..4], &head[4..12]);
        let length = length
            .iter()
            .rev()
            .fold(0usize, |sum, &byte| sum << 8 | usize::from(byte));
        let from = at + HEAD_BYTES;
        let Some(payload) = bytes.get(from..from + length) else {
            break;
        };
        let found = xxh3_64(&bytes[from - 1..from + length]).to_le_bytes();
        if found != *checksum {
            break;
        }
        each(from, (head[12], payload));
        at = from + length;
    }
    at
}

fn place(file: u32, at: usize, payload: &[u8]) -> EntryPlace {
    EntryPlace {
        file,
        length_bytes: payload.len() as u32,
        at: at as u64,
    }
}

fn name(number: u32) -> String {
    format!("{PREFIX}{number:08}{SUFFIX}")
}

fn numbers(storage: &SharedStorage) -> Result<Vec<u32>, StorageError> {
    let names = storage.list()?;
    let number = |name: &String| -> Option<u32> {
        name.strip_prefix(PREFIX)?
            .strip_suffix(SUFFIX)?
            .parse()
            .ok()
    };
    let mut numbers: Vec<u32> = names.iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use vfs::MemoryStorage;

    fn entries(bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let mut found = Vec::new();
        each_entry(bytes, &mut |_, (kind, payload)| {
            found.push((kind, payload.to_vec()))
        });
        found
    }

    #[test]
    fn a_torn_or_damaged_file_keeps_the_entries_before() {
        let disk = MemoryStorage::new();
        let (mut log, _) = FactsLog::open(Arc::new(disk.clone()), &mut |_, _| {}).unwrap();
        for (kind, payload) in [(1, &b"first"[..]), (2, b""), (3, b"third")] {
            log.append(kind, payload).unwrap();
        }
        log.close().unwrap();
        let whole = disk.read_raw(&name(1)).unwrap();
        assert_eq!(entries(&whole).len(), 3);
        for end in 0..whole.len() {
            let kept = entries(&whole[..end]);
            assert!(
                kept.len() < 3 && entries(&whole).starts_with(&kept),
                "{end}"
            );
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            let kept = entries(&damaged);
            assert!(kept.len() < 3 && entries(&whole).starts_with(&kept), "{at}");
        }
    }

    #[test]
    fn places_hold_after_a_rewrite() {
        let storage: SharedStorage = Arc::new(MemoryStorage::new());
        for _ in 0..3 {
            let (mut log, _) = FactsLog::open(storage.clone(), &mut |_, _| {}).unwrap();
            log.append(1, b"old").unwrap();
            log.close().unwrap();
        }
        let (mut log, ends) = FactsLog::open(storage.clone(), &mut |_, _| {}).unwrap();
        assert_eq!(ends.len(), 3);
        let mut at = EntryPlace::default();
        log.rewrite(&mut |log| {
            at = log.append(1, b"new")?;
            Ok(())
        })
        .unwrap();
        assert_eq!(log.payload(at), Some(&b"new"[..]));
        assert_eq!(numbers(&storage).unwrap().len(), 1);
    }
}
