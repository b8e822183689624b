//! Search of older segments for the documents that a commit removes: new ones replace them, or their URLs are named.
//!
//! Cost: for each removed URL, a binary search in the directory of texts of each older segment, whose pages are
//! verified as they are touched; then all hashes of the segments that may have one. All hashes are read of every
//! segment where the URLs are many or the index has no texts.

use crate::deletions::Deletions;
use crate::store::StorePart;
use crate::{DocId, IndexError, Segment};
use document::url_hash;

/// Number of hashes read in about the time of one binary search.
const HASHES_A_SEARCH: usize = 64;

/// URLs whose older documents a commit removes from a partition, by their hash.
pub(super) struct Removals<'a> {
    by_hash: Vec<(u64, Cause)>,
    segments: &'a [Segment],
    /// URLs named for deletion.
    named: &'a [String],
    first_new: u32,
}

/// Reason of a removal; replacements come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// A new document, by number of segment.
    Replaced(u32, DocId),
    /// A named URL, by its number.
    Named(u32),
}

/// Documents that leave a segment.
pub(super) struct Removed {
    pub(super) documents: Deletions,
    /// Number of those that nothing replaces.
    pub(super) named_count: u64,
}

impl<'a> Removals<'a> {
    /// Collects the `named` URLs, and the documents of those `segments` of a partition whose ids are at least
    /// `first_new`; the others are older.
    pub(super) fn of(
        segments: &'a [Segment],
        first_new: u32,
        named: &'a [String],
    ) -> Result<Removals<'a>, IndexError> {
        let mut by_hash = Vec::new();
        for (number, segment) in (0..).zip(segments) {
            if segment.id() >= first_new {
                let docs = (0..segment.documents_count()).map(DocId);
                by_hash
                    .extend(docs.map(|doc| (segment.url_hash(doc), Cause::Replaced(number, doc))));
                // Damaged hashes are read as zeros.
                segment.file().ensure_trusted()?;
            }
        }
        let hash = |(number, url): (u32, &String)| (url_hash(url), Cause::Named(number));
        by_hash.extend((0..).zip(named).map(hash));
        by_hash.sort_unstable();
        Ok(Removals {
            by_hash,
            segments,
            named,
            first_new,
        })
    }

    /// Returns the documents that leave an older segment, by equal URLs. `None` where there are none, and for a new
    /// segment.
    pub(super) fn from(
        &self,
        older: &Segment,
        texts: Option<&StorePart>,
    ) -> Result<Option<Removed>, IndexError> {
        if older.id() >= self.first_new || !self.may_remove(older, texts)? {
            return Ok(None);
        }
        let documents_count = older.documents_count();
        let mut documents = Deletions::none(documents_count);
        let mut named_count = 0;
        for doc in (0..documents_count).map(DocId) {
            let hash = older.url_hash(doc);
            let from = self.by_hash.partition_point(|&(other, _)| other < hash);
            let same = self.by_hash[from..]
                .iter()
                .take_while(|&&(other, _)| other == hash);
            for &(_, cause) in same {
                // Different URLs with one hash are possible, so the URL decides.
                if !older.is_deleted(doc)
                    && self.has_url(cause, older.details_reader().url(doc)?)?
                    && documents.insert(doc.0)
                {
                    named_count += u64::from(matches!(cause, Cause::Named(_)));
                }
            }
        }
        older.file().ensure_trusted()?;
        Ok((documents.count() > 0).then_some(Removed {
            documents,
            named_count,
        }))
    }

    fn has_url(&self, cause: Cause, url: &str) -> Result<bool, IndexError> {
        Ok(match cause {
            Cause::Replaced(number, new) => {
                self.segments[number as usize].details_reader().url(new)? == url
            }
            Cause::Named(number) => self.named[number as usize] == url,
        })
    }

    /// Returns whether the segment may hold one of the URLs.
    fn may_remove(&self, older: &Segment, texts: Option<&StorePart>) -> Result<bool, IndexError> {
        let Some(texts) = texts else {
            return Ok(!self.by_hash.is_empty());
        };
        if self.by_hash.len() * HASHES_A_SEARCH > older.documents_count() as usize {
            return Ok(true);
        }
        for &(hash, _) in &self.by_hash {
            if texts.has_hash(hash)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
