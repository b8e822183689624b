//! Options of an index server.

use crate::index_server::pinning::Place;
use std::time::Duration;

/// Options for handlers, queue and cut-off of an index server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HandlerOptions {
    /// Number of handlers.
    pub handlers: usize,
    /// Capacity of the queue, in requests; 0 derives it from the mean search time.
    pub queue_length: usize,
    /// Placement of each handler; empty leaves it to the kernel.
    pub places: Vec<Place>,
    /// Upper limit on the time of a search on its handler, whatever the client's deadline (the classic
    /// "cut-off latency").
    pub cut_off: Option<Duration>,
}
