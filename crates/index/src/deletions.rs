//! The documents of a segment that later documents replaced: one bit each.
//!
//! ```text
//! payload := documents:u32le bits[documents / 8, rounded up]
//! ```
//! A deletions file is written whole by every commit that deletes; the older one goes with its generation.

use crate::IndexError;
use crate::live::LiveFile;
use crate::sealed::{Identity, Seal, SealedWriter, open_live, read_u32};
use std::sync::Arc;
use vfs::SharedStorage;

/// A set of documents of one segment.
#[derive(Debug, Clone)]
pub(crate) struct Deletions {
    bits: Vec<u64>,
    documents_count: u32,
    count: u32,
    /// Not read any more, but needed when the index is opened again.
    file: Option<Arc<LiveFile>>,
}

impl Deletions {
    pub(crate) fn none(documents_count: u32) -> Deletions {
        let bits = vec![0; documents_count.div_ceil(64) as usize];
        Deletions {
            bits,
            documents_count,
            count: 0,
            file: None,
        }
    }

    #[inline]
    pub(crate) fn contains(&self, doc: u32) -> bool {
        self.bits
            .get(doc as usize / 64)
            .is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    /// Adds a document; whether it was not there yet.
    pub(crate) fn insert(&mut self, doc: u32) -> bool {
        debug_assert!(doc < self.documents_count);
        let new = !self.contains(doc);
        self.bits[doc as usize / 64] |= 1 << (doc % 64);
        self.count += u32::from(new);
        new
    }

    /// Clears the bits of deleted documents in `words`, bits of the documents from `base` on, a multiple of 64.
    pub(crate) fn clear_in(&self, base: u32, words: &mut [u64]) {
        debug_assert!(base.is_multiple_of(64));
        let deleted = self.bits.iter().skip(base as usize / 64);
        for (word, deleted) in words.iter_mut().zip(deleted) {
            *word &= !deleted;
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn docs(&self) -> impl Iterator<Item = u32> {
        (0..self.documents_count).filter(|&doc| self.contains(doc))
    }

    pub(crate) fn write(
        &self,
        storage: &SharedStorage,
        name: &str,
        identity: Identity,
    ) -> Result<Seal, IndexError> {
        let mut out = SealedWriter::create(storage, name, identity)?;
        out.write(&self.documents_count.to_le_bytes())?;
        let bytes: Vec<u8> = self
            .bits
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        out.write(&bytes[..self.documents_count.div_ceil(8) as usize])?;
        out.finish()
    }

    pub(crate) fn open(
        storage: &SharedStorage,
        name: &str,
        identity: Identity,
        seal: Seal,
        documents_count: u32,
    ) -> Result<Deletions, IndexError> {
        let (payload, file) = open_live(storage, name, identity, seal)?;
        let bytes = documents_count.div_ceil(8) as usize;
        if read_u32(&payload, 0) != documents_count || payload.len() != 4 + bytes {
            return Err(IndexError::Damaged {
                path: storage.location().join(name),
                offset: payload.file_offset(),
                what: format!(
                    "these are not deletions of a segment of {documents_count} documents"
                ),
            });
        }
        let mut deletions = Deletions::none(documents_count);
        for doc in 0..documents_count {
            if payload[4 + doc as usize / 8] >> (doc % 8) & 1 == 1 {
                deletions.insert(doc);
            }
        }
        deletions.file = Some(file);
        Ok(deletions)
    }

    /// The file that they were read from.
    pub(crate) fn file(&self) -> Option<&Arc<LiveFile>> {
        self.file.as_ref()
    }
}
