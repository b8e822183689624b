//! Writer of sealed files, which computes block checksums as it writes.

use super::{BLOCK_BYTES, END_MAGIC, HEADER_BYTES, Identity, Seal};
use crate::IndexError;
use std::io::Write;
use vfs::{SharedStorage, StorageError, WriteFile};

/// Writer of a payload between header and footer.
pub(crate) struct SealedWriter {
    file: Box<dyn WriteFile>,
    path: std::path::PathBuf,
    payload_bytes: u64,
    block: crc32fast::Hasher,
    block_fill: usize,
    block_checksums: Vec<u8>,
}

impl SealedWriter {
    pub(crate) fn create(
        storage: &SharedStorage,
        name: &str,
        identity: Identity,
    ) -> Result<SealedWriter, IndexError> {
        let mut writer = SealedWriter {
            file: storage.create(name)?,
            path: storage.location().join(name),
            payload_bytes: 0,
            block: crc32fast::Hasher::new(),
            block_fill: 0,
            block_checksums: Vec::new(),
        };
        writer.write(&identity.header())?;
        writer.payload_bytes = 0;
        Ok(writer)
    }

    /// Returns the number of payload bytes written, which is the payload offset of the next write.
    pub(crate) fn position(&self) -> u64 {
        self.payload_bytes
    }

    /// Returns an error that the data being written are inconsistent, because their source is.
    pub(crate) fn damaged(&self, what: &str) -> IndexError {
        IndexError::Damaged {
            path: self.path.clone(),
            offset: HEADER_BYTES as u64 + self.payload_bytes,
            what: what.to_owned(),
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), IndexError> {
        self.file
            .write_all(bytes)
            .map_err(|source| StorageError::from_io("write", &self.path, source))?;
        self.payload_bytes += bytes.len() as u64;
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = rest.len().min(BLOCK_BYTES - self.block_fill);
            self.block.update(&rest[..taken]);
            self.block_fill += taken;
            rest = &rest[taken..];
            if self.block_fill == BLOCK_BYTES {
                self.end_block();
            }
        }
        Ok(())
    }

    fn end_block(&mut self) {
        let hasher = std::mem::take(&mut self.block);
        self.block_checksums
            .extend_from_slice(&hasher.finalize().to_le_bytes());
        self.block_fill = 0;
    }

    /// Writes the footer and syncs the file.
    pub(crate) fn finish(mut self) -> Result<Seal, IndexError> {
        if self.block_fill > 0 {
            self.end_block();
        }
        let mut footer = std::mem::take(&mut self.block_checksums);
        let blocks = (footer.len() / 4) as u32;
        footer.extend_from_slice(&self.payload_bytes.to_le_bytes());
        footer.extend_from_slice(&blocks.to_le_bytes());
        let checksum = crc32fast::hash(&footer);
        footer.extend_from_slice(&checksum.to_le_bytes());
        footer.extend_from_slice(&END_MAGIC);
        let bytes = HEADER_BYTES as u64 + self.payload_bytes + footer.len() as u64;
        let written = self
            .file
            .write_all(&footer)
            .and_then(|()| self.file.flush());
        written.map_err(|source| StorageError::from_io("write", &self.path, source))?;
        self.file.finish()?;
        Ok(Seal { bytes, checksum })
    }
}
