//! How an index is cut among the parts that a coordinator asks.

use crate::calls::Chunks;

/// Partitions and document parts of an index, each by its number.
pub trait Layout {
    /// Returns the number of partitions.
    fn partitions_count(&self) -> usize;
    /// Returns the chunks of a partition.
    fn chunks_of(&self, partition: usize) -> Chunks;
    /// Returns the number of documents of a partition; an estimate where no server has reported it.
    fn documents_of(&self, partition: usize) -> u64;
    /// Returns the number of document parts.
    fn texts_count(&self) -> usize;
    /// Returns the chunks of a document part.
    fn text_chunks_of(&self, part: usize) -> Chunks;
    /// Returns the document part that holds the text of a document, by the hash of its URL.
    fn texts_of(&self, url_hash: u64) -> Option<usize>;
}
