//! Which slices, partitions and replicas need the fewest servers?

use super::{Request, Target};
use crate::error::ModelError;
use crate::fan_out;
use crate::simulate::{
    Arrivals, Machine, Order, Report, Searches, Settings, Split, Times, run, sorted_quantile,
};
use schedule::policy::Fifo;

/// Servers and how they are used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fleet {
    /// Slices of the documents: how many servers a query asks.
    pub slices: usize,
    /// Replicas of each, spare ones too.
    pub replicas: usize,
    /// Partitions a server.
    pub partitions: usize,
    /// Response at the share of the target, at the asked rate without headroom.
    pub response_ms: f64,
    /// Mean share of busy cores, likewise.
    pub utilisation: f64,
}

impl Fleet {
    /// All servers.
    pub fn servers(&self) -> usize {
        self.slices * self.replicas
    }
}

/// The smallest fleet for a request.
///
/// Slices are tried upwards, and a larger number of them only where it might do with fewer servers:
/// every slice more is one server more that each query must wait for.
///
/// # Errors
/// [`ModelError::NoPlan`] where no number of slices reaches the target; [`ModelError::Outside`].
pub fn plan(request: &Request) -> Result<Fleet, ModelError> {
    request.check()?;
    let mut best: Option<Fleet> = None;
    let counts = slice_counts(request);
    for &slices in &counts {
        for partitions in partition_counts(request.cores) {
            let fewest = fewest_replicas(request, slices, partitions);
            let no_better = |best: Fleet| {
                let servers = slices * (fewest + request.spare_replicas);
                servers > best.servers() || (servers == best.servers() && slices > best.slices)
            };
            if best.is_some_and(no_better) {
                continue;
            }
            // A query that meets no other takes its longest part: quicker known than simulated.
            let idle_ms = unloaded_ms(request, slices, partitions);
            if idle_ms > request.target.response_ms {
                continue;
            }
            let server = ServerLoad::new(request, slices, partitions)?;
            let Some(needed) = server.replicas_needed(request, fewest)? else {
                continue;
            };
            let mut fleet = Fleet {
                slices,
                replicas: needed + request.spare_replicas,
                partitions,
                response_ms: f64::NAN,
                utilisation: f64::NAN,
            };
            evaluate(request, &mut fleet, request.rate_per_s)?;
            let cost = |fleet: &Fleet| (fleet.servers(), fleet.slices, fleet.response_ms);
            if best.is_none_or(|best| cost(&fleet) < cost(&best)) {
                best = Some(fleet);
            }
        }
    }
    match (best, counts.last()) {
        (Some(fleet), _) => Ok(fleet),
        (None, Some(&slices)) => {
            let partitions = partition_counts(request.cores).last().unwrap_or(1);
            Err(no_plan(
                request,
                Some(unloaded_ms(request, slices, partitions)),
            ))
        }
        (None, None) => Err(no_plan(request, None)),
    }
}

/// Why there is none; `idle_ms` is the response with the most slices and no load.
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

/// Replicas that keep the cores below the highest utilisation.
fn fewest_replicas(request: &Request, slices: usize, partitions: usize) -> usize {
    let most_per_s = limit_per_s(request, slices, partitions) * request.utilisation_max;
    (request.rate_per_s * (1.0 + request.headroom) / most_per_s - 1e-9)
        .ceil()
        .max(1.0) as usize
}

/// Fills in response and utilisation at a rate to the whole fleet.
pub(super) fn evaluate(
    request: &Request,
    fleet: &mut Fleet,
    rate_per_s: f64,
) -> Result<(), ModelError> {
    let server = ServerLoad::new(request, fleet.slices, fleet.partitions)?;
    let each_per_s = rate_per_s / fleet.replicas as f64;
    fleet.utilisation = each_per_s / server.limit_per_s;
    fleet.response_ms = if fleet.utilisation < 0.999 {
        server
            .response_ms(each_per_s, request)?
            .unwrap_or(f64::INFINITY)
    } else {
        f64::INFINITY
    };
    Ok(())
}

/// 1, 2, 3, 4, 6, 8, 12, … up to the most, from where a slice fits into memory.
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

/// Divisors of the cores that are powers of two.
fn partition_counts(cores: usize) -> impl Iterator<Item = usize> {
    (0..usize::BITS)
        .map(|power| 1usize << power)
        .take_while(move |parts| cores.is_multiple_of(*parts))
}

/// Queries a second that a server of one of `slices` could serve at best.
fn limit_per_s(request: &Request, slices: usize, partitions: usize) -> f64 {
    let lost = partitions as f64 / request.speed_up(partitions);
    let search_ms = request.searches.work_ms() * request.slice_factor(slices) * lost;
    let work_ms = search_ms + partitions as f64 * request.overhead_ms / request.speed;
    1e3 * request.cores as f64 / work_ms
}

/// The response at the share of the target where nothing waits.
fn unloaded_ms(request: &Request, slices: usize, partitions: usize) -> f64 {
    let mut works_ms: Vec<f64> = request
        .searches
        .rows()
        .map(|row| row.iter().sum())
        .collect();
    works_ms.sort_unstable_by(f64::total_cmp);
    let share = fan_out::server_share(request.target.share, request.independent_slices(slices));
    let search_ms = sorted_quantile(&works_ms, share) * request.slice_factor(slices);
    search_ms / request.speed_up(partitions)
        + request.overhead_ms / request.speed
        + request.fixed_ms
}

/// One server of a slice.
struct ServerLoad {
    settings: Settings,
    slowest_of: usize,
    limit_per_s: f64,
}

impl ServerLoad {
    fn new(request: &Request, slices: usize, partitions: usize) -> Result<ServerLoad, ModelError> {
        let split = Split {
            parts: partitions,
            speed_up: request.speed_up(partitions) / request.slice_factor(slices),
            independent: false,
        };
        let searches: Searches = request
            .searches
            .resplit(split)?
            .lengthened(request.overhead_ms / request.speed)?;
        // The slowest of many slices is deep in the tail of one: enough queries to see it.
        let slowest_of = request.independent_slices(slices);
        let beyond = 1.0 - fan_out::server_share(request.target.share, slowest_of);
        let queries = request.queries.max((25.0 / beyond) as usize);
        let mut settings = Settings::new(
            Machine::of_cores(request.cores),
            Arrivals::Constant { rate_per_s: 1.0 },
            Times::Measured {
                searches,
                order: Order::Shuffled,
            },
            queries,
        );
        settings.fixed_ms = request.fixed_ms;
        settings.seed = request.seed;
        Ok(ServerLoad {
            settings,
            slowest_of,
            limit_per_s: limit_per_s(request, slices, partitions),
        })
    }

    /// The response at the share of the target, of the slowest slice; `None` where chance would decide.
    fn response_ms(&self, rate_per_s: f64, request: &Request) -> Result<Option<f64>, ModelError> {
        let settings = Settings {
            arrivals: Arrivals::Poisson { rate_per_s },
            ..self.settings.clone()
        };
        let degree = settings.times.parts();
        let report: Report = run(&settings, &mut Fifo { degree })?;
        Ok(fan_out::quantile_ms(
            &report.responses_ms,
            self.slowest_of,
            request.target.share,
        ))
    }

    /// The fewest replicas, from `fewest`, with which the target is kept under headroom; `None` where not
    /// even idle servers keep it.
    fn replicas_needed(
        &self,
        request: &Request,
        fewest: usize,
    ) -> Result<Option<usize>, ModelError> {
        let rate_per_s = request.rate_per_s * (1.0 + request.headroom);
        let keeps = |rate_per_s: f64| {
            let response_ms = self.response_ms(rate_per_s, request)?;
            Ok::<_, ModelError>(
                response_ms.is_some_and(|response| response <= request.target.response_ms),
            )
        };
        if keeps(rate_per_s / fewest as f64)? {
            return Ok(Some(fewest));
        }
        if !keeps(self.limit_per_s * 1e-3)? {
            return Ok(None);
        }
        let (mut few, mut enough) = (fewest, 2 * fewest);
        while !keeps(rate_per_s / enough as f64)? {
            (few, enough) = (enough, 2 * enough);
        }
        while enough - few > 1 {
            let middle = few + (enough - few) / 2;
            if keeps(rate_per_s / middle as f64)? {
                enough = middle;
            } else {
                few = middle;
            }
        }
        Ok(Some(enough))
    }
}
