//! Messages between programs.
//!
//! [`answer`]: the answer of a search, as the API and `search --json` return it. [`rpc`]: the messages between servers.

pub mod answer;
#[cfg(feature = "rpc")]
pub mod rpc;

pub use answer::{
    DidYouMean, FacetAnswer, FacetBucket, FacetPercentile, FacetStats, Hit, PhaseTimes,
    SearchAnswer, Total,
};
