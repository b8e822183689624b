//! Look-up of a live document by its URL.

use crate::segment::Segment;
use crate::{DocId, Index, IndexError, StoredDocument};
use corpus::url_hash;

impl Index {
    /// Returns the live document at `url` as stored; `None` where there is none, and in an index without texts.
    ///
    /// # Errors
    /// A damaged file.
    pub fn document(&self, url: &str) -> Result<Option<StoredDocument>, IndexError> {
        let hash = url_hash(url);
        let chunk = self.layout().chunk_of(hash);
        // Newest segment first: it has the latest version.
        for (segment, part) in self.segments.iter().zip(&self.parts).rev() {
            if !segment.chunks().contains(&chunk) {
                continue;
            }
            let found = match part {
                Some(part) => part.document(url)?,
                None => None,
            };
            if let Some(found) = found
                && !is_deleted(segment, url, hash)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// Returns whether the document of a URL in a segment, which has at most one, is deleted. Takes time proportional to
/// the deleted documents of the segment.
fn is_deleted(segment: &Segment, url: &str, hash: u64) -> Result<bool, IndexError> {
    let Some(gone) = &segment.deletions else {
        return Ok(false);
    };
    for doc in gone.docs().map(DocId) {
        if segment.url_hash(doc) == hash && segment.details(doc)?.url == url {
            return Ok(true);
        }
    }
    // A damaged hash is read as zero.
    segment.file().ensure_trusted()?;
    Ok(false)
}
