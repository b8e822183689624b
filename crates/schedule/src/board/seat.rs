//! Seat of a handler: the core, the cache and the NUMA node of its CPU.

use crate::{CpuSet, CpuTopology};

/// Core, cache and NUMA node of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seat {
    /// Number of the core.
    pub core: u32,
    /// Number of the last-level cache, where known.
    pub cache: Option<u32>,
    /// NUMA node, where known.
    pub node: Option<u32>,
}

/// Distance of two seats, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Distance {
    Cache,
    Node,
    Far,
}

impl Seat {
    /// Returns the seat of a handler that may use these CPUs of a machine; `None` unless it is one.
    pub fn of(topology: &CpuTopology, cpus: &CpuSet) -> Option<Seat> {
        let cpu = cpus.first().filter(|_| cpus.len() == 1)?;
        let context = topology.context(cpu)?;
        Some(Seat {
            core: context.core,
            cache: topology
                .last_cache(cpu)
                .and_then(|cache| cache.cpus.first()),
            node: context.node,
        })
    }

    /// Returns the distance of another seat.
    pub(super) fn distance(&self, other: &Seat) -> Distance {
        let is_known = |one: Option<u32>| one.is_some();
        if is_known(self.cache) && self.cache == other.cache {
            return Distance::Cache;
        }
        match self.node == other.node {
            true => Distance::Node,
            false => Distance::Far,
        }
    }
}
