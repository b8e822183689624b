//! Documents of a segment: deletions, hashes and details.

use super::{Segment, details, text_hashes};
use crate::row_text::decompress;
use crate::{Details, DocId, IndexError};

impl Segment {
    /// Returns whether a later document replaced `doc`.
    #[inline]
    pub fn is_deleted(&self, doc: DocId) -> bool {
        self.deletions
            .as_ref()
            .is_some_and(|deletions| deletions.contains(doc.0))
    }

    /// Returns whether any document is deleted. Searches without deletions skip the test of each document.
    pub fn has_deletions(&self) -> bool {
        self.deletions.is_some()
    }

    /// Clears the bits of deleted documents in `words`, whose first bit is the document `base`, a multiple of 64.
    #[inline]
    pub fn clear_deleted(&self, base: u32, words: &mut [u64]) {
        if let Some(deletions) = &self.deletions {
            deletions.clear_in(base, words);
        }
    }

    /// Counts the documents that are not deleted.
    pub fn live_documents_count(&self) -> u32 {
        let deleted = self
            .deletions
            .as_ref()
            .map_or(0, |deletions| deletions.count());
        self.core.meta.documents_count.saturating_sub(deleted)
    }

    /// Returns the hash of the URL, which breaks ties and finds the text.
    #[inline]
    pub fn url_hash(&self, doc: DocId) -> u64 {
        self.core.hashes.url(doc)
    }

    /// Returns the hash of the site, for the per-site limit before details are read.
    #[inline]
    pub fn site_hash(&self, doc: DocId) -> u64 {
        self.core.hashes.both(doc).1
    }

    /// Returns the hashes of the URL and of the site.
    #[inline]
    pub fn hashes(&self, doc: DocId) -> (u64, u64) {
        self.core.hashes.both(doc)
    }

    /// Returns the hash of title and body, which documents of one text have in common; `None` where there is no body, or
    /// the segment was written before it had such hashes.
    #[inline]
    pub fn text_hash(&self, doc: DocId) -> Option<u64> {
        let hash = self.core.text_hashes.as_ref()?.get(doc);
        (hash != text_hashes::NONE).then_some(hash)
    }

    /// Prefetches the hashes of a document.
    #[inline]
    pub fn prefetch_hashes(&self, doc: DocId) {
        self.core.hashes.prefetch(doc);
    }

    /// Checks the hash of a document's text.
    pub(crate) fn check_text_hash(
        &self,
        doc: DocId,
        title: &str,
        body: &str,
    ) -> Result<(), IndexError> {
        match &self.core.text_hashes {
            Some(hashes)
                if ![text_hashes::NONE, text_hashes::hash_of(title, body)]
                    .contains(&hashes.get(doc)) =>
            {
                Err(hashes.damaged(doc))
            }
            _ => Ok(()),
        }
    }

    /// Checks the sites; an error describes the first defect.
    pub(crate) fn check_sites(&self) -> Result<(), String> {
        self.core.hashes.check(self.core.meta.documents_count)
    }

    /// Returns the documents whose URLs have a hash, in increasing order. They are sorted by hash at the first call, for queries
    /// that name documents, and stay in memory with the segment: four bytes a document.
    ///
    /// # Errors
    /// A file that changed meanwhile.
    pub(crate) fn docs_of_hash(&self, hash: u64) -> Result<&[u32], IndexError> {
        let files = [&**self.file()];
        let docs = (self.core.by_hash).get_or_derive(files, || Ok(self.docs_by_hash()))?;
        let hash_of = |doc: &u32| self.url_hash(DocId(*doc));
        let from = docs.partition_point(|doc| hash_of(doc) < hash);
        let rest = docs.get(from..).unwrap_or_default();
        let count = rest.partition_point(|doc| hash_of(doc) == hash);
        Ok(rest.get(..count).unwrap_or_default())
    }

    /// Returns the documents in the order of (URL hash, id). Sorted on each call, because checks and rewrites need it once.
    pub(crate) fn docs_by_hash(&self) -> Vec<u32> {
        let mut docs: Vec<u32> = (0..self.core.meta.documents_count).collect();
        docs.sort_by_cached_key(|&doc| self.url_hash(DocId(doc)));
        docs
    }

    /// Returns the details of a document. For several documents, [`Self::details_reader`] is faster.
    pub fn details(&self, doc: DocId) -> Result<Details, IndexError> {
        self.details_reader().read(doc)
    }

    /// Returns a reader of the details of several documents.
    pub fn details_reader(&self) -> DetailsReader<'_> {
        DetailsReader {
            segment: self,
            block: None,
            rows: Vec::new(),
        }
    }

    pub(super) fn details_block(&self, block: usize) -> Option<&[u8]> {
        let end = self.core.details_offsets.read_u64(block * 8) as usize;
        let start = block
            .checked_sub(1)
            .map_or(0, |b| self.core.details_offsets.read_u64(b * 8));
        self.core.details.get(start as usize..end)
    }
}

/// Reader of the details of a segment. It keeps the block that it read last, so documents in order cost one
/// decompression a block.
pub struct DetailsReader<'a> {
    segment: &'a Segment,
    /// Number of the block in `rows`; `None` before the first one and after an error.
    block: Option<usize>,
    rows: Vec<u8>,
}

impl DetailsReader<'_> {
    /// Returns the details of a document.
    ///
    /// # Errors
    /// A document that the segment does not have, or damage.
    pub fn read(&mut self, doc: DocId) -> Result<Details, IndexError> {
        let core = &self.segment.core;
        let block = doc.0 as usize / details::BLOCK_DOCUMENTS;
        let mut read = || {
            if doc.0 >= core.meta.documents_count {
                return None;
            }
            if self.block != Some(block) {
                self.block = None;
                decompress(self.segment.details_block(block)?, &mut self.rows)?;
                self.block = Some(block);
            }
            details::read_row(&self.rows, doc.0 as usize % details::BLOCK_DOCUMENTS)
        };
        read().ok_or_else(|| {
            let offset = block
                .checked_sub(1)
                .map_or(0, |before| core.details_offsets.read_u64(before * 8));
            let what = format!("details of document {} unreadable", doc.0);
            core.details.damaged(offset, &what)
        })
    }
}

impl std::fmt::Debug for DetailsReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DetailsReader")
            .field("segment", &self.segment.id())
            .field("block", &self.block)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::{BuildOptions, DocId, Index, IndexError, Writer};
    use std::sync::Arc;
    use vfs::{MemoryStorage, SharedStorage};

    #[test]
    fn a_reader_reads_in_any_order_what_single_reads_do() {
        const DOCUMENTS: u32 = 300;
        let storage: SharedStorage = Arc::new(MemoryStorage::new());
        let options = BuildOptions {
            chunks: Some(1),
            ..BuildOptions::default()
        };
        let mut writer = Writer::open(storage.clone(), options).unwrap();
        for number in 0..DOCUMENTS {
            let document = document::Document {
                url: format!("http://s.example/{number}"),
                title: format!("title {number}"),
                ..Default::default()
            };
            writer.add(document).unwrap();
        }
        writer.commit().unwrap();
        let index = Index::open(storage).unwrap();
        let segment = index.segments(0..1).next().unwrap();
        let mut reader = segment.details_reader();
        for step in [1, 7, 131, DOCUMENTS - 1] {
            for doc in (0..DOCUMENTS).map(|at| DocId(at * step % DOCUMENTS)) {
                let single = segment.details(doc).unwrap();
                assert_eq!(reader.read(doc).unwrap(), single, "{doc:?}");
            }
            // An error leaves nothing behind.
            let beyond = reader.read(DocId(DOCUMENTS));
            assert!(matches!(beyond, Err(IndexError::Damaged { .. })));
        }
    }
}
