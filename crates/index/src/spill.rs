//! A section that grows beside others: in memory while small, then in a file of its own.
//!
//! A segment file holds its sections one after another, but they are made all at once. Each waits
//! in a spill until it is its turn to be copied.

use crate::IndexError;
use crate::sealed::SealedWriter;
use std::io::Write;
use vfs::{Region, SharedStorage, StorageError, WriteFile};

const MEMORY_BYTES_MAX: usize = 1 << 20;

pub(crate) struct Spill {
    storage: SharedStorage,
    name: String,
    buffer: Vec<u8>,
    file: Option<Box<dyn WriteFile>>,
    bytes: u64,
}

impl Spill {
    /// `name` is used only if the section outgrows memory.
    pub(crate) fn new(storage: &SharedStorage, name: String) -> Spill {
        Spill {
            storage: storage.clone(),
            name,
            buffer: Vec::new(),
            file: None,
            bytes: 0,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), IndexError> {
        self.buffer.extend_from_slice(bytes);
        self.bytes += bytes.len() as u64;
        if self.buffer.len() >= MEMORY_BYTES_MAX {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(self.storage.create(&self.name)?),
        };
        file.write_all(&self.buffer).map_err(|source| {
            StorageError::from_io("write", &self.storage.location().join(&self.name), source)
        })?;
        self.buffer.clear();
        Ok(())
    }

    /// Copies the section to the end of `out`; returns where it starts and its length.
    pub(crate) fn copy_to(self, out: &mut SealedWriter) -> Result<(u64, u64), IndexError> {
        let (start, bytes) = (out.position(), self.bytes);
        let region = self.into_region()?;
        for (piece, bytes) in region.chunks(1 << 20).enumerate() {
            out.write(bytes)?;
            // Copied once: the pages should not count against the memory given.
            region.release(piece << 20..(piece << 20) + bytes.len());
        }
        Ok((start, bytes))
    }

    /// The whole section, readable. Its file, if it has one, goes when the region does.
    pub(crate) fn into_region(mut self) -> Result<Region, IndexError> {
        if self.file.is_none() {
            return Ok(Region::new(self.buffer));
        }
        self.flush()?;
        if let Some(mut file) = self.file.take() {
            file.flush().map_err(|source| {
                StorageError::from_io("write", &self.storage.location().join(&self.name), source)
            })?;
        }
        let region = self.storage.open(&self.name)?;
        self.storage.remove(&self.name)?;
        Ok(region)
    }
}
