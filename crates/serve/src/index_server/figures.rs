//! Counters of the handlers and the queue of an index server.

use crate::metrics::times::PartitionTimes;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Counters of the handlers and the queue of an index server. They may be read at any time.
#[derive(Debug, Default)]
pub struct Figures {
    /// Number of handlers.
    pub handlers: usize,
    /// Number of handlers that are searching.
    pub busy: AtomicUsize,
    /// Number of waiting requests.
    pub waiting: AtomicUsize,
    /// Number of requests refused because the queue was full.
    pub refused: AtomicU64,
    /// Number of requests never begun, because their deadline had passed or they were cancelled.
    pub never_begun: AtomicU64,
    /// Number of searches that ended early.
    pub ended_early: AtomicU64,
    /// Moving average of the search time, in microseconds.
    pub(super) mean_search_us: AtomicU64,
    /// Placement of each handler, as the kernel reports it.
    pub places: Vec<String>,
    /// Phase times of the handlers; set when the metrics of this process register.
    pub(crate) times: OnceLock<PartitionTimes>,
}

impl Figures {
    /// Moves the average search time an eighth of the way towards `search_us`, in microseconds.
    pub(crate) fn searched(&self, search_us: u64) {
        let mean = self.mean_search_us.load(Ordering::Relaxed);
        let moved = match mean {
            0 => search_us,
            _ => (mean * 7 + search_us) / 8,
        };
        self.mean_search_us.store(moved.max(1), Ordering::Relaxed);
    }
}
