//! Messages between programs.
//!
//! [`answer`]: the answer of a search, as the API and `search --json` return it. [`schedule`]: how handlers shared it.
//! [`rpc`]: the messages between servers.

pub mod answer;
#[cfg(feature = "rpc")]
pub mod rpc;
pub mod schedule;

pub use answer::{
    DidYouMean, FacetAnswer, FacetBucket, FacetPercentile, FacetStats, Hit, PhaseTimes,
    SearchAnswer, Total,
};
pub use schedule::Schedule;
