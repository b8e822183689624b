//! Documents of a segment: deletions, hashes and details.

use super::{DetailsReader, Segment, text_hashes};
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
        self.core.details.reader()
    }
}
