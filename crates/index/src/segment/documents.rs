//! Documents of a segment: deletions, hashes and details.

use super::{Segment, details};
use crate::{Details, DocId, IndexError};

impl Segment {
    /// Whether a later document replaced this one.
    #[inline]
    pub fn is_deleted(&self, doc: DocId) -> bool {
        self.deletions
            .as_ref()
            .is_some_and(|deletions| deletions.contains(doc.0))
    }

    /// Whether any document is deleted (so that a search without deletions need not ask for each).
    pub fn has_deletions(&self) -> bool {
        self.deletions.is_some()
    }

    /// Clears the bits of deleted documents in `words`, bits of the documents from `base` on, a multiple of 64.
    #[inline]
    pub fn clear_deleted(&self, base: u32, words: &mut [u64]) {
        if let Some(deletions) = &self.deletions {
            deletions.clear_in(base, words);
        }
    }

    /// Documents that are not deleted.
    pub fn live_documents_count(&self) -> u32 {
        let deleted = self
            .deletions
            .as_ref()
            .map_or(0, |deletions| deletions.count());
        self.core.meta.documents_count.saturating_sub(deleted)
    }

    /// Hash of the URL: breaks ties, and finds the text.
    #[inline]
    pub fn url_hash(&self, doc: DocId) -> u64 {
        self.core.hashes.url(doc)
    }

    /// Hash of the site: limits hits a site before details are known.
    #[inline]
    pub fn site_hash(&self, doc: DocId) -> u64 {
        self.core.hashes.both(doc).1
    }

    /// Both of a document: of its URL, and of its site.
    #[inline]
    pub fn hashes(&self, doc: DocId) -> (u64, u64) {
        self.core.hashes.both(doc)
    }

    /// Asks for the hashes of a document that will be wanted soon, without waiting for them.
    #[inline]
    pub fn prefetch_hashes(&self, doc: DocId) {
        self.core.hashes.prefetch(doc);
    }

    /// What is wrong with the sites, if anything is.
    pub(crate) fn check_sites(&self) -> Result<(), String> {
        self.core.hashes.check(self.core.meta.documents_count)
    }

    /// The documents in order of (URL hash, id): how a later commit finds what it replaces. Sorted when
    /// asked for, since only commits ask.
    pub(crate) fn docs_by_hash(&self) -> Vec<u32> {
        let mut docs: Vec<u32> = (0..self.core.meta.documents_count).collect();
        docs.sort_by_cached_key(|&doc| self.url_hash(DocId(doc)));
        docs
    }

    /// What a hit shows.
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

    /// The details of all documents, one after another.
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

/// Walks the details of a segment, decompressing each block once.
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
