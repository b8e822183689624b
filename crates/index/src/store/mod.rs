//! Document store: texts in compressed blocks, found by the hash of the URL, with one part for each segment.
//!
//! ```text
//! payload  := block{blocks} ends entries table
//! block    := bytes:u32le lz4{ document+ }        bytes: of the documents, uncompressed
//! document := url id title body fields            each bytes:vint utf8; empty id: the URL; fields: JSON
//! ends     := end:u64le{blocks}
//! entries  := { url_hash:u64le block:u32le offset:u32le }{documents}      by hash
//! table    := ends_start:u64le ends_bytes:u64le entries_start:u64le entries_bytes:u64le
//! ```
//!
//! Documents share blocks of about 16 KiB; a longer one has a block of its own. A document server opens these files
//! alone, without the search index.
//!
//! Why LZ4: the text of a hit is decompressed for every summary, and a text of 700 KB must not cost
//! more than a third of a millisecond.

mod copy;
mod location;
mod part;
pub(crate) mod write;

pub(crate) use location::Location;
pub(crate) use part::StorePart;
pub use part::StoredDocument;
pub(crate) use write::StoreWriter;

use crate::IndexError;
use crate::live::LiveFile;
use part::{Fields, read_fields};
use std::sync::Arc;

/// Storage of the texts of documents, a property of the whole index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Texts {
    /// Titles, bodies and further fields are stored, for summaries.
    #[default]
    Stored,
    /// No texts: searches and details work, summaries do not.
    None,
}

impl Texts {
    /// Returns the name in manifests and options.
    pub fn name(self) -> &'static str {
        match self {
            Texts::Stored => "stored",
            Texts::None => "none",
        }
    }

    pub(crate) fn is_stored(&self) -> bool {
        *self == Texts::Stored
    }
}

/// Key of a document's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKey<'a> {
    /// URL of the document.
    Url(&'a str),
    /// Hash of the URL. Two URLs may share a hash, so callers compare the returned URL.
    UrlHash(u64),
}

impl<'a> TextKey<'a> {
    /// Returns the URL where it is known, and its hash.
    pub(crate) fn url_and_hash(self) -> (Option<&'a str>, u64) {
        match self {
            TextKey::Url(url) => (Some(url), document::url_hash(url)),
            TextKey::UrlHash(hash) => (None, hash),
        }
    }
}

/// Texts of all chunks.
#[derive(Debug)]
pub struct DocumentStore {
    /// Parts by chunk, the newest segment first; a part of several chunks is listed under each.
    chunks: Vec<Vec<Arc<StorePart>>>,
    texts: Texts,
}

impl DocumentStore {
    pub(crate) fn new(chunks: Vec<Vec<Arc<StorePart>>>, texts: Texts) -> DocumentStore {
        DocumentStore { chunks, texts }
    }

    /// Returns whether texts are stored.
    pub fn texts(&self) -> Texts {
        self.texts
    }

    /// Returns the files in which a document is looked up.
    pub(crate) fn files_of(&self, key: TextKey<'_>) -> impl Iterator<Item = &Arc<LiveFile>> {
        let (_, hash) = key.url_and_hash();
        self.parts_of(hash).iter().map(|part| part.file())
    }

    /// Returns the parts that may have the text of a hash, the newest first.
    fn parts_of(&self, hash: u64) -> &[Arc<StorePart>] {
        let chunk = hash.checked_rem(self.chunks.len() as u64);
        chunk.map_or(&[], |chunk| &self.chunks[chunk as usize])
    }

    /// Returns the bytes to decompress for the text at `key`, which are those of a long text and its fields alone; 0 where
    /// none is found. Reads no text.
    pub fn block_bytes(&self, key: TextKey<'_>) -> u32 {
        let (_, hash) = key.url_and_hash();
        let mut parts = self.parts_of(hash).iter();
        parts.find_map(|part| part.block_bytes(hash)).unwrap_or(0)
    }

    fn find<'b>(
        &self,
        key: TextKey<'_>,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Option<Fields<'b>>, IndexError> {
        let (url, hash) = key.url_and_hash();
        for part in self.parts_of(hash) {
            if let Some(at) = part.find(url, hash, buffer)? {
                return Ok(read_fields(buffer, at).map(|(fields, _)| fields));
            }
        }
        Ok(None)
    }

    /// Returns the newest document at `url`, deleted ones included; `None` where there is none.
    /// [`crate::Index::document`] returns live ones.
    pub fn document(&self, url: &str) -> Result<Option<StoredDocument>, IndexError> {
        Ok(self
            .find(TextKey::Url(url), &mut Vec::new())?
            .map(|fields| fields.to_document()))
    }

    /// Calls `with` with the URL, the body and the further fields (as JSON) of a document; returns `false` where there is none. Cheaper than
    /// [`DocumentStore::document`]: decompresses into `buffer` and copies nothing.
    pub fn with_text(
        &self,
        key: TextKey<'_>,
        buffer: &mut Vec<u8>,
        with: impl FnOnce(&str, &str, &str),
    ) -> Result<bool, IndexError> {
        Ok(match self.find(key, buffer)? {
            Some(fields) => {
                with(fields.url, fields.body, fields.fields);
                true
            }
            None => false,
        })
    }
}
