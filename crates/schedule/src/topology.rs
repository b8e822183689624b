//! What is this machine made of? Sockets, NUMA nodes, cores, sibling contexts, caches, as Linux tells.
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
//! A *context* is what the kernel calls a CPU: one hardware thread. Contexts of one core are
//! *siblings*. Reading never fails: files may be missing, wrong or contradict each other (virtual
//! machines, containers, other kernels), and then the [`Gap`] says what is not known, and why.
//!
//! Source: Linux, Documentation/ABI/stable/sysfs-devices-system-cpu and sysfs-devices-node,
//! Documentation/admin-guide/cputopology.rst.

mod caches;
mod read;
mod speed;

use crate::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

/// The contexts of a machine that are online, and what they share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuTopology {
    /// Every context that is online, lowest first.
    pub contexts: Vec<Context>,
    /// Every cache that holds data, by level and then lowest context.
    pub caches: Vec<Cache>,
    /// Contexts that are there but switched off.
    pub offline: CpuSet,
    /// Online contexts that this process may run on (affinity and cpuset).
    pub allowed: CpuSet,
    /// What could not be learned.
    pub gaps: Vec<Gap>,
}

/// One hardware thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The kernel's number.
    pub cpu: u32,
    /// The core, numbered over the whole machine by lowest context, as `lscpu` does.
    pub core: u32,
    /// The socket (`physical_package_id`).
    pub socket: Option<u32>,
    /// The NUMA node.
    pub node: Option<u32>,
    /// What it does at most beside the fastest, which has 1024.
    pub capacity: Option<u32>,
    /// 0 for the fastest cores, 1 for the next kind (big and little cores); 0 where unknown.
    pub speed_class: u32,
}

/// A data or unified cache.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u32,
    /// Online contexts that share it.
    pub cpus: CpuSet,
    /// Its size.
    pub bytes: Option<u64>,
}

/// Something that the machine does not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// What is not known: `siblings of cpu 3`.
    pub what: String,
    /// Why, and what is assumed instead.
    pub why: String,
}

impl CpuTopology {
    /// Reads a machine through `file`, which gives the text of a file by its path below the root
    /// (`sys/…`, `proc/…`), or why it cannot be read.
    pub fn read(file: impl Fn(&str) -> Result<String, String>) -> CpuTopology {
        read::read(&file)
    }

    /// The context of that number, if it is online.
    pub fn context(&self, cpu: u32) -> Option<&Context> {
        let at = self.contexts.binary_search_by_key(&cpu, |c| c.cpu).ok()?;
        Some(&self.contexts[at])
    }

    /// All contexts that are online.
    pub fn online(&self) -> CpuSet {
        self.contexts.iter().map(|context| context.cpu).collect()
    }

    /// Online contexts of the same core, `cpu` itself among them.
    pub fn siblings(&self, cpu: u32) -> CpuSet {
        let core = self.context(cpu).map(|context| context.core);
        self.contexts
            .iter()
            .filter(|context| Some(context.core) == core)
            .map(|context| context.cpu)
            .collect()
    }

    /// The furthest cache that `cpu` shares with others or has to itself.
    pub fn last_cache(&self, cpu: u32) -> Option<&Cache> {
        self.caches.iter().rfind(|cache| cache.cpus.contains(cpu))
    }

    /// Sockets that are known.
    pub fn sockets_count(&self) -> usize {
        distinct(self.contexts.iter().filter_map(|context| context.socket))
    }

    /// NUMA nodes with contexts that are known.
    pub fn nodes_count(&self) -> usize {
        distinct(self.contexts.iter().filter_map(|context| context.node))
    }

    /// Cores with a context online.
    pub fn cores_count(&self) -> usize {
        distinct(self.contexts.iter().map(|context| context.core))
    }

    /// The most contexts that a core has online; 1 without SMT (or where it is hidden: see
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
    /// One line: `32 contexts, 16 cores, 2 sockets, 2 NUMA nodes; 8 allowed: 0-7`.
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
