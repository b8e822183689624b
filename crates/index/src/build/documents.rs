//! Documents of a segment under construction, without their words, in order of arrival.
//!
//! Rows and details wait in files until the segment is written, because only then the replaced documents are known.
//! Texts go to the document store at once.

use crate::deletions::Deletions;
use crate::names::documents_name;
use crate::row_text::{read_text, write_text};
use crate::sealed::{read_u32, read_u64};
use crate::segment::text_hashes;
use crate::segment::write::{DocumentRow, SegmentWriter};
use crate::spill::Spill;
use crate::store::{Location, StoreWriter};
use crate::{IndexError, Texts};
use document::Document;
use std::collections::HashMap;
use vfs::{Region, SharedStorage};
use xxhash_rust::xxh3::xxh3_64;

/// `url_hash:u64le site_hash:u64le details_at:u64le block:u32le offset:u32le text_hash:u64le`.
const ROW_BYTES: usize = 40;
/// Rows sorted by hash at once, 64 MB. Larger segments are sorted in ranges of hashes.
const SORTED_MAX: usize = 4 << 20;
/// Bytes after which the pages read are released.
const RELEASE_BYTES: usize = 8 << 20;

/// Documents of a segment as they arrive.
pub(crate) struct Documents {
    rows: Spill,
    details: Spill,
    details_buffer: Vec<u8>,
    /// Writer of texts; `None` in an index without texts.
    store: Option<StoreWriter>,
    count: u32,
    withdrawn: Withdrawn,
}

/// URLs of withdrawn documents, each with the ordinal up to which documents with that URL are gone.
type Withdrawn = HashMap<String, u32>;

/// Complete documents of a segment.
pub(crate) struct AllDocuments {
    rows: Region,
    details: Region,
    withdrawn: Withdrawn,
    pub(crate) store: Option<StoreWriter>,
    pub(crate) count: u32,
}

impl Documents {
    pub(crate) fn new(
        storage: &SharedStorage,
        texts: Texts,
        index_id: u128,
        segment: u32,
    ) -> Result<Documents, IndexError> {
        let name = documents_name(segment);
        Ok(Documents {
            rows: Spill::new(storage, format!("tmp-{segment:08}-rows")),
            details: Spill::new(storage, format!("tmp-{segment:08}-details")),
            details_buffer: Vec::new(),
            store: match texts {
                Texts::Stored => Some(StoreWriter::create(storage, &name, index_id, segment)?),
                Texts::None => None,
            },
            count: 0,
            withdrawn: Withdrawn::new(),
        })
    }

    /// Leaves out the documents of a URL that came so far.
    pub(crate) fn withdraw(&mut self, url: &str) {
        self.withdrawn.insert(url.to_owned(), self.count);
    }

    /// Returns the number of documents so far, replaced ones included.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Adds the next document.
    pub(crate) fn push(
        &mut self,
        document: &Document,
        site: &str,
        url_hash: u64,
    ) -> Result<(), IndexError> {
        let location = match &mut self.store {
            Some(store) => store.push(document)?,
            None => Location::default(),
        };
        let mut row = [0; ROW_BYTES];
        row[..8].copy_from_slice(&url_hash.to_le_bytes());
        row[8..16].copy_from_slice(&xxh3_64(site.as_bytes()).to_le_bytes());
        row[16..24].copy_from_slice(&self.details.bytes().to_le_bytes());
        row[24..28].copy_from_slice(&location.block.to_le_bytes());
        row[28..32].copy_from_slice(&location.offset.to_le_bytes());
        let text_hash = text_hashes::hash_of(&document.title, &document.body);
        row[32..].copy_from_slice(&text_hash.to_le_bytes());
        self.rows.write(&row)?;
        self.details_buffer.clear();
        let id = document.id.as_deref().unwrap_or("");
        for text in [&document.url, id, &document.title] {
            write_text(&mut self.details_buffer, text);
        }
        self.details.write(&self.details_buffer)?;
        self.count += 1;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<AllDocuments, IndexError> {
        Ok(AllDocuments {
            rows: self.rows.into_region()?,
            details: self.details.into_region()?,
            withdrawn: self.withdrawn,
            store: self.store,
            count: self.count,
        })
    }
}

impl AllDocuments {
    fn url_hash(&self, doc: u32) -> u64 {
        read_u64(&self.rows, doc as usize * ROW_BYTES)
    }

    /// Returns the URL, the id (empty where it is the URL) and the title.
    fn details(&self, doc: u32) -> (&str, &str, &str) {
        let mut at = read_u64(&self.rows, doc as usize * ROW_BYTES + 16) as usize;
        // Written by this program before, so it is not cut short.
        let mut next = || read_text(&self.details, &mut at).unwrap_or("");
        (next(), next(), next())
    }

    /// Returns the documents that are left out, and the number of those that were withdrawn. Later ones with the same URL
    /// replace the others.
    pub(crate) fn find_left_out(&self) -> (Deletions, u32) {
        let (mut gone, mut withdrawn_count) = (Deletions::none(self.count), 0);
        self.in_order_of_hash(|sorted| {
            for same in sorted.chunk_by(|a, b| a.0 == b.0) {
                for (at, &(_, doc)) in same.iter().enumerate() {
                    if self.is_withdrawn(doc) {
                        gone.insert(doc);
                        withdrawn_count += 1;
                    } else if same.len() > 1 {
                        let url = self.details(doc).0;
                        let mut later = same[at + 1..].iter();
                        if later.any(|&(_, later)| self.details(later).0 == url) {
                            gone.insert(doc);
                        }
                    }
                }
            }
            Ok(())
        })
        .unwrap_or_default();
        (gone, withdrawn_count)
    }

    fn is_withdrawn(&self, doc: u32) -> bool {
        // Most commits withdraw nothing, and read no URLs here.
        !self.withdrawn.is_empty()
            && self
                .withdrawn
                .get(self.details(doc).0)
                .is_some_and(|&before| doc < before)
    }

    /// Calls `each` with documents and their hashes in the order of (hash, document), one range of hashes at a time.
    fn in_order_of_hash(
        &self,
        mut each: impl FnMut(&[(u64, u32)]) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let parts = (self.count as usize).div_ceil(SORTED_MAX) as u128;
        let mut sorted = Vec::new();
        for part in 0..parts {
            sorted.clear();
            let all = (0..self.count).map(|doc| (self.url_hash(doc), doc));
            let mine = |hash: u64| (u128::from(hash) * parts) >> 64 == part;
            sorted.extend(all.filter(|&(hash, _)| mine(hash)));
            sorted.sort_unstable();
            each(&sorted)?;
        }
        Ok(())
    }

    /// Writes the documents for which `id_of` returns an id, with their words by field, then their order by hash.
    pub(crate) fn write(
        &mut self,
        lengths: &[[u32; 2]],
        id_of: impl Fn(u32) -> Option<u32>,
        out: &mut SegmentWriter,
    ) -> Result<(), IndexError> {
        let mut released = 0;
        for doc in (0..self.count).filter(|&doc| id_of(doc).is_some()) {
            let row = doc as usize * ROW_BYTES;
            let (url, id, title) = self.details(doc);
            out.push_document(DocumentRow {
                url,
                id: Some(id).filter(|id| !id.is_empty()),
                title,
                url_hash: self.url_hash(doc),
                site_hash: read_u64(&self.rows, row + 8),
                text_hash: read_u64(&self.rows, row + 32),
                lengths: lengths[doc as usize],
            })?;
            let at = read_u64(&self.rows, row + 16) as usize;
            if at - released > RELEASE_BYTES {
                self.details.release(released..at);
                released = at;
            }
        }
        let Some(mut store) = self.store.take() else {
            return Ok(());
        };
        self.in_order_of_hash(|sorted| {
            for &(hash, doc) in sorted {
                if id_of(doc).is_none() {
                    continue;
                }
                let row = doc as usize * ROW_BYTES;
                let location = Location {
                    block: read_u32(&self.rows, row + 24),
                    offset: read_u32(&self.rows, row + 28),
                };
                store.push_entry(hash, location)?;
            }
            Ok(())
        })?;
        self.store = Some(store);
        Ok(())
    }
}
