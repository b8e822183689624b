//! Placement of handlers on CPUs, with a reason for each.
//!
//! ```text
//!             data                              query
//!   core 0   p0 h0 │ p0 h1     siblings share   p0 h0 │ p1 h0     siblings hold
//!   core 1   p0 h2 │ p0 h3     a partition      p0 h1 │ p1 h1     different ones
//!   core 2   p1 h0 │ p1 h1                      p0 h2 │ p1 h2
//!   core 3   p1 h2 │ p1 h3                      p0 h3 │ p1 h3
//! ```
//!
//! - `data` fills the contexts of a core with handlers of one partition, then takes the next core of
//!   the same node: siblings share cached data.
//! - `query` puts each partition on a separate context of every core: the parts of one query meet on a
//!   core, and no two handlers of a partition share a core.
//! - `none` leaves the choice to the kernel, within the given CPUs.
//!
//! Both `data` and `query` assign whole cores: the fastest first, in equal numbers to partitions (a
//! query waits for the slowest of them), each partition on one node where it fits. If there are more
//! handlers than contexts, contexts are shared evenly. Algorithm: [`deal`].

mod deal;
mod prepare;
mod table;

use crate::{CpuSet, CpuTopology};
use prepare::{cores, notes, pool, units};
use std::fmt;
use std::str::FromStr;
pub use table::PLACES_HEADER;

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

/// Places every handler of `request` on a machine.
///
/// Every handler gets CPUs that the process may use. No CPU is assigned twice while one is free; once
/// CPUs are shared, the number of handlers per CPU differs by at most one.
pub fn place(topology: &CpuTopology, request: &PlacementRequest) -> Result<Places, PlacementError> {
    let count = request.partitions.saturating_mul(request.handlers);
    if count == 0 || count > HANDLERS_MAX {
        return Err(PlacementError::Handlers {
            partitions: request.partitions,
            handlers: request.handlers,
        });
    }
    let pool = pool(topology, request)?;
    let cores = cores(topology, &pool, request.smt);
    let used: CpuSet = cores.iter().flat_map(|core| core.cpus.clone()).collect();
    let mut notes = notes(topology, request, &cores);
    if request.placement == Placement::None {
        // Pinning to all CPUs has no effect; the note appears only if the set is narrower.
        let narrowed = request.cpus.is_some() || used.len() < topology.allowed.len();
        let cpus = if narrowed { used } else { CpuSet::default() };
        return Ok(left_to_kernel(topology, request, &cpus, notes));
    }
    if used.is_empty() {
        let why = topology
            .gaps
            .first()
            .map_or_else(String::new, |gap| gap.why.clone());
        return Err(PlacementError::NoTopology { why });
    }
    let handlers = deal::deal(&cores, &units(request, &cores));
    let given: CpuSet = handlers.iter().flat_map(|place| &place.cpus).collect();
    if count > used.len() {
        notes.push(format!(
            "{count} handlers share {} CPUs; give --handlers {} for one each",
            used.len(),
            (used.len() / request.partitions).max(1)
        ));
    }
    Ok(Places {
        handlers,
        spare: used.difference(&given),
        notes,
    })
}

fn left_to_kernel(
    topology: &CpuTopology,
    request: &PlacementRequest,
    cpus: &CpuSet,
    notes: Vec<String>,
) -> Places {
    let context = match (cpus.len(), cpus.first()) {
        (1, Some(cpu)) => topology.context(cpu),
        _ => None,
    };
    // If all CPUs are on one node, the node is known wherever the kernel places the handlers.
    let all = if cpus.is_empty() {
        &topology.allowed
    } else {
        cpus
    };
    let mut nodes = all.iter().map(|cpu| topology.context(cpu)?.node);
    let node = nodes.next().flatten();
    let node = node.filter(|&node| nodes.all(|other| other == Some(node)));
    let place = |partition, handler| HandlerPlace {
        partition,
        handler,
        cpus: cpus.clone(),
        core: context.map(|context| context.core),
        socket: context.and_then(|context| context.socket),
        node,
        why: Why::Kernel,
    };
    Places {
        handlers: (0..request.partitions)
            .flat_map(|p| (0..request.handlers).map(move |h| (p, h)))
            .map(|(p, h)| place(p, h))
            .collect(),
        spare: CpuSet::default(),
        notes,
    }
}
