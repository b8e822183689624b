//! State of a search besides the query: cancellation, working memory, counters, contracts.

pub(crate) mod cancel;
pub mod contract;
pub(crate) mod counters;
pub(crate) mod scratch;
pub(crate) mod wanted;
