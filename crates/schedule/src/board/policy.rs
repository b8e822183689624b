//! Interface of scheduling policies: pure decisions on what the board knows.

use super::entry::{Entry, QueryId};
use super::signals::Seen;
use super::state::Board;
use std::fmt;

/// Load of the server at the start of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Queries that wait or are parked, without this one.
    pub claimable: usize,
    /// Idle handlers, without the one that begins.
    pub idle: usize,
    /// Handlers.
    pub handlers: usize,
}

/// How a query starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Wanted time of a range, in ns; `u64::MAX` leaves the query in one piece.
    pub range_ns: u64,
    /// Handlers at once, at most.
    pub degree_max: u32,
}

impl Start {
    /// A query in one piece, for one handler.
    pub const WHOLE: Start = Start {
        range_ns: u64::MAX,
        degree_max: 1,
    };
}

/// A handler at the end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// Now, in ns.
    pub now_ns: u64,
    /// Whether the handler owns the query: it began or resumed it.
    pub is_owner: bool,
    /// Instant of arrival of the query, in ns.
    pub arrived_ns: u64,
    /// Expected handler time left of the query, in ns.
    pub left_ns: u64,
    /// Deadline of the query, in ns.
    pub deadline_ns: u64,
    /// Instant from which the query must not be kept waiting, in ns.
    pub urgent_ns: u64,
}

/// What a free handler does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Begins a waiting query.
    Begin(QueryId),
    /// Resumes a parked query.
    Resume(QueryId),
    /// Takes ranges of a query beside its handlers.
    Help(QueryId),
    /// Rests until it is woken.
    Rest,
}

/// Assignment of handlers to queries. Decisions depend on the arguments alone: no clock, no threads, no chance.
pub trait Policy: fmt::Debug + Send + Sync {
    /// Returns the name, with parameters, as [`policy_named`](super::policy_named) reads it.
    fn name(&self) -> String;

    /// Returns how a query is cut and how many handlers it may have.
    fn begins(&self, query: &Entry, load: &Load) -> Start;

    /// Returns whether a handler goes on with its query at the end of a range. Called without a lock.
    fn stays(&self, visit: &Visit, seen: &Seen) -> bool;

    /// Returns the place of a query in the order of those that nobody works on: least first. By default the time left.
    /// `decay_per_ns` is that of [`Traffic::decay_per_ns`](super::Traffic::decay_per_ns).
    fn key(&self, arrived_ns: u64, left_ns: u64, decay_per_ns: f64) -> u64 {
        let _ = (arrived_ns, decay_per_ns);
        left_ns
    }

    /// Returns what a free handler does.
    fn turn(&self, handler: usize, board: &Board) -> Turn;

    /// Returns the time left from which an idle handler should look whether it can help, in ns; `u64::MAX` for never.
    /// The end of a range calls one while more is left.
    fn calls_helpers_ns(&self) -> u64 {
        u64::MAX
    }

    /// Returns the interval of [`Policy::swaps`] in ns; `None` without swaps.
    fn sampling_ns(&self) -> Option<u64> {
        None
    }

    /// Returns pairs of handlers that exchange their queries at the ends of their ranges: the first of each is busy.
    fn swaps(&self, board: &Board) -> Vec<(usize, usize)> {
        let _ = board;
        Vec::new()
    }
}
