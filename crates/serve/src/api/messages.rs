//! Requests to index servers and document servers, and their answers.

use engine::calls::Chunks;
pub use engine::calls::{
    CountFacetsRequest, CountMatchesRequest, Counted, DetailsRequest, HandlerTimes, NearWord,
    NearWordsRequest, PartitionHits, Planned, Query, SearchRequest, SummariesOf, SummariesRequest,
    TextSummary, TypedWord,
};
pub use engine::{HitAddress, HitDetails};
use fields::{Rules, Schema};
use std::sync::Arc;
use text::Analyzer;

/// Request for the status of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusRequest {
    /// Name of the front-end; empty for an anonymous request.
    pub front_end: String,
    /// Parts into which the front-end's cluster file divides the index.
    pub parts: Vec<Chunks>,
}

/// Status of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Identifier of the index.
    pub index_id: String,
    /// Newest open generation.
    pub generation: u64,
    /// Generation before it that is still open; 0 for none.
    pub generation_before: u64,
    /// Number of chunks of the whole index.
    pub chunks_count: u32,
    /// Chunks that the server serves.
    pub chunks: Chunks,
    /// Number of live documents in the whole index.
    pub documents_count: u64,
    /// Number of documents in the served chunks, deleted ones included.
    pub documents_here_count: u64,
    /// Whether the index has texts.
    pub has_texts: bool,
    /// Analyzer of the index; `None` if the server does not report it.
    pub analyzer: Option<Analyzer>,
    /// Fields of the index.
    pub fields: Arc<Schema>,
    /// Phrases that titles have often: examples of queries.
    pub phrases: Arc<[[String; 2]]>,
    /// Folders of the files that documents were read from, as `file:` URLs.
    pub folders: Arc<[String]>,
    /// Rules of the index.
    pub rules: Arc<Rules>,
    /// Whether the server is about to end.
    pub is_draining: bool,
    /// Message about another front-end that divides the index differently.
    pub disagreement: Option<String>,
    /// Number that differs after each change of the trust in the server's files, and after each opening of them.
    pub trust_epoch: u64,
}
