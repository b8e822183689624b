//! On which CPU does every handler run, and why there?
//!
//! ```text
//!             data                              query
//!   core 0   p0 h0 │ p0 h1     siblings share   p0 h0 │ p1 h0     siblings hold
//!   core 1   p0 h2 │ p0 h3     a partition      p0 h1 │ p1 h1     different ones
//!   core 2   p1 h0 │ p1 h1                      p0 h2 │ p1 h2
//!   core 3   p1 h2 │ p1 h3                      p0 h3 │ p1 h3
//! ```
//!
//! - `data` fills the contexts of a core with handlers of one partition, then takes the next core
//!   of the same node: what one handler brought into a cache, its sibling uses.
//! - `query` puts each partition on a context of its own on every core: the parts of one query meet
//!   on a core, and no two handlers of a partition share one.
//! - `none` leaves the choice to the kernel, within the CPUs that are given.
//!
//! Both deal whole cores: the fastest first, in equal numbers to partitions (a query waits for the
//! slowest of them), each partition on one node where it fits. Where there are more handlers than
//! contexts, they share, none more than the others. How it is dealt: [`deal`].

mod deal;
mod prepare;
mod table;

use crate::{CpuSet, CpuTopology};
use prepare::{cores, notes, pool, units};
use std::fmt;
use std::str::FromStr;
pub use table::PLACES_HEADER;

/// The most handlers that are placed: more than any machine has use for.
pub const HANDLERS_MAX: usize = 65_536;

/// What decides where handlers run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Handlers of one partition on sibling contexts.
    Data,
    /// One partition a sibling: the parts of a query meet on the same core.
    Query,
    /// The kernel.
    #[default]
    None,
}

impl Placement {
    /// The name that options and tables use.
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

/// What is to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacementRequest {
    /// What decides.
    pub placement: Placement,
    /// Whether all contexts of a core are used, or one only.
    pub smt: bool,
    /// CPUs to stay within (`--cpus`); all that are allowed where `None`.
    pub cpus: Option<CpuSet>,
    /// Partitions.
    pub partitions: usize,
    /// Handlers of each partition.
    pub handlers: usize,
}

/// Where every handler runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// All handlers, by partition and then by handler.
    pub handlers: Vec<HandlerPlace>,
    /// CPUs of the request that no handler has: for everything else, if there are some.
    pub spare: CpuSet,
    /// What whoever asked should know: what could not be done as asked, and why.
    pub notes: Vec<String>,
}

/// Where one handler runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerPlace {
    /// Its partition.
    pub partition: usize,
    /// Its number within the partition.
    pub handler: usize,
    /// The CPUs to pin it to; empty where the kernel has all of them to choose from.
    pub cpus: CpuSet,
    /// The core, where it is one ([`crate::topology::Context::core`]).
    pub core: Option<u32>,
    /// The socket, where it is one and known.
    pub socket: Option<u32>,
    /// The NUMA node, where it is one and known: memory is best taken there.
    pub node: Option<u32>,
    /// Why there.
    pub why: Why,
}

/// Why a handler has its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The first of its partition (or of the partitions that meet): the freest node.
    First,
    /// Beside a handler of its own partition, on the same core.
    Sibling {
        /// That handler's CPU.
        of: u32,
    },
    /// The next core of the node.
    NextCore,
    /// A core of another node: the partition's own has none left.
    OtherNode,
    /// On a core with the same handler of another partition.
    Meets {
        /// That partition.
        partition: usize,
    },
    /// A free context, no whole core being left.
    LeftOver,
    /// On a CPU that others have too: there are more handlers than CPUs.
    Shares {
        /// How many handlers had it before.
        handlers: usize,
    },
    /// The kernel chooses.
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

/// Handlers cannot be placed as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// There is nothing to place, or too much.
    #[error(
        "{partitions} partitions of {handlers} handlers cannot be placed; \
         give at least one of each, and {HANDLERS_MAX} handlers in all at most"
    )]
    Handlers {
        /// Partitions asked for.
        partitions: usize,
        /// Handlers of each.
        handlers: usize,
    },
    /// The machine does not say which CPUs it has.
    #[error("the CPUs of this machine are not known ({why}); use --placement none")]
    NoTopology {
        /// Why not.
        why: String,
    },
    /// `--cpus` names none.
    #[error("--cpus names no CPU; give some of {allowed}, or leave it out for all of them")]
    NoCpus {
        /// What may be named.
        allowed: CpuSet,
    },
    /// `--cpus` names CPUs that cannot be had.
    #[error(
        "--cpus {asked} names CPUs that this process cannot have: {missing} ({why}); \
         it may use {allowed}"
    )]
    NotAllowed {
        /// The list.
        asked: CpuSet,
        /// Those of it that cannot be had.
        missing: CpuSet,
        /// Switched off, not there, or kept from this process.
        why: &'static str,
        /// What may be named.
        allowed: CpuSet,
    },
}

/// Finds a place for every handler of `request` on a machine.
///
/// Every handler gets CPUs that the process may use; no CPU is given twice while one is free, and
/// the numbers of handlers of any two CPUs differ by one at most once they must share.
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
        // Pinned to everything is not pinned; said only where it narrows something.
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
    // All on one node is worth knowing wherever the kernel puts them.
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
