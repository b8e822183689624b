//! One immutable segment, opened.
use crate::{DocId, Field, IndexError, Postings};

/// Where a term's postings are, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermRecord {
    /// Documents that hold the term.
    pub documents_count: u32,
    /// Occurrences in all documents.
    pub occurrences_count: u64,
    // further private fields
}

/// What a hit shows of its document without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Details {
    /// The document's own id, or its URL.
    pub id: String,
    /// URL.
    pub url: String,
    /// Title.
    pub title: String,
    /// Site.
    pub site: String,
}

/// One immutable segment of one chunk.
#[derive(Debug)]
pub struct Segment {}

impl Segment {
    /// The chunk it belongs to.
    pub fn chunk(&self) -> u32 {
        unimplemented!()
    }
    /// Its number, unique in the index.
    pub fn id(&self) -> u32 {
        unimplemented!()
    }
    /// Documents in it, deleted ones included; ids run from 0 to this.
    pub fn documents_count(&self) -> u32 {
        unimplemented!()
    }
    /// Quantised lengths (see [`crate::length`]) by document; empty for `Field::Site`.
    pub fn lengths(&self, _field: Field) -> &[u8] {
        unimplemented!()
    }
    /// The record of a term, if it occurs here.
    pub fn term(&self, _field: Field, _term: &str) -> Result<Option<TermRecord>, IndexError> {
        unimplemented!()
    }
    /// Calls `each` for every term that starts with `prefix`, in order.
    pub fn terms_with_prefix(
        &self,
        _field: Field,
        _prefix: &str,
        _each: impl FnMut(&str, TermRecord),
    ) -> Result<(), IndexError> {
        unimplemented!()
    }
    /// The postings of a term.
    pub fn postings(&self, _record: &TermRecord) -> Result<Postings<'_>, IndexError> {
        unimplemented!()
    }
    /// Whether a later document replaced this one.
    pub fn is_deleted(&self, _doc: DocId) -> bool {
        unimplemented!()
    }
    /// Whether any document is deleted (so that a search without deletions need not ask for each).
    pub fn has_deletions(&self) -> bool {
        unimplemented!()
    }
    /// Hash of the URL: breaks ties, and finds the text.
    pub fn url_hash(&self, _doc: DocId) -> u64 {
        unimplemented!()
    }
    /// Hash of the site: limits hits a site before details are known.
    pub fn site_hash(&self, _doc: DocId) -> u64 {
        unimplemented!()
    }
    /// What a hit shows.
    pub fn details(&self, _doc: DocId) -> Result<Details, IndexError> {
        unimplemented!()
    }
}
