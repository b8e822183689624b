//! Statistics of the whole index, so that scores do not depend on how it is cut.
use crate::{Field, IndexError};

/// Counts over all live documents of all chunks.
#[derive(Debug)]
pub struct Statistics {}

impl Statistics {
    /// Live documents.
    pub fn documents_count(&self) -> u64 {
        unimplemented!()
    }
    /// Mean length in words, over all live documents; 0 for an empty index.
    pub fn average_length(&self, _field: Field) -> f64 {
        unimplemented!()
    }
    /// Live documents of the whole index that hold the term.
    pub fn document_frequency(&self, _field: Field, _term: &str) -> Result<u64, IndexError> {
        unimplemented!()
    }
}
