//! Changes of the index that wait for the next commit, so that a document is written once, with all of its fields.

use corpus::Document;
use std::collections::BTreeMap;

/// Change of the document of a page.
pub(super) enum Change {
    /// With the digest of what templates took out.
    Add(Box<Document>, u64),
    Delete(String),
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
        self.bytes += document.body.len() + 500;
        let change = Change::Add(Box::new(document), templates);
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
