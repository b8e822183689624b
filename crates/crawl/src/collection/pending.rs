//! Changes of the index that wait for the next commit, so that a document is written once, with all of its fields.

use document::Document;
use json::{Map, Value};
use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};
use std::collections::BTreeMap;

/// Change of the document of a page.
pub(super) enum Change {
    Add(Addition),
    Delete(String),
}

/// Document to add.
pub(super) struct Addition {
    pub(super) document: Box<Packed>,
    /// Digest of the blocks that templates took out.
    pub(super) templates: u64,
    /// Whether an earlier document was to be deleted, which this one replaces.
    replaces_deleted: bool,
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

    fn url(&self) -> &str {
        &self.document.url
    }

    /// Returns the fields, to add some.
    pub(super) fn fields_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.document.fields
    }

    /// Returns its share of the memory of pending changes, in bytes.
    fn size_bytes(&self) -> usize {
        self.body.len() + 500
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
    /// Digests of the documents that the index has after the next commit, by page.
    pub(super) settled: Vec<(u64, u64)>,
}

impl Pending {
    pub(super) fn add(&mut self, hash: u64, document: Document, templates: u64) {
        let document = Box::new(Packed::new(document));
        self.bytes += document.size_bytes();
        let replaces_deleted = match self.changes.get(&hash) {
            Some(Change::Add(before)) => before.replaces_deleted,
            Some(Change::Delete(_)) => true,
            None => false,
        };
        let addition = Addition {
            document,
            templates,
            replaces_deleted,
        };
        self.changes.insert(hash, Change::Add(addition));
    }

    /// Drops the documents of pages that the index does not have, and calls `dropped` for each.
    pub(super) fn drop_documents(
        &mut self,
        is_missing: impl Fn(u64) -> bool,
        mut dropped: impl FnMut(u64),
    ) {
        self.bytes = 0;
        self.changes.retain(|&hash, change| {
            let Change::Add(addition) = change else {
                return true;
            };
            if !is_missing(hash) {
                self.bytes += addition.document.size_bytes();
                return true;
            }
            dropped(hash);
            let is_kept = addition.replaces_deleted;
            if is_kept {
                *change = Change::Delete(addition.document.url().to_owned());
            }
            is_kept
        });
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
            Some(Change::Add(addition)) => Some(addition.templates),
            _ => None,
        }
    }
}
