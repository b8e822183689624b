//! Hashes of the URLs and the sites of documents, for ties and limits before details are read.
//!
//! ```text
//! hashes := { url:u64le site:uint }{documents}      site: a number, in as few bytes, 0 to 4, as hold all
//! sites  := hash:u64le{sites}                       increasing; the site of number n is the n-th, from 0
//! ```
//!
//! Example: documents of the sites b, a, b, where b's hash is the lower, have the numbers 0, 1, 0, one byte each. With
//! a single site, numbers take no bytes.
//!
//! Invariants: every number is that of a site; every site is a term of the field site, and has a document. Why numbers:
//! a site has many documents, and its hash is needed only for hits. Why both of a document side by side: a hit needs
//! both.

use super::meta::SegmentMeta;
use crate::sealed::SealedWriter;
use crate::section::Section;
use crate::spill::Spill;
use crate::uint;
use crate::{DocId, IndexError};
use vfs::SharedStorage;
use xxhash_rust::xxh3::xxh3_64;

const URL_BYTES: usize = 8;
const SITE_BYTES: usize = 8;

/// Hashes of all documents of a segment.
#[derive(Debug)]
pub(crate) struct Hashes {
    documents: Section,
    sites: Section,
    /// Bytes of the number of a site.
    width: usize,
}

impl Hashes {
    /// Opens the two sections; `None` where their lengths do not fit the documents and sites.
    pub(crate) fn open(documents: Section, sites: Section, meta: &SegmentMeta) -> Option<Hashes> {
        let width = uint::width_of((sites.len() / SITE_BYTES) as u64);
        let fits = sites.len().is_multiple_of(SITE_BYTES)
            && documents.len() == meta.documents_count as usize * (URL_BYTES + width);
        fits.then_some(Hashes {
            documents,
            sites,
            width,
        })
    }

    /// Returns the hash of the URL; 0 past the last document.
    #[inline]
    pub(crate) fn url(&self, doc: DocId) -> u64 {
        self.documents.read_u64(self.start_of(doc))
    }

    /// Returns the hashes of the URL and of the site; 0 past the last document, and for an unknown site.
    #[inline]
    pub(crate) fn both(&self, doc: DocId) -> (u64, u64) {
        match self.row(doc) {
            Some((url, number)) => (url, self.sites.read_u64(number * SITE_BYTES)),
            None => (0, 0),
        }
    }

    /// Returns the hash of the URL and the number of the site, which is not checked.
    #[inline]
    fn row(&self, doc: DocId) -> Option<(u64, usize)> {
        let start = self.start_of(doc);
        let row = self.documents.get(start..start + URL_BYTES + self.width)?;
        let (url, number) = row.split_first_chunk()?;
        Some((u64::from_le_bytes(*url), uint::read(number) as usize))
    }

    /// Prefetches the hashes of a document.
    #[inline]
    pub(crate) fn prefetch(&self, doc: DocId) {
        codec::memory::prefetch(self.documents.unverified(), self.start_of(doc));
    }

    #[inline]
    fn start_of(&self, doc: DocId) -> usize {
        doc.0 as usize * (URL_BYTES + self.width)
    }

    /// Returns the number of a document's site; `None` past the last document.
    #[inline]
    pub(crate) fn site_number(&self, doc: DocId) -> Option<usize> {
        self.row(doc).map(|(_, number)| number)
    }

    /// Returns the number of the site with a hash.
    pub(crate) fn number_of_site(&self, hash: u64) -> Option<usize> {
        let (mut low, mut high) = (0, self.sites_count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.sites.read_u64(middle * SITE_BYTES) < hash {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        (low < self.sites_count() && self.sites.read_u64(low * SITE_BYTES) == hash).then_some(low)
    }

    pub(crate) fn sites_count(&self) -> usize {
        self.sites.len() / SITE_BYTES
    }

    /// Checks the sites of `documents_count` documents; an error describes the first defect.
    pub(crate) fn check(&self, documents_count: u32) -> Result<(), String> {
        let hash = |number: usize| self.sites.read_u64(number * SITE_BYTES);
        let mut has_documents = vec![false; self.sites_count()];
        for number in 1..self.sites_count() {
            if hash(number - 1) >= hash(number) {
                return Err(format!(
                    "the hash of site {number} follows a higher or the same"
                ));
            }
        }
        for doc in 0..documents_count {
            let row = self.row(DocId(doc));
            match row.and_then(|(_, number)| has_documents.get_mut(number)) {
                Some(has) => *has = true,
                None => return Err(format!("document {doc} is of a site that is not there")),
            }
        }
        match has_documents.iter().position(|has| !has) {
            Some(number) => Err(format!("site {number} has no document")),
            None => Ok(()),
        }
    }
}

/// Writer of the hashes of a segment: first of its sites, then of its documents.
pub(crate) struct HashesWriter {
    documents: Spill,
    sites: Vec<u64>,
    /// Bytes of the number of a site; `None` before the first document.
    width: Option<usize>,
}

impl HashesWriter {
    /// Creates a writer; names of temporary files begin with `name`.
    pub(crate) fn new(storage: &SharedStorage, name: &str) -> HashesWriter {
        HashesWriter {
            documents: Spill::new(storage, format!("{name}-hashes")),
            sites: Vec::new(),
            width: None,
        }
    }

    /// Adds a site by its name.
    pub(crate) fn push_site(&mut self, site: &[u8]) {
        debug_assert!(self.width.is_none());
        self.sites.push(xxh3_64(site));
    }

    /// Adds the next document; returns `false` where its site was not pushed before the first document.
    pub(crate) fn push_document(
        &mut self,
        url_hash: u64,
        site_hash: u64,
    ) -> Result<bool, IndexError> {
        let sites = &mut self.sites;
        let width = *self.width.get_or_insert_with(|| {
            sites.sort_unstable();
            sites.dedup();
            uint::width_of(sites.len() as u64)
        });
        let Ok(number) = sites.binary_search(&site_hash) else {
            return Ok(false);
        };
        self.documents.write(&url_hash.to_le_bytes())?;
        self.documents.write(&number.to_le_bytes()[..width])?;
        Ok(true)
    }

    /// Appends the two sections to `out`; returns the start and length of each.
    pub(crate) fn finish(self, out: &mut SealedWriter) -> Result<[(u64, u64); 2], IndexError> {
        let documents = self.documents.copy_to(out)?;
        let start = out.position();
        for site in &self.sites {
            out.write(&site.to_le_bytes())?;
        }
        Ok([documents, (start, out.position() - start)])
    }
}

#[cfg(test)]
mod tests;
