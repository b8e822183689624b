//! Counters of the handlers and the queue of an index server.

use crate::telemetry::partition_times::PartitionTimes;
use schedule::board::Signals;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};

/// Counters of the handlers and the queue of an index server. They may be read at any time.
#[derive(Debug, Default)]
pub struct Figures {
    /// Number of handlers.
    pub handlers: usize,
    /// Number of handlers that are searching.
    pub busy: AtomicUsize,
    /// Signals of the board, which count the requests that wait.
    pub(crate) signals: Option<Arc<Signals>>,
    /// Number of requests refused because the queue was full.
    pub refused: AtomicU64,
    /// Number of requests never begun, because their deadline had passed or they were cancelled.
    pub never_begun: AtomicU64,
    /// Number of searches that ended early.
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
    /// Place of each handler, as the kernel reports it.
    pub places: Vec<String>,
    /// Phase times of the handlers; set when the metrics of this process register.
    pub(crate) times: OnceLock<PartitionTimes>,
}

impl Figures {
    /// Returns the number of waiting requests.
    pub fn waiting(&self) -> u32 {
        self.signals
            .as_ref()
            .map_or(0, |signals| signals.claimable())
    }
}
