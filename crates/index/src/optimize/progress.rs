//! Progress of a rewrite.

/// How far rewriting is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptimizeProgress {
    /// What is being done; with several partitions at a time, by whoever told last.
    pub phase: Phase,
    /// Work done, in a unit of its own.
    pub done: u64,
    /// All work, about.
    pub total: u64,
}

/// What a partition is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Finding the new order.
    Ordering,
    /// Writing the new segment.
    Writing,
}
