//! Which slices, partitions and replicas need the fewest servers?

use super::{Request, Target};
use crate::error::ModelError;
use crate::fan_out;
use crate::simulate::{Arrivals, Machine, Order, Report, Searches, Settings, Split, Times, run};
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
    /// Highest rate that one replica carries within the target.
    pub replica_rate_per_s: f64,
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
/// # Errors
/// [`ModelError::NoPlan`] where no number of slices reaches the target; [`ModelError::Outside`].
pub fn plan(request: &Request) -> Result<Fleet, ModelError> {
    request.check()?;
    let rate_per_s = request.rate_per_s * (1.0 + request.headroom);
    let mut best: Option<(Fleet, f64)> = None;
    let mut fastest_ms = f64::INFINITY;
    for slices in slice_counts(request) {
        // Even at the highest utilisation so many replicas are needed: more slices will not do with less.
        let fewest = (rate_per_s / limit_per_s(request, slices, 1)).ceil() as usize;
        if best
            .is_some_and(|(fleet, _)| slices * (fewest + request.spare_replicas) > fleet.servers())
        {
            continue;
        }
        for partitions in partition_counts(request.cores) {
            let server = ServerLoad::new(request, slices, partitions)?;
            let alone_ms = server
                .response_ms(server.limit_per_s * 1e-3, request)?
                .unwrap_or(f64::INFINITY);
            fastest_ms = fastest_ms.min(alone_ms);
            let Some(most) = server.highest_rate(request)? else {
                continue;
            };
            let replicas =
                (rate_per_s / most - 1e-9).ceil().max(1.0) as usize + request.spare_replicas;
            let mut fleet = Fleet {
                slices,
                replicas,
                partitions,
                replica_rate_per_s: most,
                response_ms: f64::NAN,
                utilisation: f64::NAN,
            };
            if best.is_some_and(|(other, _)| fleet.servers() > other.servers()) {
                continue;
            }
            evaluate(request, &mut fleet, request.rate_per_s)?;
            let better = best.is_none_or(|(other, response_ms)| {
                (fleet.servers(), fleet.response_ms) < (other.servers(), response_ms)
            });
            if better {
                best = Some((fleet, fleet.response_ms));
            }
        }
    }
    best.map(|(fleet, _)| fleet)
        .ok_or_else(|| no_plan(request, fastest_ms))
}

fn no_plan(request: &Request, fastest_ms: f64) -> ModelError {
    let Target { share, response_ms } = request.target;
    let why = if fastest_ms.is_finite() && fastest_ms > response_ms {
        format!(
            "even idle servers take {fastest_ms:.1} ms with {} slices and {} partitions; allow more slices, \
             faster cores or a later answer",
            request.slices_max, request.cores
        )
    } else {
        format!(
            "no fleet of up to {} slices has memory for the index",
            request.slices_max
        )
    };
    ModelError::NoPlan {
        target: format!("p{} = {response_ms} ms", 100.0 * share),
        why,
    }
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
    let work_ms = request.searches.work_ms() * request.slice_factor(slices) * lost;
    1e3 * request.cores as f64 / work_ms
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
        let searches: Searches = request.searches.resplit(split)?;
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

    /// The highest rate within the target, to a hundredth; `None` where not even an idle server keeps it.
    fn highest_rate(&self, request: &Request) -> Result<Option<f64>, ModelError> {
        let keeps = |rate_per_s: f64| {
            let response_ms = self.response_ms(rate_per_s, request)?;
            Ok::<_, ModelError>(
                response_ms.is_some_and(|response| response <= request.target.response_ms),
            )
        };
        let (mut low, mut high) = (
            self.limit_per_s * 1e-3,
            self.limit_per_s * request.utilisation_max,
        );
        if keeps(high)? {
            return Ok(Some(high));
        }
        if !keeps(low)? {
            return Ok(None);
        }
        while high / low > 1.01 {
            let middle = (low * high).sqrt();
            if keeps(middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(Some(low))
    }
}
