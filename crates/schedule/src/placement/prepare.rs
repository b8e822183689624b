//! Preparation of a placement: the available cores, and the handlers that belong together.

use super::deal::{Bundle, Core, Slot};
use super::request::{Placement, PlacementError, PlacementRequest};
use crate::{CpuSet, CpuTopology};
use std::collections::BTreeMap;

/// Returns the CPUs available to handlers.
pub(super) fn pool(
    topology: &CpuTopology,
    request: &PlacementRequest,
) -> Result<CpuSet, PlacementError> {
    let allowed = &topology.allowed;
    let Some(asked) = &request.cpus else {
        return Ok(allowed.clone());
    };
    if asked.is_empty() {
        return Err(PlacementError::NoCpus {
            allowed: allowed.clone(),
        });
    }
    let missing = asked.difference(allowed);
    let Some(first) = missing.first() else {
        return Ok(asked.clone());
    };
    let why = if topology.offline.contains(first) {
        "switched off"
    } else if topology.context(first).is_none() {
        "not there"
    } else {
        "kept from it by its affinity or cpuset"
    };
    Err(PlacementError::NotAllowed {
        asked: asked.clone(),
        missing,
        why,
        allowed: allowed.clone(),
    })
}

/// Returns the cores of the pool, each with its available contexts.
pub(super) fn cores(topology: &CpuTopology, pool: &CpuSet, smt: bool) -> Vec<Core> {
    let mut cores: BTreeMap<u32, Core> = BTreeMap::new();
    for context in &topology.contexts {
        if !pool.contains(context.cpu) {
            continue;
        }
        let core = cores.entry(context.core).or_insert_with(|| Core {
            number: context.core,
            cpus: Vec::new(),
            speed_class: context.speed_class,
            socket: context.socket,
            node: context.node,
            cache: topology
                .last_cache(context.cpu)
                .and_then(|cache| cache.cpus.first()),
        });
        if smt || core.cpus.is_empty() {
            core.cpus.push(context.cpu);
        }
    }
    cores.into_values().collect()
}

/// Returns the units and their bundles.
pub(super) fn units(request: &PlacementRequest, cores: &[Core]) -> Vec<Vec<Bundle>> {
    let (partitions, handlers) = (request.partitions, request.handlers);
    let slot = |partition, handler| Slot { partition, handler };
    match request.placement {
        // A partition is a single bundle, which fills one core after the other.
        Placement::Data | Placement::None => (0..partitions)
            .map(|p| vec![(0..handlers).map(|h| slot(p, h)).collect()])
            .collect(),
        // As many partitions meet as a core has contexts; the handlers of one number form a bundle.
        Placement::Query => {
            let meeting = cores.iter().map(|core| core.cpus.len()).max().unwrap_or(1);
            let all: Vec<usize> = (0..partitions).collect();
            all.chunks(meeting.max(1))
                .map(|group| {
                    (0..handlers)
                        .map(|h| group.iter().map(|&p| slot(p, h)).collect())
                        .collect()
                })
                .collect()
        }
    }
}

pub(super) fn notes(
    topology: &CpuTopology,
    request: &PlacementRequest,
    cores: &[Core],
) -> Vec<String> {
    let mut notes = Vec::new();
    let siblings = cores.iter().any(|core| core.cpus.len() > 1);
    if !siblings && request.placement != Placement::None {
        let why = topology
            .gaps
            .iter()
            .find(|gap| gap.what.contains("sibling"))
            .map_or("", |gap| gap.why.as_str());
        let why = match (request.smt, why) {
            (false, _) => "--smt off",
            (true, "") => "no core has two CPUs here",
            (true, why) => why,
        };
        let what = match request.placement {
            Placement::Query => "partitions cannot meet on a core",
            _ => "handlers of a partition stand on neighbouring cores",
        };
        notes.push(format!("{what}: {why}"));
    }
    let elsewhere = |core: &Core| {
        let cpus = topology.siblings(core.cpus[0]);
        !cpus.difference(&topology.allowed).is_empty()
    };
    let shared: CpuSet = cores
        .iter()
        .filter(|core| elsewhere(core))
        .flat_map(|core| core.cpus.clone())
        .collect();
    if !shared.is_empty() {
        notes.push(format!(
            "others may run on siblings of CPU {shared}, which are kept from this process"
        ));
    }
    notes
}
