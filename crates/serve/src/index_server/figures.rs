//! Counters of the handlers and the queue of an index server.

use crate::metrics::times::PartitionTimes;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize};

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
    /// Mean of |ln(true / predicted time)| of searches of late, in thousandths.
    pub prediction_error_milli: AtomicU64,
    /// Time from a wake-up to the first instruction of a handler of late, in ns.
    pub wake_ns: AtomicU64,
    /// Work of a helper per unit of its time of late, in thousandths of the owner's.
    pub efficiency_milli: AtomicU64,
    /// Where each handler runs, by the kernel's word.
    pub places: Vec<String>,
    /// Where times go, once somebody measures in this process what its handlers do.
    pub(crate) times: OnceLock<PartitionTimes>,
}
