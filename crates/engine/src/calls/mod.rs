//! Calls to the parts of an index, and their replies: what a [`Coordinator`](crate::Coordinator) asks for.
//!
//! A part is an index server's partition, or a document server's chunks. In one process [`Part`](crate::Part) answers;
//! servers answer behind queues and networks.

mod chunks;
mod part_error;
mod query;
mod replies;
mod requests;

pub use chunks::{Chunks, chunks_shown, index_server_of, part_of};
pub use part_error::{PartError, Retry};
pub use query::{Planned, Query};
pub use replies::{HandlerTimes, NearWord, PartitionHits, TextSummary, TypedWord};
pub use requests::{
    CountFacetsRequest, CountMatchesRequest, Counted, DetailsRequest, NearWordsRequest,
    SearchRequest, SummariesOf, SummariesRequest,
};
