//! Building an index: documents in, one committed generation out.
use crate::{IndexError, PostingsCodec};
use corpus::Document;
use text::Analyzer;
use vfs::SharedStorage;

/// How to build.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Chunks; `None`: those of the index that is there, or 4.
    pub chunks: Option<u32>,
    /// Threads that build chunks.
    pub threads: usize,
    /// Memory to stay within while building.
    pub memory_bytes: u64,
    /// Codec; `None`: that of the index that is there, or packed.
    pub codec: Option<PostingsCodec>,
    /// Analyzer; `None`: that of the index that is there, or plain.
    pub analyzer: Option<Analyzer>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            chunks: None,
            threads: 1,
            memory_bytes: 512 << 20,
            codec: None,
            analyzer: None,
        }
    }
}

/// What a commit did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommitSummary {
    /// Generation committed.
    pub generation: u64,
    /// Documents that this commit added, replacements included.
    pub documents_added: u64,
    /// Earlier documents that later ones with the same URL replaced.
    pub documents_replaced: u64,
    /// Live documents in the whole index.
    pub documents_count: u64,
    /// Bytes of the search index (without the document store).
    pub index_bytes: u64,
    /// Bytes of the document store.
    pub store_bytes: u64,
}

/// Adds documents to an index, new or existing. Nothing is visible before `commit`;
/// a writer that is dropped leaves the index as it was.
pub struct Writer {}

impl Writer {
    /// Takes the writer lock and starts a new generation.
    pub fn open(_storage: SharedStorage, _options: BuildOptions) -> Result<Writer, IndexError> {
        unimplemented!()
    }
    /// Adds a document; it replaces an earlier one with the same URL.
    pub fn add(&mut self, _document: Document) -> Result<(), IndexError> {
        unimplemented!()
    }
    /// Writes and syncs everything, then makes it the newest generation.
    pub fn commit(self) -> Result<CommitSummary, IndexError> {
        unimplemented!()
    }
}
