//! A term's postings in one segment.
use crate::{DocId, IndexError};

/// How postings are encoded; a named property of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PostingsCodec {
    /// Blocks of 256 bit-packed gaps and frequencies.
    #[default]
    Packed,
    /// One variable-length byte integer after another, as Lucene 3 stored them.
    Vint,
}

/// A cursor over a term's postings, by increasing document. Starts on the first one.
#[derive(Debug)]
pub struct Postings<'a> {
    _segment: std::marker::PhantomData<&'a ()>,
}

impl Postings<'_> {
    /// The current document; `DocId::END` when exhausted.
    pub fn doc(&self) -> DocId {
        unimplemented!()
    }
    /// Moves to the next document and returns it.
    pub fn next(&mut self) -> DocId {
        unimplemented!()
    }
    /// Moves to the first document at or after `target` (never backwards) and returns it.
    pub fn seek(&mut self, _target: DocId) -> DocId {
        unimplemented!()
    }
    /// How often the term stands in the current document.
    pub fn frequency(&mut self) -> u32 {
        unimplemented!()
    }
    /// The word positions in the current document, increasing, into `positions` (cleared first).
    pub fn positions(&mut self, _positions: &mut Vec<u32>) {
        unimplemented!()
    }
    /// Documents in the list: what walking it costs, about.
    pub fn cost(&self) -> u32 {
        unimplemented!()
    }
    /// Damage met while decoding. A damaged list ends early, so whoever walked it must ask.
    pub fn take_error(&mut self) -> Option<IndexError> {
        unimplemented!()
    }
}
