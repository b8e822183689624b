//! Search for the slices, partitions and replicas with the fewest servers.

use super::server::{ServerLoad, Works, limit_per_s};
use super::{Request, Target};
use crate::error::ModelError;

/// A fleet of servers and its expected load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fleet {
    /// Slices of the documents, equal to the fan-out of a query.
    pub slices: usize,
    /// Replicas of each slice, including spare ones.
    pub replicas: usize,
    /// Partitions per server.
    pub partitions: usize,
    /// Response time at the target's share of queries, at the requested rate without headroom.
    pub response_ms: f64,
    /// Mean share of busy cores at the same rate.
    pub utilisation: f64,
}

impl Fleet {
    /// Returns the total number of servers.
    pub fn servers(&self) -> usize {
        self.slices * self.replicas
    }
}

/// Progress callback of a search; takes the name of the plan, the combinations tried and their total.
pub type Told<'a> = &'a mut dyn FnMut(&str, usize, usize);

/// Returns the smallest fleet for a request.
///
/// Slices are tried in ascending order, and a larger number only if it might need fewer servers: every
/// further slice adds a server that each query must wait for.
///
/// # Errors
/// [`ModelError::NoPlan`] if no number of slices reaches the target; [`ModelError::Outside`].
pub fn plan(request: &Request) -> Result<Fleet, ModelError> {
    plan_watched(request, "fleets", &mut |_, _, _| {})
}

/// Does the same as [`plan`] and reports its progress.
///
/// # Errors
/// The errors of [`plan`].
pub fn plan_watched(request: &Request, what: &str, told: Told<'_>) -> Result<Fleet, ModelError> {
    request.check()?;
    let works = Works::of(request)?;
    let mut best: Option<Fleet> = None;
    let slices: Vec<usize> = slice_counts(request);
    let ways: Vec<(usize, usize)> = slices
        .iter()
        .flat_map(|&slices| partition_counts(request.cores).map(move |parts| (slices, parts)))
        .collect();
    for (tried, &(slices, partitions)) in ways.iter().enumerate() {
        told(what, tried, ways.len());
        let most = match best.map(|best| replicas_to_beat(request, best, slices)) {
            Some(None) => continue,
            Some(most) => most,
            None => None,
        };
        let fewest = fewest_replicas(request, slices, partitions);
        if most.is_some_and(|most| fewest > most) {
            continue;
        }
        // A query that meets no other takes the time of its longest part, which needs no simulation.
        if works.unloaded_ms(request, slices, partitions) > request.target.response_ms {
            continue;
        }
        let server = ServerLoad::new(request, &works, slices, partitions);
        let rate_per_s = request.rate_per_s * (1.0 + request.headroom);
        let Some(needed) = server.replicas_needed(rate_per_s, fewest, most)? else {
            continue;
        };
        let mut fleet = Fleet {
            slices,
            replicas: needed + request.spare_replicas,
            partitions,
            response_ms: f64::NAN,
            utilisation: f64::NAN,
        };
        evaluate_on(&server, &mut fleet, request.rate_per_s)?;
        let cost = |fleet: &Fleet| (fleet.servers(), fleet.slices, fleet.response_ms);
        if best.is_none_or(|best| cost(&fleet) < cost(&best)) {
            best = Some(fleet);
        }
    }
    match (best, slices.last()) {
        (Some(fleet), _) => Ok(fleet),
        (None, Some(&slices)) => {
            let partitions = partition_counts(request.cores).last().unwrap_or(1);
            let idle_ms = works.unloaded_ms(request, slices, partitions);
            Err(no_plan(request, Some(idle_ms)))
        }
        (None, None) => Err(no_plan(request, None)),
    }
}

/// Returns the number of replicas, without spare ones, with which `slices` slices still match or beat
/// the best fleet; `None` if they cannot.
fn replicas_to_beat(request: &Request, best: Fleet, slices: usize) -> Option<usize> {
    // With the same number of servers, fewer slices win; an equal number of slices may also win.
    let servers = match slices <= best.slices {
        true => best.servers(),
        false => best.servers() - 1,
    };
    let most = (servers / slices).checked_sub(request.spare_replicas)?;
    (most > 0).then_some(most)
}

/// Returns the reason why no fleet exists; `idle_ms` is the response time with the most slices and no
/// load.
fn no_plan(request: &Request, idle_ms: Option<f64>) -> ModelError {
    let Target { share, response_ms } = request.target;
    let why = match idle_ms {
        Some(idle_ms) => format!(
            "with {} slices and {} cores each, idle servers take {idle_ms:.1} ms; allow more slices, faster \
             cores or a later answer",
            request.slices_max, request.cores
        ),
        None => format!(
            "{} slices do not fit into {} GB of memory each; allow more slices or more memory",
            request.slices_max, request.memory_gb
        ),
    };
    ModelError::NoPlan {
        target: format!("p{} = {response_ms} ms", (1e8 * share).round() / 1e6),
        why,
    }
}

/// Returns the smallest number of replicas that keeps the cores within the utilisation limit.
fn fewest_replicas(request: &Request, slices: usize, partitions: usize) -> usize {
    let most_per_s = limit_per_s(request, slices, partitions) * request.utilisation_max;
    (request.rate_per_s * (1.0 + request.headroom) / most_per_s - 1e-9)
        .ceil()
        .max(1.0) as usize
}

/// Sets the response time and utilisation of a fleet at a total rate.
pub(super) fn evaluate(
    request: &Request,
    fleet: &mut Fleet,
    rate_per_s: f64,
) -> Result<(), ModelError> {
    let works = Works::of(request)?;
    let server = ServerLoad::new(request, &works, fleet.slices, fleet.partitions);
    evaluate_on(&server, fleet, rate_per_s)
}

fn evaluate_on(
    server: &ServerLoad<'_>,
    fleet: &mut Fleet,
    rate_per_s: f64,
) -> Result<(), ModelError> {
    let each_per_s = rate_per_s / fleet.replicas as f64;
    fleet.utilisation = each_per_s / server.limit_per_s;
    fleet.response_ms = if fleet.utilisation < 0.999 {
        server.response_ms(each_per_s)?.unwrap_or(f64::INFINITY)
    } else {
        f64::INFINITY
    };
    Ok(())
}

/// Returns 1, 2, 3, 4, 6, 8, 12, … up to the limit, from the first number whose slices fit into memory.
fn slice_counts(request: &Request) -> Vec<usize> {
    let fits = (request.index_gb * request.documents_ratio / request.memory_gb)
        .ceil()
        .max(1.0);
    let mut counts = Vec::new();
    let mut power = 1;
    while power <= request.slices_max {
        counts.push(power);
        if power > 1 && power + power / 2 <= request.slices_max {
            counts.push(power + power / 2);
        }
        power *= 2;
    }
    if fits <= request.slices_max as f64 {
        counts.push(fits as usize);
    }
    counts.retain(|&slices| slices as f64 >= fits);
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Returns the divisors of the core count that are powers of two.
fn partition_counts(cores: usize) -> impl Iterator<Item = usize> {
    (0..usize::BITS)
        .map(|power| 1usize << power)
        .take_while(move |parts| cores.is_multiple_of(*parts))
}
