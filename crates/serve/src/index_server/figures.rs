//! Counters of the handlers and the queue of an index server.

use crate::metrics::times::PartitionTimes;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Counters of the handlers and the queue of an index server, read at any moment.
#[derive(Debug, Default)]
pub struct Figures {
    /// Handlers.
    pub handlers: usize,
    /// Handlers that search.
    pub busy: AtomicUsize,
    /// Requests that wait.
    pub waiting: AtomicUsize,
    /// Requests refused because the queue was full.
    pub refused: AtomicU64,
    /// Requests that were not begun, because their deadline had passed or nobody waited for them.
    pub never_begun: AtomicU64,
    /// Searches that ended early.
    pub ended_early: AtomicU64,
    /// Searches that several handlers worked on.
    pub helped: AtomicU64,
    /// Times that a search was parked for another one.
    pub parked: AtomicU64,
    /// What a search took of late.
    pub(super) mean_search_us: AtomicU64,
    /// Where each handler runs, by the kernel's word.
    pub places: Vec<String>,
    /// Where times go, once somebody measures in this process what its handlers do.
    pub(crate) times: OnceLock<PartitionTimes>,
}

impl Figures {
    /// Moves the mean an eighth of the way.
    pub(crate) fn searched(&self, search_us: u64) {
        let mean = self.mean_search_us.load(Ordering::Relaxed);
        let moved = match mean {
            0 => search_us,
            _ => (mean * 7 + search_us) / 8,
        };
        self.mean_search_us.store(moved.max(1), Ordering::Relaxed);
    }
}
