//! Changes of the index that wait for the next commit, so that a document is written once, with all of its fields.

use corpus::Document;
use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Change of the document of a page.
pub(super) enum Change {
    /// With the digest of what templates took out.
    Add(Box<Packed>, u64),
    Delete(String),
}

/// Document with a compressed body: texts take a third of their memory, so that three times as many can wait.
pub(crate) struct Packed {
    document: Document,
    body: Vec<u8>,
}

impl Packed {
    fn new(mut document: Document) -> Packed {
        let body = compress_prepend_size(document.body.as_bytes());
        document.body = String::new();
        Packed { document, body }
    }

    /// Returns the fields, to add some.
    pub(super) fn fields_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.document.fields
    }

    /// Returns the document.
    pub(crate) fn unpacked(self) -> Document {
        let body = decompress_size_prepended(&self.body).expect("compressed by `new`");
        Document {
            body: String::from_utf8(body).expect("a text before"),
            ..self.document
        }
    }
}

/// Changes by the hash of the URL.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) changes: BTreeMap<u64, Change>,
    pub(super) bytes: usize,
    /// What the index has of pages after the next commit.
    pub(super) settled: Vec<(u64, u64)>,
}

impl Pending {
    pub(super) fn add(&mut self, hash: u64, document: Document, templates: u64) {
        let packed = Packed::new(document);
        self.bytes += packed.body.len() + 500;
        let change = Change::Add(Box::new(packed), templates);
        self.changes.insert(hash, change);
    }

    pub(super) fn delete(&mut self, hash: u64, url: &str) {
        self.changes.insert(hash, Change::Delete(url.to_owned()));
    }

    pub(super) fn has(&self, hash: u64) -> bool {
        self.changes.contains_key(&hash)
    }

    pub(super) fn adds(&self, hash: u64) -> bool {
        matches!(self.changes.get(&hash), Some(Change::Add(..)))
    }

    /// Returns the digest of a document that waits.
    pub(super) fn templates(&self, hash: u64) -> Option<u64> {
        match self.changes.get(&hash) {
            Some(Change::Add(_, templates)) => Some(*templates),
            _ => None,
        }
    }
}
