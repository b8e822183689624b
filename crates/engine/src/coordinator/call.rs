//! Calls to the parts of an index that are due, and the replies to them.

use crate::calls::{
    CountFacetsRequest, CountMatchesRequest, Counted, DetailsRequest, PartError, PartitionHits,
    Query, SearchRequest, SummariesRequest, TextSummary,
};
use crate::details::HitDetails;
use fields::FacetCounts;
use std::sync::Arc;
use std::time::Instant;

/// Call that is due. Parts are numbered as in the [`Layout`].
#[derive(Debug)]
pub enum Call {
    /// Search all partitions, in one generation of the index: that of the request, or the newest that all of them have.
    SearchAll {
        /// The query.
        query: Arc<Query>,
        /// Request to each partition.
        request: SearchRequest,
    },
    /// Search some partitions in the generation of the request.
    Search {
        /// The query.
        query: Arc<Query>,
        /// Request to each partition.
        request: SearchRequest,
        /// The partitions.
        partitions: Vec<usize>,
    },
    /// Read the details of hits, of each partition its own.
    Details(Vec<(usize, Arc<Query>, DetailsRequest)>),
    /// Count the matches of sites or groups in some partitions.
    CountMatches {
        /// The query.
        query: Arc<Query>,
        /// Request to each partition.
        request: CountMatchesRequest,
        /// The partitions.
        partitions: Vec<usize>,
    },
    /// Count facets in all partitions.
    CountFacets {
        /// Number of the group of facets.
        group: usize,
        /// The query.
        query: Arc<Query>,
        /// Request to each partition.
        request: CountFacetsRequest,
    },
    /// Make summaries, of each document part its own.
    Summaries(Vec<(usize, SummariesRequest)>),
}

/// Result of one part.
pub type Replied<T> = Result<T, PartError>;

/// Replies to a [`Call`].
#[derive(Debug)]
pub enum Reply {
    /// Replies of all partitions: hits of one generation, and failures.
    SearchedAll {
        /// Hits of each partition; `None` for one that failed.
        partitions: Vec<Option<PartitionHits>>,
        /// Failures of the others.
        failures: Vec<(usize, PartError)>,
        /// The generation.
        generation: u64,
    },
    /// Replies of the partitions called, with their numbers.
    Searched(Vec<(usize, Replied<PartitionHits>)>),
    /// Replies to each request, in order.
    Details(Vec<Replied<Vec<HitDetails>>>),
    /// Replies of the partitions called, in order, with what was counted.
    MatchesCounted(Counted, Vec<Replied<Vec<u64>>>),
    /// Replies of all partitions, with the number of the group.
    FacetsCounted(usize, Vec<Replied<Vec<FacetCounts>>>),
    /// Replies to each request, in order; `None` for a missing text.
    Summaries(Vec<Replied<Vec<Option<TextSummary>>>>),
}

/// Limits of a search.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// End of searches; later replies are not waited for.
    pub cut_off: Instant,
    /// End of everything.
    pub deadline: Instant,
    /// Upper limit on the texts of the answer, in bytes.
    pub bytes_max: usize,
}
