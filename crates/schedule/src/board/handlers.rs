//! Handlers as the board knows them.

use super::entry::QueryId;

/// State of a handler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Handler {
    /// Work per unit of time relative to the fastest class, in (0, 1].
    pub speed: f64,
    /// The query that it works on.
    pub query: Option<QueryId>,
    /// Whether it owns that query: it began or resumed it.
    pub is_owner: bool,
    /// Whether it has been woken and has not taken its turn yet.
    pub is_woken: bool,
    /// Whether it sleeps: a wake-up costs [`Learnt::wake_ns`](super::Learnt::wake_ns). A handler that looks for work is awake.
    pub is_resting: bool,
    /// Query reserved for its next turn, by a swap, with its number: slots are used again.
    pub reserved: Option<(QueryId, u64)>,
}

impl Handler {
    pub(super) fn new(speed: f64) -> Handler {
        Handler {
            speed,
            query: None,
            is_owner: false,
            is_woken: false,
            is_resting: true,
            reserved: None,
        }
    }

    /// Returns whether it rests and has not been woken.
    pub fn is_idle(&self) -> bool {
        self.query.is_none() && self.is_resting && !self.is_woken
    }
}
