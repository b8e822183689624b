//! Documents of a segment: deletions, hashes and details.

use super::{Segment, details};
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

    /// Prefetches the hashes of a document.
    #[inline]
    pub fn prefetch_hashes(&self, doc: DocId) {
        self.core.hashes.prefetch(doc);
    }

    /// Checks the sites; an error describes the first defect.
    pub(crate) fn check_sites(&self) -> Result<(), String> {
        self.core.hashes.check(self.core.meta.documents_count)
    }

    /// Returns the documents in the order of (URL hash, id). Sorted on each call, because only checks and rewrites need
    /// it.
    pub(crate) fn docs_by_hash(&self) -> Vec<u32> {
        let mut docs: Vec<u32> = (0..self.core.meta.documents_count).collect();
        docs.sort_by_cached_key(|&doc| self.url_hash(DocId(doc)));
        docs
    }

    /// Returns the details of a document.
    pub fn details(&self, doc: DocId) -> Result<Details, IndexError> {
        let block = doc.0 as usize / details::BLOCK_DOCUMENTS;
        let mut rows = Vec::new();
        let read = |rows: &mut Vec<u8>| {
            if doc.0 >= self.core.meta.documents_count {
                return None;
            }
            details::decompress(self.details_block(block)?, rows)?;
            details::read_row(rows, doc.0 as usize % details::BLOCK_DOCUMENTS)
        };
        read(&mut rows).ok_or_else(|| {
            let offset = block
                .checked_sub(1)
                .map_or(0, |b| self.core.details_offsets.read_u64(b * 8));
            let what = format!("details of document {} unreadable", doc.0);
            self.core.details.damaged(offset, &what)
        })
    }

    /// Returns a reader of the details of all documents, in order.
    pub(crate) fn details_in_order(&self) -> DetailsInOrder<'_> {
        DetailsInOrder {
            segment: self,
            next: 0,
            rows: Vec::new(),
        }
    }

    fn details_block(&self, block: usize) -> Option<&[u8]> {
        let end = self.core.details_offsets.read_u64(block * 8) as usize;
        let start = block
            .checked_sub(1)
            .map_or(0, |b| self.core.details_offsets.read_u64(b * 8));
        self.core.details.get(start as usize..end)
    }
}

/// Reader of the details of a segment in order; it decompresses each block once.
pub(crate) struct DetailsInOrder<'a> {
    segment: &'a Segment,
    next: usize,
    rows: Vec<u8>,
}

impl DetailsInOrder<'_> {
    pub(crate) fn next(&mut self) -> Result<Details, IndexError> {
        let (block, row) = (
            self.next / details::BLOCK_DOCUMENTS,
            self.next % details::BLOCK_DOCUMENTS,
        );
        let segment = self.segment;
        let mut read = || {
            if row == 0 {
                details::decompress(segment.details_block(block)?, &mut self.rows)?;
            }
            details::read_row(&self.rows, row)
        };
        let details = read().ok_or_else(|| {
            let what = format!("details of document {} unreadable", self.next);
            segment.core.details.damaged(0, &what)
        })?;
        self.next += 1;
        Ok(details)
    }
}
