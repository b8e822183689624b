//! Search of older segments for the documents that new ones replace.
//!
//! Cost: for each new document, a binary search in the directory of texts of each older segment, whose pages are
//! verified as they are touched; then all hashes of the segments that may have one. All hashes are read of every
//! segment where the new documents are many or the index has no texts.

use crate::deletions::Deletions;
use crate::store::StorePart;
use crate::{DocId, IndexError, Segment};

/// Number of hashes read in about the time of one binary search.
const HASHES_A_SEARCH: usize = 64;

/// Documents that a commit adds to a partition, by the hash of their URL.
pub(super) struct Arrivals<'a> {
    /// Hash, segment, document.
    by_hash: Vec<(u64, u32, DocId)>,
    segments: &'a [Segment],
    first_new: u32,
}

impl<'a> Arrivals<'a> {
    /// Collects the documents of those `segments` of a partition whose ids are at least `first_new`; the others are
    /// older.
    pub(super) fn of(segments: &'a [Segment], first_new: u32) -> Result<Arrivals<'a>, IndexError> {
        let mut by_hash = Vec::new();
        for (number, segment) in (0..).zip(segments) {
            if segment.id() >= first_new {
                let docs = (0..segment.documents_count()).map(DocId);
                by_hash.extend(docs.map(|doc| (segment.url_hash(doc), number, doc)));
                // Damaged hashes are read as zeros.
                segment.file().ensure_trusted()?;
            }
        }
        by_hash.sort_unstable();
        Ok(Arrivals {
            by_hash,
            segments,
            first_new,
        })
    }

    /// Returns the documents of an older segment that they replace, by equal URLs. `None` where there are none, and for
    /// a new segment.
    pub(super) fn replace(
        &self,
        older: &Segment,
        texts: Option<&StorePart>,
    ) -> Result<Option<Deletions>, IndexError> {
        if older.id() >= self.first_new || !self.may_replace(older, texts)? {
            return Ok(None);
        }
        let documents_count = older.documents_count();
        let mut gone = Deletions::none(documents_count);
        for doc in (0..documents_count).map(DocId) {
            let hash = older.url_hash(doc);
            let from = self.by_hash.partition_point(|&(other, ..)| other < hash);
            let same = self.by_hash[from..]
                .iter()
                .take_while(|&&(other, ..)| other == hash);
            for &(_, number, new) in same {
                // Different URLs with one hash are possible, so the URL decides.
                if !older.is_deleted(doc)
                    && older.details(doc)?.url == self.segments[number as usize].details(new)?.url
                {
                    gone.insert(doc.0);
                }
            }
        }
        older.file().ensure_trusted()?;
        Ok((gone.count() > 0).then_some(gone))
    }

    /// Whether the segment may hold one of their URLs.
    fn may_replace(&self, older: &Segment, texts: Option<&StorePart>) -> Result<bool, IndexError> {
        let Some(texts) = texts else {
            return Ok(!self.by_hash.is_empty());
        };
        if self.by_hash.len() * HASHES_A_SEARCH > older.documents_count() as usize {
            return Ok(true);
        }
        for &(hash, ..) in &self.by_hash {
            if texts.has_hash(hash)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
