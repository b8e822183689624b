//! An index opened at one generation.
use crate::{DocumentStore, IndexError, PostingsCodec, Segment, Statistics};
use std::ops::Range;
use std::sync::Arc;
use text::Analyzer;
use vfs::SharedStorage;

/// A snapshot of an index: it never changes, whatever is committed meanwhile.
#[derive(Debug)]
pub struct Index {}

impl Index {
    /// Opens the newest generation, all chunks, checksums of every file verified.
    pub fn open(_storage: SharedStorage) -> Result<Index, IndexError> {
        unimplemented!()
    }
    /// Chunks of the index (fixed when it was built).
    pub fn chunks_count(&self) -> u32 {
        unimplemented!()
    }
    /// The analyzer it was built with.
    pub fn analyzer(&self) -> Analyzer {
        unimplemented!()
    }
    /// The codec of its postings.
    pub fn codec(&self) -> PostingsCodec {
        unimplemented!()
    }
    /// The generation: grows with every commit.
    pub fn generation(&self) -> u64 {
        unimplemented!()
    }
    /// The segments of some chunks, by chunk and then by age.
    pub fn segments(&self, _chunks: Range<u32>) -> impl Iterator<Item = &Arc<Segment>> {
        [].iter()
    }
    /// Statistics of the whole index, shared by all partitions.
    pub fn statistics(&self) -> &Arc<Statistics> {
        unimplemented!()
    }
    /// The texts of all chunks.
    pub fn documents(&self) -> &Arc<DocumentStore> {
        unimplemented!()
    }
}
