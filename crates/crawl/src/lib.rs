//! The crawler: from seeds to WARC files, documents and an index that stays current.
//!
//! The frontier decides which page is fetched next, and when its host and address permit it; it is synchronous,
//! has no clock and no socket. The fetcher fetches one URL within limits. The crawl joins them.

#![forbid(unsafe_code)]

pub mod fetch;
pub mod synthetic;
