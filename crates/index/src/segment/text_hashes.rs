//! Hashes of the texts of documents, which find documents of one text.
//!
//! ```text
//! text_hashes := hash:u64le{documents}      of title and body; 0 of a document without a body
//! ```
//!
//! They have a place in the counts of the segment. Segments of before have none.

use crate::section::Section;
use crate::{DocId, IndexError};
use xxhash_rust::xxh3::Xxh3;

const HASH_BYTES: usize = 8;

/// Hash of a document without a text to compare.
pub(crate) const NONE: u64 = 0;

/// Returns the hash of the title and the body; [`NONE`] for a document without a body, for many have one title.
pub(crate) fn hash_of(title: &str, body: &str) -> u64 {
    if body.trim().is_empty() {
        return NONE;
    }
    let mut hasher = Xxh3::new();
    hasher.update(title.as_bytes());
    // A byte of no text parts the two.
    hasher.update(&[0xff]);
    hasher.update(body.as_bytes());
    hasher.digest().max(1)
}

/// Hashes of the texts of a segment.
#[derive(Debug)]
pub(crate) struct TextHashes(Section);

impl TextHashes {
    /// Opens the hashes at a place of `payload`, given as start and bytes; `None` where it does not fit.
    pub(crate) fn open(
        payload: &Section,
        [start, bytes]: [u64; 2],
        documents_count: u32,
    ) -> Option<TextHashes> {
        let bytes = usize::try_from(bytes).ok()?;
        let section = payload.part(usize::try_from(start).ok()?, bytes)?;
        let fits = section.len() == documents_count as usize * HASH_BYTES;
        fits.then_some(TextHashes(section))
    }

    /// Returns the hash of a document.
    #[inline]
    pub(crate) fn get(&self, doc: DocId) -> u64 {
        self.0.read_u64(doc.0 as usize * HASH_BYTES)
    }

    /// Returns the error for a wrong hash of a document.
    pub(crate) fn damaged(&self, doc: DocId) -> IndexError {
        let at = doc.0 as usize * HASH_BYTES;
        self.0.damaged(
            at as u64,
            &format!("document {}: its text hashes otherwise", doc.0),
        )
    }
}
