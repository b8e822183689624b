//! Placement requests, their errors, and the places that answer them.

use crate::CpuSet;
use std::fmt;
use std::str::FromStr;

/// Upper limit on handlers, above the needs of any machine.
pub const HANDLERS_MAX: usize = 65_536;

/// Placement strategy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Handlers of one partition on sibling contexts of a core.
    Data,
    /// Handlers of different partitions on sibling contexts: the parts of a query meet on a core.
    Query,
    /// Placement by the kernel.
    #[default]
    None,
}

impl Placement {
    /// Returns the name used in options and tables.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Data => "data",
            Placement::Query => "query",
            Placement::None => "none",
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Placement {
    type Err = String;
    fn from_str(name: &str) -> Result<Placement, String> {
        [Placement::Data, Placement::Query, Placement::None]
            .into_iter()
            .find(|placement| placement.name() == name)
            .ok_or_else(|| format!("{name:?} is no placement; choose data, query or none"))
    }
}

/// Input of a placement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacementRequest {
    /// Placement strategy.
    pub placement: Placement,
    /// Whether all contexts of a core are used, or only one.
    pub smt: bool,
    /// CPUs to use (`--cpus`); `None` for all allowed CPUs.
    pub cpus: Option<CpuSet>,
    /// Number of partitions.
    pub partitions: usize,
    /// Handlers per partition.
    pub handlers: usize,
}

/// Placement of all handlers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Handlers in order of partition and number.
    pub handlers: Vec<HandlerPlace>,
    /// CPUs of the request without a handler, free for other threads.
    pub spare: CpuSet,
    /// Notes for the user on deviations from the request, each with its reason.
    pub notes: Vec<String>,
}

/// Placement of one handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerPlace {
    /// Partition of the handler.
    pub partition: usize,
    /// Number of the handler within its partition.
    pub handler: usize,
    /// CPUs to pin the handler to; empty if the kernel may choose any.
    pub cpus: CpuSet,
    /// Core, if it is a single one ([`crate::topology::Context::core`]).
    pub core: Option<u32>,
    /// Socket, if it is a single known one.
    pub socket: Option<u32>,
    /// NUMA node, if it is a single known one: memory is best allocated there.
    pub node: Option<u32>,
    /// Reason for the placement.
    pub why: Why,
}

/// Reason for the placement of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// First handler of its partition (or of the partitions that meet): the node with the most free cores.
    First,
    /// Sibling context: the core has a handler of the same partition.
    Sibling {
        /// CPU of that handler.
        of: u32,
    },
    /// Next core of the node.
    NextCore,
    /// Core of another node: the partition's own node has none left.
    OtherNode,
    /// Core with the same handler of another partition.
    Meets {
        /// Partition of that handler.
        partition: usize,
    },
    /// Free context: no whole core is left.
    LeftOver,
    /// CPU shared with other handlers: there are more handlers than CPUs.
    Shares {
        /// Number of handlers already on the CPU.
        handlers: usize,
    },
    /// Choice of the kernel.
    Kernel,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::First => f.write_str("first core"),
            Why::Sibling { of } => write!(f, "sibling of cpu {of}, same partition"),
            Why::NextCore => f.write_str("next core of the node"),
            Why::OtherNode => f.write_str("other node: no core left on its own"),
            Why::Meets { partition } => write!(f, "meets partition {partition} on the core"),
            Why::LeftOver => f.write_str("free context: no whole core left"),
            Why::Shares { handlers: 1 } => f.write_str("shares the cpu: more handlers than cpus"),
            Why::Shares { handlers } => {
                write!(f, "shares the cpu with {handlers}: more handlers than cpus")
            }
            Why::Kernel => f.write_str("the kernel chooses"),
        }
    }
}

/// Error for a request that cannot be placed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// The request has no handlers, or too many.
    #[error(
        "{partitions} partitions of {handlers} handlers cannot be placed; \
         give at least one of each, and {HANDLERS_MAX} handlers in all at most"
    )]
    Handlers {
        /// Number of partitions requested.
        partitions: usize,
        /// Handlers per partition.
        handlers: usize,
    },
    /// The machine does not report its CPUs.
    #[error("the CPUs of this machine are not known ({why}); use --placement none")]
    NoTopology {
        /// Reason.
        why: String,
    },
    /// `--cpus` is empty.
    #[error("--cpus names no CPU; give some of {allowed}, or leave it out for all of them")]
    NoCpus {
        /// CPUs that may be named.
        allowed: CpuSet,
    },
    /// `--cpus` names unavailable CPUs.
    #[error(
        "--cpus {asked} names CPUs that this process cannot have: {missing} ({why}); \
         it may use {allowed}"
    )]
    NotAllowed {
        /// The requested list.
        asked: CpuSet,
        /// Unavailable CPUs of the list.
        missing: CpuSet,
        /// Reason: offline, not present, or not allowed for this process.
        why: &'static str,
        /// CPUs that may be named.
        allowed: CpuSet,
    },
}
