//! Writer of one log.

use super::group::{GroupKind, Head, Seed};
use super::record::{write_delete, write_put};
use crate::IndexError;
use crate::manifest;
use crate::names::{log_name, log_number};
use document::Document;
use std::path::PathBuf;
use vfs::{SharedStorage, StorageError, WriteFile};

/// Upper limit on the records of a batch, in bytes.
const BATCH_BYTES_MAX: usize = 1 << 30;

/// Encoded records that become durable together.
#[derive(Debug, Default, Clone)]
pub struct LogBatch {
    raw: Vec<u8>,
    records: u32,
}

impl LogBatch {
    /// Adds a document to put.
    pub fn put(&mut self, document: &Document) {
        write_put(&mut self.raw, document);
        self.records += 1;
    }

    /// Adds the URL of a document to delete.
    pub fn delete(&mut self, url: &str) {
        write_delete(&mut self.raw, url);
        self.records += 1;
    }

    /// Appends the records of another batch.
    pub fn append(&mut self, mut other: LogBatch) {
        self.raw.append(&mut other.raw);
        self.records += other.records;
    }

    /// Returns the number of records.
    pub fn records(&self) -> u32 {
        self.records
    }
}

/// Log that is being written. After an error it takes no further batch; what was acknowledged stays in it.
pub struct LogWriter {
    file: Box<dyn WriteFile>,
    path: PathBuf,
    seed: Seed,
    next_record: u64,
    bytes: u64,
    group: Vec<u8>,
}

impl LogWriter {
    /// Returns the number of the next log of an index, after the logs that its generation contains and the existing
    /// ones.
    ///
    /// # Errors
    /// No index, or a failure of the storage.
    pub fn next_number(storage: &SharedStorage) -> Result<u64, IndexError> {
        let Some(manifest) = manifest::read_newest(storage)? else {
            return Err(IndexError::NoIndex {
                path: storage.location(),
            });
        };
        let names = storage.list()?;
        let numbers = names.iter().filter_map(|name| log_number(name));
        Ok(numbers.chain([manifest.logged]).max().unwrap_or(0) + 1)
    }

    /// Creates a log durably. `index_id` is [`crate::Index::id`]. The log before it must have ended.
    ///
    /// # Errors
    /// A log of this number, or a failure of the storage.
    pub fn create(
        storage: &SharedStorage,
        index_id: &str,
        number: u64,
    ) -> Result<LogWriter, IndexError> {
        let index_id = u128::from_str_radix(index_id, 16).unwrap_or(0);
        let mut log = LogWriter {
            file: storage.create(&log_name(number))?,
            path: storage.location().join(log_name(number)),
            seed: Seed::new(index_id, number),
            next_record: 0,
            bytes: 0,
            group: Vec::new(),
        };
        log.write_group(GroupKind::Mark, &LogBatch::default())?;
        storage.sync_directory()?;
        Ok(log)
    }

    /// Writes the records of a batch. When this returns, they survive a loss of power.
    ///
    /// # Errors
    /// A failure of the storage, after which nobody knows whether the batch is durable; [`IndexError::Removed`] where
    /// the log has lost its name, and with it all its batches.
    pub fn write(&mut self, batch: &LogBatch) -> Result<(), IndexError> {
        self.write_group(GroupKind::Records, batch)?;
        match self.file.has_name() {
            true => Ok(()),
            false => Err(IndexError::Removed {
                path: self.path.clone(),
                what: "the write-ahead log",
            }),
        }
    }

    /// Writes the proof that all batches so far are durable, without waiting for the proof itself.
    ///
    /// # Errors
    /// A failure of the storage.
    pub fn mark(&mut self) -> Result<(), IndexError> {
        self.append_group(GroupKind::Mark, &LogBatch::default())?;
        let flushed = self.file.flush();
        Ok(flushed.map_err(|source| StorageError::from_io("write", &self.path, source))?)
    }

    /// Ends the log durably. No other log may begin before.
    ///
    /// # Errors
    /// A failure of the storage.
    pub fn end(mut self) -> Result<(), IndexError> {
        self.append_group(GroupKind::End, &LogBatch::default())?;
        Ok(self.file.finish()?)
    }

    /// Returns the bytes of the log.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn write_group(&mut self, kind: GroupKind, batch: &LogBatch) -> Result<(), IndexError> {
        self.append_group(kind, batch)?;
        Ok(self.file.sync()?)
    }

    fn append_group(&mut self, kind: GroupKind, batch: &LogBatch) -> Result<(), IndexError> {
        assert!(
            batch.raw.len() <= BATCH_BYTES_MAX,
            "a batch has at most {BATCH_BYTES_MAX} bytes"
        );
        let payload = match batch.raw.is_empty() {
            true => Vec::new(),
            false => lz4_flex::block::compress_prepend_size(&batch.raw),
        };
        let head = Head {
            kind,
            payload_bytes: payload.len() as u32,
            records: batch.records,
            first_record: self.next_record,
            payload_hash: self.seed.hash(&payload),
        };
        self.group.clear();
        self.group.extend_from_slice(&head.to_bytes(self.seed));
        self.group.extend_from_slice(&payload);
        self.group.resize(head.group_bytes(), 0);
        let written = self.file.write_all(&self.group);
        written.map_err(|source| StorageError::from_io("write", &self.path, source))?;
        self.next_record += u64::from(batch.records);
        self.bytes += self.group.len() as u64;
        Ok(())
    }
}

impl std::fmt::Debug for LogWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogWriter")
            .field("records", &self.next_record)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
