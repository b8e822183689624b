//! Quantised lengths of the documents of a segment in a further field, derived from its list of places at the first use.

use super::Segment;
use crate::live::Derived;
use crate::{DocId, Field, IndexError, length};

impl Segment {
    /// Returns the lengths by document; empty where no document has words in the field. Where the list is damaged, its
    /// file is too, so no answer with the lengths counts, and nothing is kept.
    pub(super) fn further_lengths(&self, number: u8) -> &[u8] {
        let fields = || (0..=u8::MAX).map(|_| Derived::default()).collect();
        let lengths = self.core.further_lengths.get_or_init(fields);
        let Some(lengths) = lengths.get(usize::from(number)) else {
            return &[];
        };
        let read = || self.read_further_lengths(number);
        lengths
            .get_or_derive([&**self.file()], read)
            .map_or(&[], Vec::as_slice)
    }

    fn read_further_lengths(&self, number: u8) -> Result<Vec<u8>, IndexError> {
        let Some(places) = self.term(Field::Further(number), "")? else {
            return Ok(Vec::new());
        };
        let mut lengths = vec![0; self.documents_count() as usize];
        let mut postings = self.postings(&places)?;
        while postings.doc() != DocId::END {
            if let Some(length) = lengths.get_mut(postings.doc().0 as usize) {
                *length = length::quantize(postings.frequency());
            }
            postings.next();
        }
        postings.take_error().map_or(Ok(lengths), Err)
    }
}
