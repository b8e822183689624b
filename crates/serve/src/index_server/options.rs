//! Options of an index server.

use crate::index_server::pinning::Place;
use schedule::board::PolicyChoice;
use std::time::Duration;

/// Handlers, queue and cut-off of an index server.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerOptions {
    /// Number of handlers.
    pub handlers: usize,
    /// Capacity of the queue, in requests; 0 bounds it by the predicted time of what waits.
    pub queue_length: usize,
    /// Placement of each handler; empty leaves it to the kernel.
    pub places: Vec<Place>,
    /// Upper limit on the time of a search on its handler, whatever the client's deadline (the classic
    /// "cut-off latency").
    pub cut_off: Option<Duration>,
    /// Assignment of handlers to queries.
    pub policy: PolicyChoice,
    /// Postings of a range at least: below, opening the lists once more costs more than help saves. With 0, searches are
    /// cut before their times are known (`trusts_all`), as tests of exactness want it.
    pub range_postings_min: u64,
}

/// Opening a range takes a thirtieth of the time of these postings, at most.
const RANGE_POSTINGS_MIN: u64 = 1 << 16;

impl Default for HandlerOptions {
    fn default() -> HandlerOptions {
        HandlerOptions {
            handlers: 0,
            queue_length: 0,
            places: Vec::new(),
            cut_off: None,
            policy: PolicyChoice::default(),
            range_postings_min: RANGE_POSTINGS_MIN,
        }
    }
}
