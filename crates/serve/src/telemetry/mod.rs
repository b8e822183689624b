//! Registers of metrics, phase times of partitions, and counters that the parts of a server keep for them.

pub(crate) mod partition_times;
pub(crate) mod register;

/// Counters of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheFigures {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}
