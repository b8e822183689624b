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
mod request;
mod table;

use crate::{CpuSet, CpuTopology};
use prepare::{cores, notes, pool, units};
pub use request::{
    HANDLERS_MAX, HandlerPlace, Placement, PlacementError, PlacementRequest, Places, Why,
};
pub use table::PLACES_HEADER;

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
