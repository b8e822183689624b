//! Options of a writer.

use crate::{MergeReservation, Order, Pairs, PostingsCodec, Texts};
use fields::{Declarations, Rules};
use std::sync::Arc;
use text::Analyzer;

/// Whether commits merge segments, or a job beside them does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Merging {
    /// Within the commit that makes segments too many.
    #[default]
    Within,
    /// Beside commits, by a [`crate::MergeJob`]: commits merge nothing, and write the statistics of all segments anew only
    /// in a small index. The reservation is that of the job under way.
    Beside(Option<MergeReservation>),
}

/// Options of a writer.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Chunks; `None`: those of the existing index, or 2.
    pub chunks: Option<u32>,
    /// Partitions to lay the chunks out for; the chunks of each become one segment. `None`: those of the existing
    /// index, or 1.
    pub partitions: Option<u32>,
    /// Threads that build segments; 0 counts as 1.
    pub threads: usize,
    /// Memory limit, in bytes.
    pub memory_bytes: u64,
    /// Codec; `None`: that of the existing index, or packed.
    pub codec: Option<PostingsCodec>,
    /// Analyzer; `None`: that of the existing index, or plain.
    pub analyzer: Option<Analyzer>,
    /// Storage of texts; `None`: that of the existing index, or stored.
    pub texts: Option<Texts>,
    /// Choice of stored pairs; `None`: that of the existing index, or frequent.
    pub pairs: Option<Pairs>,
    /// Types of fields and settings of their words, decided before any document; others are inferred. A field of the
    /// existing index keeps its type.
    pub fields: Declarations,
    /// Folders of the files that documents are read from, as `file:` URLs: servers show addresses below them by the name
    /// of the folder.
    pub folders: Vec<String>,
    /// Rules of relevance; `None`: those of the existing index, or none.
    pub rules: Option<Arc<Rules>>,
    /// Documents held before the first is inverted, from which fields of text are guessed. `None`: 4,096, or 1 MiB. It
    /// does not affect the index. For tests, which have few documents.
    pub held_documents_max: Option<usize>,
    /// Documents after which a run ends, independent of memory. It does not affect the index. For tests, which have few
    /// documents and need many runs.
    pub run_documents_max: Option<u32>,
    /// Terms up to which a commit writes the statistics of all segments anew; above, only the changes. `None`: 32,768.
    /// It does not affect scores. For tests, which have few terms.
    pub small_terms_max: Option<u64>,
    /// Segments of a partition above which a commit merges small ones. `None`: 24. It changes no answer.
    pub segments_max: Option<usize>,
    /// Place of merges: within commits, or beside them. It changes no answer.
    pub merging: Merging,
    /// Order to put the whole index into, as [`crate::optimize()`] does, within the same commit. `None`: new documents
    /// follow the existing ones.
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
            fields: Declarations::default(),
            folders: Vec::new(),
            rules: None,
            held_documents_max: None,
            run_documents_max: None,
            small_terms_max: None,
            segments_max: None,
            merging: Merging::default(),
            order: None,
        }
    }
}
