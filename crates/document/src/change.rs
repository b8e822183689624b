//! Change of one document.

use crate::Document;
use json::Map;

/// Change of one document.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The document replaces an earlier one with its URL.
    Put(Document),
    /// The fields of the patch replace those of the document at `url`, as in JSON Merge Patch (RFC 7396); null removes
    /// one.
    Patch {
        /// URL of the document.
        url: String,
        /// Fields to change.
        patch: Map,
        /// Document to write where there is none at `url`; its URL is that.
        absent: Option<Document>,
    },
    /// The document is deleted.
    Delete {
        /// URL of the document.
        url: String,
    },
}

impl Change {
    /// Returns the URL of the document.
    pub fn url(&self) -> &str {
        match self {
            Change::Put(document) => &document.url,
            Change::Patch { url, .. } | Change::Delete { url } => url,
        }
    }
}
