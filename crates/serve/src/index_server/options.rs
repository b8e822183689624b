//! Options of an index server.

use crate::index_server::pinning::Place;
use schedule::board::PolicyChoice;
use std::time::Duration;

/// Handlers, queue and cut-off of an index server.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerOptions {
    /// Handlers.
    pub handlers: usize,
    /// Requests that may wait; 0 lets the server decide by how long searches take.
    pub queue_length: usize,
    /// Where each handler runs; none leaves it to the kernel.
    pub places: Vec<Place>,
    /// The most time that a search gets on its handler, whatever the client's deadline (the classic
    /// "cut-off latency").
    pub cut_off: Option<Duration>,
    /// Assignment of handlers to queries.
    pub policy: PolicyChoice,
    /// Postings of a range at least: below, opening the lists once more costs more than help saves.
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
