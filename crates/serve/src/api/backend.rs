//! Index servers and document servers as a front-end calls them, in its process or behind gRPC.
//!
//! A call returns at once and its answer arrives through a [`Reply`], so a fan-out to many partitions
//! needs no thread for each.

use crate::api::messages::{
    CountFacetsRequest, CountMatchesRequest, DetailsRequest, HitDetails, NearWordsRequest,
    PartitionHits, Query, SearchRequest, Status, StatusRequest, SummariesRequest, TextSummary,
    TypedWord,
};
use crate::api::reply::Reply;
use fields::FacetCounts;
use std::sync::Arc;

/// Interface that servers of both kinds share: their status, and reloads.
pub trait Server: Send + Sync {
    /// Reports the status of the server.
    fn status(&self, request: &StatusRequest, reply: Reply<Status>);
    /// Opens the newest generation of the index and replies with its number.
    fn reload(&self, reply: Reply<u64>);
}

/// Interface of an index server. No method blocks for long: long work is queued and answered through
/// the reply.
pub trait IndexServer: Server {
    /// Finds the best hits of the partition.
    fn search(&self, query: &Arc<Query>, request: SearchRequest, reply: Reply<PartitionHits>);
    /// Reads the details of hits, in the order of the request.
    fn details(&self, query: &Arc<Query>, request: DetailsRequest, reply: Reply<Vec<HitDetails>>);
    /// Counts the matching documents of each site.
    fn count_matches(
        &self,
        query: &Arc<Query>,
        request: CountMatchesRequest,
        reply: Reply<Vec<u64>>,
    );
    /// Counts facets over all matching documents, in the order of the request.
    fn count_facets(
        &self,
        query: &Arc<Query>,
        request: CountFacetsRequest,
        reply: Reply<Vec<FacetCounts>>,
    );
    /// Finds the words of the whole index near those typed.
    fn near_words(
        &self,
        query: &Arc<Query>,
        request: NearWordsRequest,
        reply: Reply<Vec<TypedWord>>,
    );
}

/// Interface of a document server.
pub trait DocumentServer: Server {
    /// Makes summaries, in the order of the request; `None` for a missing text, empty in an index
    /// without texts.
    fn summaries(&self, request: SummariesRequest, reply: Reply<Vec<Option<TextSummary>>>);
    /// Reads a document as stored.
    fn document(&self, url: &str, reply: Reply<Option<index::StoredDocument>>);
}
