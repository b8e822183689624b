//! Writer of the document store of one segment.

use super::location::{BLOCK_BYTES, ENTRY_BYTES, Location};
use crate::IndexError;
use crate::row_text::write_text;
use crate::sealed::{Identity, Kind, Seal, SealedWriter};
use crate::spill::Spill;
use document::Document;
use vfs::SharedStorage;

pub(crate) struct StoreWriter {
    out: SealedWriter,
    block: Vec<u8>,
    compressed: Vec<u8>,
    ends: Spill,
    blocks_count: u32,
    entries: Spill,
    previous_hash: u64,
}

impl StoreWriter {
    pub(crate) fn create(
        storage: &SharedStorage,
        name: &str,
        index_id: u128,
        segment: u32,
    ) -> Result<StoreWriter, IndexError> {
        let identity = Identity {
            kind: Kind::Documents,
            index_id,
            number: segment.into(),
        };
        Ok(StoreWriter {
            out: SealedWriter::create(storage, name, identity)?,
            block: Vec::with_capacity(2 * BLOCK_BYTES),
            compressed: Vec::new(),
            ends: Spill::new(storage, format!("tmp-{name}-ends")),
            blocks_count: 0,
            entries: Spill::new(storage, format!("tmp-{name}-entries")),
            previous_hash: 0,
        })
    }

    /// Adds a document's text; returns its location.
    pub(crate) fn push(&mut self, document: &Document) -> Result<Location, IndexError> {
        let location = self.begin(document.title.len() + document.body.len())?;
        let fields = if document.fields.is_empty() {
            String::new()
        } else {
            serde_json::to_string(&document.fields).unwrap_or_default()
        };
        let id = document.id.as_deref().unwrap_or("");
        for text in [&document.url, id, &document.title, &document.body, &fields] {
            write_text(&mut self.block, text);
        }
        self.end_if_full()?;
        Ok(location)
    }

    /// Adds a document in the encoded form of another store; returns its location.
    pub(crate) fn push_stored(&mut self, document: &[u8]) -> Result<Location, IndexError> {
        let location = self.begin(document.len())?;
        self.block.extend_from_slice(document);
        self.end_if_full()?;
        Ok(location)
    }

    /// Adds a compressed block of another store as it is; returns its number.
    pub(crate) fn push_block(&mut self, block: &[u8]) -> Result<u32, IndexError> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        self.out.write(block)?;
        self.ends.write(&self.out.position().to_le_bytes())?;
        self.blocks_count += 1;
        Ok(self.blocks_count - 1)
    }

    /// Returns whether the open block may end now without being less than half full.
    pub(crate) fn may_end_block(&self) -> bool {
        self.block.is_empty() || self.block.len() >= BLOCK_BYTES / 2
    }

    /// Returns the location of the next document, of about `text_bytes` bytes.
    fn begin(&mut self, text_bytes: usize) -> Result<Location, IndexError> {
        // A long document begins a block, so that reading it decompresses no other.
        if !self.block.is_empty() && self.block.len() + text_bytes > BLOCK_BYTES {
            self.end_block()?;
        }
        Ok(Location {
            block: self.blocks_count,
            offset: self.block.len() as u32,
        })
    }

    fn end_if_full(&mut self) -> Result<(), IndexError> {
        if self.block.len() >= BLOCK_BYTES {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), IndexError> {
        let worst = lz4_flex::block::get_maximum_output_size(self.block.len());
        self.compressed.resize(worst.max(self.compressed.len()), 0);
        let bytes =
            lz4_flex::block::compress_into(&self.block, &mut self.compressed).map_err(|error| {
                IndexError::Mismatch {
                    path: Default::default(),
                    reason: format!("a block of texts cannot be compressed: {error}"),
                }
            })?;
        self.out.write(&(self.block.len() as u32).to_le_bytes())?;
        self.out.write(&self.compressed[..bytes])?;
        self.ends.write(&self.out.position().to_le_bytes())?;
        self.blocks_count += 1;
        self.block.clear();
        Ok(())
    }

    /// Adds the next entry of the directory, in the order of URL hashes.
    pub(crate) fn push_entry(&mut self, hash: u64, location: Location) -> Result<(), IndexError> {
        debug_assert!(hash >= self.previous_hash);
        self.previous_hash = hash;
        let mut entry = [0; ENTRY_BYTES];
        entry[..8].copy_from_slice(&hash.to_le_bytes());
        entry[8..12].copy_from_slice(&location.block.to_le_bytes());
        entry[12..].copy_from_slice(&location.offset.to_le_bytes());
        self.entries.write(&entry)
    }

    pub(crate) fn finish(mut self) -> Result<Seal, IndexError> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let tables = [
            self.ends.copy_to(&mut self.out)?,
            self.entries.copy_to(&mut self.out)?,
        ];
        for (start, bytes) in tables {
            self.out.write(&start.to_le_bytes())?;
            self.out.write(&bytes.to_le_bytes())?;
        }
        self.out.finish()
    }
}
