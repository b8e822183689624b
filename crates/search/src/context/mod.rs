//! State of a search besides its query: cancellation, working memory, counters.

pub(crate) mod cancel;
pub mod contract;
pub(crate) mod counters;
pub(crate) mod scratch;
pub(crate) mod wanted;
