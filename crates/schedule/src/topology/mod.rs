//! CPU topology as reported by Linux: sockets, NUMA nodes, cores, sibling contexts, caches.
//!
//! ```text
//! sys/devices/system/cpu/online            0-31
//! sys/devices/system/cpu/smt/control       on | off | notsupported | …
//! sys/devices/system/cpu/cpu0/topology/core_cpus_list, physical_package_id
//! sys/devices/system/cpu/cpu0/cache/index3/level, type, size, shared_cpu_list
//! sys/devices/system/cpu/cpu0/cpu_capacity, cpufreq/cpuinfo_max_freq
//! sys/devices/system/node/node0/cpulist
//! proc/self/status                         Cpus_allowed_list:  0-15
//! proc/cpuinfo                             flags: … hypervisor …
//! ```
//!
//! A *context* is one hardware thread, which the kernel calls a CPU. Contexts of one core are
//! *siblings*. Reading never fails: files may be missing, wrong or contradictory (virtual machines,
//! containers, other kernels), and a [`Gap`] then names the unknown value and the reason.
//!
//! Source: Linux, Documentation/ABI/stable/sysfs-devices-system-cpu and sysfs-devices-node,
//! Documentation/admin-guide/cputopology.rst.

mod caches;
mod read;
mod speed;
mod texts;

use crate::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

/// The online contexts of a machine, and the resources that they share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuTopology {
    /// Online contexts, lowest first.
    pub contexts: Vec<Context>,
    /// Data and unified caches, by level and then lowest context.
    pub caches: Vec<Cache>,
    /// Present contexts that are offline.
    pub offline: CpuSet,
    /// Online contexts that this process may run on (affinity and cpuset).
    pub allowed: CpuSet,
    /// Unknown properties.
    pub gaps: Vec<Gap>,
}

/// A hardware thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Number of the context in the kernel.
    pub cpu: u32,
    /// Core, numbered over the whole machine by lowest context, as in `lscpu`.
    pub core: u32,
    /// Socket (`physical_package_id`).
    pub socket: Option<u32>,
    /// NUMA node.
    pub node: Option<u32>,
    /// Maximum performance relative to the fastest context, which has 1024.
    pub capacity: Option<u32>,
    /// Speed class: 0 for the fastest cores, 1 for the next kind (big and little cores); 0 if unknown.
    pub speed_class: u32,
}

/// A data or unified cache.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cache {
    /// Level; 1 is nearest to the core.
    pub level: u32,
    /// Online contexts that share the cache.
    pub cpus: CpuSet,
    /// Size of the cache.
    pub bytes: Option<u64>,
}

/// A property that the machine does not report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Name of the property: `siblings of cpu 3`.
    pub what: String,
    /// Reason, and the value assumed instead.
    pub why: String,
}

impl CpuTopology {
    /// Returns the context with this number, if it is online.
    pub fn context(&self, cpu: u32) -> Option<&Context> {
        let at = self.contexts.binary_search_by_key(&cpu, |c| c.cpu).ok()?;
        Some(&self.contexts[at])
    }

    /// Returns all online contexts.
    pub fn online(&self) -> CpuSet {
        self.contexts.iter().map(|context| context.cpu).collect()
    }

    /// Returns the online contexts of the same core, including `cpu`.
    pub fn siblings(&self, cpu: u32) -> CpuSet {
        let core = self.context(cpu).map(|context| context.core);
        self.contexts
            .iter()
            .filter(|context| Some(context.core) == core)
            .map(|context| context.cpu)
            .collect()
    }

    /// Returns the last-level cache of `cpu`, shared or not.
    pub fn last_cache(&self, cpu: u32) -> Option<&Cache> {
        self.caches.iter().rfind(|cache| cache.cpus.contains(cpu))
    }

    /// Returns the number of known sockets.
    pub fn sockets_count(&self) -> usize {
        distinct(self.contexts.iter().filter_map(|context| context.socket))
    }

    /// Returns the number of known NUMA nodes with contexts.
    pub fn nodes_count(&self) -> usize {
        distinct(self.contexts.iter().filter_map(|context| context.node))
    }

    /// Returns the number of cores with an online context.
    pub fn cores_count(&self) -> usize {
        distinct(self.contexts.iter().map(|context| context.core))
    }

    /// Returns the largest number of online contexts of a core; 1 without SMT (or if it is hidden: see
    /// [`CpuTopology::gaps`]).
    pub fn contexts_per_core_max(&self) -> usize {
        let mut counts = BTreeMap::new();
        for context in &self.contexts {
            *counts.entry(context.core).or_insert(0) += 1;
        }
        counts.into_values().max().unwrap_or(0)
    }
}

impl std::fmt::Display for CpuTopology {
    /// Writes one line: `32 contexts, 16 cores, 2 sockets, 2 NUMA nodes; 8 allowed: 0-7`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counted = |count: usize, noun: &str| match count {
            0 => format!("{noun}s unknown"),
            1 => format!("1 {noun}"),
            _ => format!("{count} {noun}s"),
        };
        write!(
            f,
            "{}, {}, {}, {}",
            counted(self.contexts.len(), "context"),
            counted(self.cores_count(), "core"),
            counted(self.sockets_count(), "socket"),
            counted(self.nodes_count(), "NUMA node"),
        )?;
        if self.allowed.len() < self.contexts.len() {
            write!(f, "; {} allowed: {}", self.allowed.len(), self.allowed)?;
        }
        if !self.offline.is_empty() {
            write!(f, "; offline: {}", self.offline)?;
        }
        Ok(())
    }
}

fn distinct(values: impl Iterator<Item = u32>) -> usize {
    values.collect::<BTreeSet<u32>>().len()
}
