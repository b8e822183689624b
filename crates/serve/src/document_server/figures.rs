//! Counters of a document server.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize};

/// Counters of a document server, readable at any time.
#[derive(Debug, Default)]
pub(crate) struct DocumentFigures {
    /// Number of summary requests in work.
    pub(crate) busy: AtomicUsize,
    /// Number of summaries made.
    pub(crate) made: AtomicU64,
    /// Number of requests never begun, because their deadline had passed or they were cancelled.
    pub(crate) expired: AtomicU64,
    /// Number of requests that expired or were cancelled during the work.
    pub(crate) ended_early: AtomicU64,
    /// Histogram of the time for a page of summaries; set when metrics register.
    pub(crate) times: OnceLock<metrics::Histogram>,
}
