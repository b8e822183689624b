//! Queries of a simulation, and the visits of handlers to them.

use schedule::board::QueryId;

/// A query of the simulation.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    pub(super) number: usize,
    pub(super) arrived_ns: u64,
    /// Time of the whole query on a handler of speed 1, in ns.
    pub(super) time_ns: f64,
    pub(super) likely_ns: f64,
    pub(super) ranges: u32,
    /// Next range.
    pub(super) next: u32,
    /// Parts that no handler works on, in ns on a handler of speed 1, of a query in one piece; `None` of one in ranges.
    pub(super) parts: Option<Vec<f64>>,
}

impl Query {
    /// Returns whether nothing is left to take.
    pub(super) fn is_exhausted(&self) -> bool {
        match &self.parts {
            Some(parts) => parts.is_empty(),
            None => self.next >= self.ranges,
        }
    }
}

/// The visit of a handler.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    pub(super) query: QueryId,
    pub(super) is_owner: bool,
    pub(super) visit_began_ns: u64,
    pub(super) range_began_ns: u64,
    /// Instant from which the handler is busy that is not counted yet.
    pub(super) busy_from_ns: u64,
    /// What is left of the part, in ns on a handler of speed 1, of a query in one piece.
    pub(super) left_ns: f64,
    /// Time of the visit before which requests for a half are not heard, in ns.
    pub(super) unheard_ns: u64,
}
