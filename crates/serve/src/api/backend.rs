//! Index servers and document servers as a front-end calls them, in its process or behind gRPC.
//!
//! A request is started and its answer comes back through a [`Reply`], so a fan-out to many
//! partitions needs no thread for each.

use crate::api::messages::{
    CountSitesRequest, DetailsRequest, HitDetails, PartitionHits, Query, SearchRequest, Status,
    StatusRequest, SummariesRequest, TextSummary,
};
use crate::api::reply::Reply;
use std::sync::Arc;

/// An index server as the front-end sees it. Nothing here blocks for long: work that does is
/// queued, and answered through the reply.
pub trait IndexServer: Send + Sync {
    /// Finds the best hits of the partition.
    fn search(&self, query: &Arc<Query>, request: SearchRequest, reply: Reply<PartitionHits>);
    /// What the hits show, in the order asked for.
    fn details(&self, query: &Arc<Query>, request: DetailsRequest, reply: Reply<Vec<HitDetails>>);
    /// Counts the matching documents of each site.
    fn count_sites(&self, query: &Arc<Query>, request: CountSitesRequest, reply: Reply<Vec<u64>>);
    /// What the server is and holds.
    fn status(&self, request: &StatusRequest, reply: Reply<Status>);
    /// Opens the newest generation of the index; the generation that is then answered from.
    fn reload(&self, reply: Reply<u64>);
}

/// A document server as the front-end sees it.
pub trait DocumentServer: Send + Sync {
    /// Summaries in the order asked for; `None` where a text is missing, empty in an index without texts.
    fn summaries(&self, request: SummariesRequest, reply: Reply<Vec<Option<TextSummary>>>);
    /// A document as stored.
    fn document(&self, url: &str, reply: Reply<Option<index::StoredDocument>>);
    /// What the server is and holds.
    fn status(&self, request: &StatusRequest, reply: Reply<Status>);
    /// Opens the newest generation of the index; the generation that is then answered from.
    fn reload(&self, reply: Reply<u64>);
}
