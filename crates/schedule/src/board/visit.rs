//! What a handler knows at the end of a range.

/// A query is parked only with this factor of its time left to its deadline.
const SLACK_FACTOR: u64 = 4;

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

impl Visit {
    /// Returns whether too little time is left to the deadline of the query to park it.
    pub(super) fn is_pressed(&self) -> bool {
        let slack_ns = self.deadline_ns.saturating_sub(self.now_ns);
        slack_ns <= SLACK_FACTOR.saturating_mul(self.left_ns)
    }
}
