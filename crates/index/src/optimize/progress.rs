//! Progress of an optimization.

/// Progress of an optimization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptimizeProgress {
    /// Current phase; with several partitions at a time, that of the last report.
    pub phase: Phase,
    /// Work done, in an arbitrary unit.
    pub done: u64,
    /// Approximate total work, in the same unit.
    pub total: u64,
}

/// Phase of the work on a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Search for the new order.
    Ordering,
    /// Writing of the new segment.
    Writing,
}
