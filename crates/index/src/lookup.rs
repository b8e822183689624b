//! Look-up of a live document by its URL, or the hash of it.

use crate::segment::Segment;
use crate::{DocId, Index, IndexError, StoredDocument, TextKey};

/// Upper limit on the attempts of a look-up that meets changing files.
const TRIES_MAX: u32 = 3;

impl Index {
    /// Returns the live document at `url` as stored; `None` where there is none, and in an index without texts. Examined:
    /// every byte read was a verified one.
    ///
    /// # Errors
    /// A damaged file, and files that keep changing or give no answer.
    pub fn document(&self, url: &str) -> Result<Option<StoredDocument>, IndexError> {
        self.document_of(TextKey::Url(url))
    }

    /// Does the same by any key. Of two documents whose URLs share a hash, the hash finds one.
    ///
    /// # Errors
    /// A damaged file, and files that keep changing or give no answer.
    pub fn document_of(&self, key: TextKey<'_>) -> Result<Option<StoredDocument>, IndexError> {
        let mut tries = 1;
        loop {
            let since = self.read_start();
            let found = self.look_up(key);
            match self.verify_look_up(key, since) {
                // The look-up may have failed by changed bytes.
                Ok(()) => return found,
                Err(error) if error.is_transient() && tries < TRIES_MAX => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn look_up(&self, key: TextKey<'_>) -> Result<Option<StoredDocument>, IndexError> {
        let (_, hash) = key.url_and_hash();
        let chunk = self.layout().chunk_of(hash);
        // Newest segment first: it has the latest version.
        for (segment, part) in self.segments.iter().zip(&self.parts).rev() {
            if !segment.chunks().contains(&chunk) {
                continue;
            }
            let found = match part {
                Some(part) => part.document(key.url_and_hash())?,
                None => None,
            };
            if let Some(found) = found
                && !is_deleted(segment, &found.url, hash)?
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
        if segment.url_hash(doc) == hash && segment.details_reader().url(doc)? == url {
            return Ok(true);
        }
    }
    // A damaged hash is read as zero.
    segment.file().ensure_trusted()?;
    Ok(false)
}
