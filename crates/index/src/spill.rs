//! Spill of a section under construction: in memory while it is small, then in a temporary file.
//!
//! A segment file holds its sections one after another, but they grow at the same time. Each section waits in a spill
//! until it is copied.

use crate::IndexError;
use crate::sealed::SealedWriter;
use std::io::Write;
use std::path::PathBuf;
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
    /// Creates an empty section. `name` is that of the temporary file, used if the section outgrows memory.
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

    /// Returns the folder of the index.
    pub(crate) fn folder(&self) -> PathBuf {
        self.storage.location()
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

    /// Copies the section to the end of `out`; returns its start and its length in bytes.
    pub(crate) fn copy_to(self, out: &mut SealedWriter) -> Result<(u64, u64), IndexError> {
        let (start, bytes) = (out.position(), self.bytes);
        let region = self.into_region()?;
        for (piece, bytes) in region.chunks(1 << 20).enumerate() {
            out.write(bytes)?;
            // The pages are read once and must not count against the memory limit.
            region.release(piece << 20..(piece << 20) + bytes.len());
        }
        Ok((start, bytes))
    }

    /// Returns the whole section for reading. A temporary file disappears when the region is dropped.
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
