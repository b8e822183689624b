//! Simulation of the handlers of an index server, for several policies, loads and numbers of handlers.

mod arguments;
mod table;

pub(super) use self::arguments::{Asked, HandlersArguments};
use self::table::{line_of, write_assumptions, write_tables};
use super::arrivals::queries_of;
use crate::model::rates::{Rates, parse_loads};
use crate::model::table::write_json;
use console::meter::{Meter, left_s};
use model::ModelError;
use model::handlers::{
    HandlersReport, HandlersSettings, HandlersSummary, RangeCosts, run as simulate,
};
use model::simulate::Arrivals;
use schedule::board::Policy;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Loads where nobody says which.
const LOADS: &str = "0.1..0.9";

/// Answers.
pub(super) fn run(asked: &Asked<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    let counts = &asked.given.handlers;
    let first = cells_of(asked, counts[0])?;
    let columns = first.len();
    let total = (columns * asked.policies.len() * counts.len()) as u64;
    let mut meter = Meter::start("simulating", Some(total));
    let mut done = 0;
    for &handlers in counts {
        let cells = cells_of(asked, handlers)?;
        let mut rows = Vec::new();
        for policy in asked.policies {
            let mut lines = Vec::new();
            let mut energies = Vec::new();
            for settings in &cells {
                let summary = summarise(settings, asked.runs, policy)?;
                let energy = asked.machine.energy(&summary.activity)?;
                let line = line_of(asked, settings, policy, &summary, energy);
                energies.push((line.rate_per_s, energy.filter(|_| !line.overloaded)));
                if asked.json {
                    write_json(out, &line)?;
                }
                lines.push(line);
                done += 1;
                meter.update(done, |elapsed_s| {
                    let left_s = left_s(done, total, elapsed_s).unwrap_or_default().ceil();
                    format!("{} on {handlers}, {left_s} s left", policy.name())
                });
            }
            rows.push((policy.name(), lines, energies));
        }
        if !asked.json {
            write_tables(asked, handlers, &cells, &rows, out)?;
        }
    }
    drop(meter);
    if !asked.json {
        write_assumptions(asked, first[0].queries, out)?;
    }
    Ok(())
}

/// Returns the settings of each column.
fn cells_of(asked: &Asked<'_>, handlers: usize) -> anyhow::Result<Vec<HandlersSettings>> {
    let given = &asked.given;
    let speeds = asked.machine.speeds(handlers)?;
    let most_per_s = 1e3 * speeds.iter().sum::<f64>() / asked.times.work_ms();
    let at = |loads: &Rates| {
        let rates = loads.0.iter().map(|load| load * most_per_s);
        rates
            .map(|rate_per_s| Arrivals::Poisson { rate_per_s })
            .collect()
    };
    let list: Vec<Arrivals> = match &given.loads {
        Some(loads) => at(loads),
        None if asked.arrivals.is_default() => at(&parse_loads(LOADS).map_err(anyhow::Error::msg)?),
        None => asked.arrivals.list(most_per_s)?,
    };
    let settings = |arrivals: Arrivals| {
        let queries = queries_of(asked.queries, asked.replays, &arrivals, asked.times);
        let mut settings = HandlersSettings::new(handlers, arrivals, asked.times.clone(), queries);
        settings.speeds = speeds.clone();
        settings.time_max_ms = given.max;
        settings.deadline_ms = asked.deadline_ms;
        settings.parked_max_ms = given.parked_max;
        settings.random_wakes = given.random_wakes;
        settings.seed = asked.seed;
        settings.costs = RangeCosts {
            wake_us: given.wake,
            join_us: given.join,
            range_us: given.further_range,
            efficiency: given.efficiency,
            prediction_deviation: given.prediction,
            range_time_us: given.range,
            ..RangeCosts::default()
        };
        settings
    };
    Ok(list.into_iter().map(settings).collect())
}

/// Simulates runs with seeds that follow each other, on all processors. Results do not depend on their number.
fn summarise(
    settings: &HandlersSettings,
    runs: usize,
    policy: &Arc<dyn Policy>,
) -> anyhow::Result<HandlersSummary> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(0);
    let work = || {
        let mut reports = Vec::new();
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= runs as u64 {
                return Ok(reports);
            }
            let mut settings = settings.clone();
            settings.seed = settings.seed.wrapping_add(number);
            reports.push((number, simulate(&settings, policy)?));
        }
    };
    type Numbered = Vec<(u64, HandlersReport)>;
    let shares: Vec<Result<Numbered, ModelError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.min(runs)).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|share| share.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut reports = Vec::with_capacity(runs);
    for share in shares {
        reports.extend(share?);
    }
    reports.sort_by_key(|&(number, _)| number);
    let reports = reports.into_iter().map(|(_, report)| report).collect();
    Ok(HandlersSummary::of(reports))
}
