//! The crawler: from seeds to WARC files, documents and an index that stays current.
//!
//! ```text
//! seeds, sitemaps, links ─► frontier ─► fetch ─► archive (WARC) ─► reading ─► collection ─► index
//!                              ▲                                      │
//!                              └────────── links ◄────────────────────┘
//! ```
//!
//! The frontier decides which page is fetched next, and when its host and address permit it; it is synchronous,
//! has no clock and no socket. The fetcher fetches one URL within limits. A run ([`Crawl`]) joins them. Everything after
//! the archive can be repeated from it without a request ([`replay`]). With the feature
//! `urlfrontier`, `queues` keeps the URLs of other crawlers.
//! Several processes may share a crawl: each visits the hosts that it owns, and hands over what it finds of others.

#![forbid(unsafe_code)]

pub mod archive;
mod bytes;
mod collection;
pub mod config;
mod error;
mod explain;
pub mod fetch;
pub mod frontier;
mod indexing;
pub mod indexnow;
mod members;
pub mod politeness;
#[cfg(feature = "urlfrontier")]
pub mod queues;
pub mod reading;
pub mod recrawl;
mod render;
mod run;
pub mod synthetic;

pub use collection::StatedAddress;
pub use config::{ConfigError, CrawlConfig, SiteConfig, Sites};
pub use error::CrawlError;
pub use explain::{ExplainError, Explained, explain};
pub use indexing::Committed;
pub use run::{
    Crawl, CrawlSetup, MemberSetup, Replayed, configuration, is_running, members_of, ping,
    progress_of, replay, request_stop, status_of, time_text,
};
pub use wire::{CrawlProgress, CrawlStatus};
