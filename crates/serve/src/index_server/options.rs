//! Options of an index server.

use crate::index_server::pinning::Place;
use schedule::board::PolicyChoice;
use std::time::Duration;

/// Handlers, queue and cut-off of an index server.
#[derive(Debug, Clone, Default, PartialEq)]
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
}
