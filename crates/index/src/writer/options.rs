//! Options of a build.

use crate::{Order, Pairs, PostingsCodec, Texts};
use text::Analyzer;

/// How to build.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Chunks; `None`: those of the index that is there, or 2.
    pub chunks: Option<u32>,
    /// Partitions to lay the chunks out for: those of each become one segment. `None`: as in the index that is
    /// there, or one of all chunks.
    pub partitions: Option<u32>,
    /// Threads that build segments; 0 counts as 1.
    pub threads: usize,
    /// Memory to stay within while building.
    pub memory_bytes: u64,
    /// Codec; `None`: that of the index that is there, or packed.
    pub codec: Option<PostingsCodec>,
    /// Analyzer; `None`: that of the index that is there, or plain.
    pub analyzer: Option<Analyzer>,
    /// Whether texts are kept; `None`: as in the index that is there, or stored.
    pub texts: Option<Texts>,
    /// Which pairs of frequent words are kept; `None`: as in the index that is there, or frequent.
    pub pairs: Option<Pairs>,
    /// Documents after which a run is written whatever memory is left; the index is the same for any.
    /// For tests, which have few documents and want many runs.
    pub run_documents_max: Option<u32>,
    /// Terms up to which a commit writes the statistics of all segments anew; above, what it changed. `None`: 32,768. For
    /// tests, which have few; scores are the same for any.
    pub small_terms_max: Option<u64>,
    /// Order to put the whole index into, as [`crate::optimize`] does, within the same commit.
    /// `None`: new documents go behind those that are there.
    pub order: Option<Order>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            chunks: None,
            partitions: None,
            threads: 1,
            memory_bytes: 512 << 20,
            codec: None,
            analyzer: None,
            texts: None,
            pairs: None,
            run_documents_max: None,
            small_terms_max: None,
            order: None,
        }
    }
}
