//! The document store: texts, found by the URL's hash.
use crate::IndexError;

/// A document as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDocument {
    /// URL.
    pub url: String,
    /// The document's own id, or its URL.
    pub id: String,
    /// Title.
    pub title: String,
    /// Body.
    pub body: String,
    /// Further fields.
    pub fields: serde_json::Map<String, serde_json::Value>,
}

/// The texts of all chunks.
#[derive(Debug)]
pub struct DocumentStore {}

impl DocumentStore {
    /// The document at `url`, `None` when there is none.
    pub fn document(&self, _url: &str) -> Result<Option<StoredDocument>, IndexError> {
        unimplemented!()
    }
    /// Calls `with` with the title and body of the document at `url`; `false` when there is none.
    /// Cheaper than [`DocumentStore::document`]: decompresses into `buffer` and copies nothing.
    pub fn with_text(
        &self,
        _url: &str,
        _buffer: &mut Vec<u8>,
        _with: impl FnOnce(&str, &str),
    ) -> Result<bool, IndexError> {
        unimplemented!()
    }
}
