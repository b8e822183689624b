//! Decisions of scheduling policies, and what they are based on.

use super::entry::QueryId;

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
