//! Messages between programs.
//!
//! [`answer`]: the answer of a search, as the API and `search --json` return it. [`suggest`]: suggested titles. [`schedule`]: how handlers shared it.
//! [`crawl`]: figures of a crawl. [`rpc`]: the messages between servers.
//! [`members`]: those between the members of a crawl. [`urlfrontier`]: those by which other crawlers keep their URLs in a frontier.

pub mod answer;
pub mod crawl;
#[cfg(feature = "rpc")]
pub mod members;
#[cfg(feature = "rpc")]
pub mod rpc;
pub mod schedule;
pub mod suggest;
#[cfg(feature = "urlfrontier")]
pub mod urlfrontier;

pub use answer::{
    DidYouMean, FacetAnswer, FacetBucket, FacetPercentile, FacetStats, Hit, HitNumbers, PhaseTimes,
    SearchAnswer, Total,
};
pub use crawl::{CrawlProgress, CrawlStatus, UrlsInState, WaitingHost};
pub use schedule::Schedule;
pub use suggest::{SuggestAnswer, SuggestedTitle};
