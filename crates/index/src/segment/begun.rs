//! Counts of the terms of words, by place, for words that begin so.

use crate::Field;

/// Place of a term that a segment lacks.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Counts of the terms of the text, and the terms of the words as written, by place in [`super::words::Words`].
#[derive(Debug, Default)]
pub(crate) struct Begun {
    /// Documents that hold each term in the text, and in the title.
    pub(super) counts: [Vec<u32>; 2],
    /// Place of the term of each word as written.
    pub(super) term_of_written: Vec<u32>,
}

impl Begun {
    /// Returns the documents that hold each term in the text or the title; `None` for other fields.
    pub(super) fn counts_in(&self, field: Field) -> Option<&[u32]> {
        match field {
            Field::Text => Some(&self.counts[0]),
            Field::Title => Some(&self.counts[1]),
            _ => None,
        }
    }
}
