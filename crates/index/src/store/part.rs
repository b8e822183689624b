//! Texts of one segment: look-up by URL or hash, and decompression.

use super::location::{ENTRY_BYTES, Location};
use crate::IndexError;
use crate::live::LiveFile;
use crate::row_text::{decompress, read_text};
use crate::sealed::{Identity, Kind, Seal, read_u32, read_u64};
use crate::section::{Section, open_live};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use vfs::SharedStorage;

/// Stored document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredDocument {
    /// URL.
    pub url: String,
    /// The document's own id, or its URL.
    pub id: String,
    /// Title.
    pub title: String,
    /// Body.
    pub body: String,
    /// Further fields.
    pub fields: json::Map,
}

/// Texts of one segment.
#[derive(Debug)]
pub(crate) struct StorePart {
    pub(super) payload: Section,
    pub(super) ends: Section,
    pub(super) entries: Section,
}

/// Raw fields of a stored document, in its decompressed block.
pub(super) struct Fields<'a> {
    pub(super) url: &'a str,
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) body: &'a str,
    pub(super) fields: &'a str,
}

impl StorePart {
    pub(crate) fn open(
        storage: &SharedStorage,
        name: &str,
        index_id: u128,
        segment: u32,
        seal: Seal,
    ) -> Result<StorePart, IndexError> {
        let identity = Identity {
            kind: Kind::Documents,
            index_id,
            number: segment.into(),
        };
        let payload = open_live(storage, name, identity, seal)?;
        let table = payload.len().checked_sub(32);
        let part = |at: usize| {
            let start = payload.read_u64(table? + at) as usize;
            payload.part(start, payload.read_u64(table? + at + 8) as usize)
        };
        match (part(0), part(16)) {
            (Some(ends), Some(entries)) if entries.len().is_multiple_of(ENTRY_BYTES) => {
                Ok(StorePart {
                    ends,
                    entries,
                    payload,
                })
            }
            _ => {
                let what = "the directory of the document store lies outside the file";
                Err(payload.damaged(payload.len() as u64, what))
            }
        }
    }

    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        self.payload.file()
    }

    pub(crate) fn documents_count(&self) -> usize {
        self.entries.len() / ENTRY_BYTES
    }

    /// Returns the hash and location of the document at `rank`, which is below the number of documents.
    pub(crate) fn entry(&self, rank: usize) -> Result<(u64, Location), IndexError> {
        let at = rank * ENTRY_BYTES;
        let entry = self.entries.get(at..at + ENTRY_BYTES);
        let damaged = || {
            self.entries
                .damaged(at as u64, "the directory of texts is unreadable")
        };
        let entry = entry.ok_or_else(damaged)?;
        let location = Location {
            block: read_u32(entry, 8),
            offset: read_u32(entry, 12),
        };
        Ok((read_u64(entry, 0), location))
    }

    /// Decompresses the block of a document into `buffer`; returns its offset there. `url` selects among documents with
    /// one hash; without it, the first is taken.
    pub(super) fn find(
        &self,
        url: Option<&str>,
        hash: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<usize>, IndexError> {
        // Different URLs with one hash are possible, so the URL decides.
        for rank in self.first_rank(hash)?..self.documents_count() {
            let (found_hash, location) = self.entry(rank)?;
            if found_hash != hash {
                break;
            }
            let found = self.fields(location, buffer)?;
            if url.is_none_or(|url| found.url == url) {
                return Ok(Some(location.offset as usize));
            }
        }
        Ok(None)
    }

    /// Returns the bytes of the decompressed block of the first document with the hash, as the block says; `None` where
    /// there is none.
    pub(super) fn block_bytes(&self, hash: u64) -> Option<u32> {
        let rank = self.first_rank(hash).ok()?;
        if rank == self.documents_count() {
            return None;
        }
        let (found_hash, location) = self.entry(rank).ok()?;
        let start = self.block_start(location.block) as usize;
        let bytes = self.payload.get(start..start.checked_add(4)?)?;
        (found_hash == hash).then(|| read_u32(bytes, 0))
    }

    /// Returns whether any document has the hash.
    pub(crate) fn has_hash(&self, hash: u64) -> Result<bool, IndexError> {
        let rank = self.first_rank(hash)?;
        Ok(rank < self.documents_count() && self.entry(rank)?.0 == hash)
    }

    /// Returns the first rank whose hash is at least `hash`.
    pub(super) fn first_rank(&self, hash: u64) -> Result<usize, IndexError> {
        first_rank(hash, self.documents_count(), |rank| Ok(self.entry(rank)?.0))
    }

    pub(super) fn damaged_block(&self, block: u32, start: u64) -> IndexError {
        let what = format!("block {block} of texts unreadable");
        self.payload.damaged(start, &what)
    }

    /// Returns the offset of a block in the payload.
    fn block_start(&self, block: u32) -> u64 {
        let before = (block as usize).checked_sub(1);
        before.map_or(0, |before| self.ends.read_u64(before * 8))
    }

    fn fields<'b>(
        &self,
        location: Location,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Fields<'b>, IndexError> {
        let block = location.block as usize;
        let start = self.block_start(location.block);
        let damaged = || self.damaged_block(location.block, start);
        let end = self.ends.read_u64(block * 8) as usize;
        let bytes = self.payload.get(start as usize..end).ok_or_else(damaged)?;
        decompress(bytes, buffer).ok_or_else(damaged)?;
        let (fields, _) = read_fields(buffer, location.offset as usize).ok_or_else(damaged)?;
        Ok(fields)
    }

    /// Returns the document of a URL, or the first one of its hash where that alone is known; `None` where it is not in this
    /// part.
    pub(crate) fn document(
        &self,
        (url, hash): (Option<&str>, u64),
    ) -> Result<Option<StoredDocument>, IndexError> {
        let mut buffer = Vec::new();
        let found = self.find(url, hash, &mut buffer)?;
        Ok(found
            .and_then(|at| read_fields(&buffer, at))
            .map(|(fields, _)| fields.to_document()))
    }

    pub(crate) fn read(&self, location: Location) -> Result<StoredDocument, IndexError> {
        let mut buffer = Vec::new();
        self.fields(location, &mut buffer)
            .map(|fields| fields.to_document())
    }
}

/// Returns the first of `count` ranks whose hash, by `hash_at`, is at least `hash`; `count` where there is none. Hashes rise with
/// the rank and are spread evenly, so the rank is near the hash's share of all: within √count in nearly all cases, whose
/// entries lie in a few pages.
fn first_rank<E>(
    hash: u64,
    count: usize,
    hash_at: impl Fn(usize) -> Result<u64, E>,
) -> Result<usize, E> {
    let likely = ((u128::from(hash) * count as u128) >> 64) as usize;
    let mut distance = count.isqrt() + 1;
    let (mut low, mut high) = loop {
        let low = likely.saturating_sub(distance);
        let high = likely.saturating_add(distance).min(count);
        if (low == 0 || hash_at(low - 1)? < hash) && (high == count || hash_at(high)? >= hash) {
            break (low, high);
        }
        distance = distance.saturating_mul(2);
    };
    while low < high {
        let middle = low + (high - low) / 2;
        match hash_at(middle)? < hash {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Ok(low)
}

/// Reads the document at `offset` of a decompressed block; returns it and its end.
pub(super) fn read_fields(block: &[u8], offset: usize) -> Option<(Fields<'_>, usize)> {
    let mut at = offset;
    let mut next = || read_text(block, &mut at);
    let fields = Fields {
        url: next()?,
        id: next()?,
        title: next()?,
        body: next()?,
        fields: next()?,
    };
    Some((fields, at))
}

impl Fields<'_> {
    pub(super) fn to_document(&self) -> StoredDocument {
        StoredDocument {
            url: self.url.to_owned(),
            id: if self.id.is_empty() {
                self.url
            } else {
                self.id
            }
            .to_owned(),
            title: self.title.to_owned(),
            body: self.body.to_owned(),
            fields: json::parse_object(self.fields).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    proptest! {
        #[test]
        fn a_hash_is_found_as_by_bisection_however_hashes_are_spread(
            even in prop::collection::vec(any::<u64>(), 0..400),
            near in prop::collection::vec(0u64..20, 0..400),
            wanted in prop_oneof![any::<u64>(), 0u64..22, Just(u64::MAX)],
        ) {
            let mut hashes = [even, near].concat();
            hashes.sort_unstable();
            let found = |hash| first_rank(hash, hashes.len(), |rank| Ok::<_, Infallible>(hashes[rank]));
            for hash in hashes.iter().copied().chain([wanted]) {
                let expected = hashes.partition_point(|&one| one < hash);
                prop_assert_eq!(found(hash), Ok(expected));
            }
        }
    }
}
