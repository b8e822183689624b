//! What a handler knows at the end of a range.

/// A query is parked only after this factor of the time that joining it takes, so that a query that is parked again and
/// again loses a fifth of its time by it at most.
const PARK_JOINS: u64 = 4;
/// A query is parked only with this factor of its time left to its deadline.
const SLACK_FACTOR: u64 = 4;

/// A handler at the end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// Present instant, in ns.
    pub now_ns: u64,
    /// Whether the handler owns the query: it began or resumed it.
    pub is_owner: bool,
    /// Instant of arrival of the query, in ns.
    pub arrived_ns: u64,
    /// Expected handler time left of the query, in ns.
    pub left_ns: u64,
    /// Time that a handler takes before its first range of the query, in ns.
    pub join_ns: u64,
    /// Time that the handler has worked on the query since it joined it, in ns; `u64::MAX` where it is not measured.
    pub stay_ns: u64,
    /// Deadline of the query, in ns.
    pub deadline_ns: u64,
    /// Instant from which the query must not be kept waiting, in ns.
    pub urgent_ns: u64,
}

impl Visit {
    /// Returns whether too little time is left to the deadline of the query to park it.
    pub(super) fn is_pressed(&self) -> bool {
        let slack_ns = self.deadline_ns.saturating_sub(self.now_ns);
        slack_ns <= SLACK_FACTOR.saturating_mul(self.left_ns)
    }

    /// Returns whether the handler has hardly joined the query: it is parked for an urgent one alone.
    pub(super) fn is_fresh(&self) -> bool {
        self.stay_ns < PARK_JOINS.saturating_mul(self.join_ns)
    }
}
