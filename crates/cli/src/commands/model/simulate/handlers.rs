//! Simulation of the handlers of an index server: a table of policies by load.

use super::arrivals::{ArrivalArguments, queries_of};
use super::machine::{MachineArguments, write_energies};
use crate::commands::model::parse_positive;
use crate::commands::model::rates::{Rates, parse_loads, parse_share};
use crate::commands::model::table::{Table, ms, number, write_json};
use crate::figures::count;
use crate::meter::{Meter, left_s};
use clap::builder::RangedU64ValueParser;
use model::ModelError;
use model::handlers::{
    HandlersReport, HandlersSettings, HandlersSummary, RangeCosts, run as simulate,
};
use model::simulate::{Arrivals, Times};
use schedule::board::Policy;
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Loads where nobody says which.
const LOADS: &str = "0.1..0.9";

#[derive(Debug, clap::Args)]
pub(super) struct HandlersArguments {
    /// Numbers of handlers of an index server that share the ranges of queries: 2,4,16. Policies are
    /// then those of the servers
    #[arg(long, value_name = "N,...", value_delimiter = ',',
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096),
        conflicts_with_all = ["cores", "smt_slowdown", "contention", "disturbances", "partitions",
            "speed_up", "layout", "degree", "queue"])]
    pub(super) handlers: Vec<usize>,
    /// With --handlers: shares of the work that they can do: 0.5, or 0.1,0.3, or 0.1..0.9 in tenths,
    /// or 0.1..0.9/5 [default: 0.1..0.9]
    #[arg(long, value_name = "LOADS", value_parser = parse_loads, requires = "handlers",
        conflicts_with_all = ["rate", "arrivals", "from", "to", "trace"])]
    loads: Option<Rates>,
    /// With --handlers: quantiles of the response time, a table each
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',', default_value = "0.99,0.999",
        value_parser = parse_share, requires = "handlers")]
    quantile: Vec<f64>,
    /// With --handlers: longest search time; longer ones take this time
    #[arg(long, value_name = "MS", value_parser = parse_positive, requires = "handlers")]
    max: Option<f64>,
    /// With --handlers: time of a range [default: what the policy wants, by the predicted time]
    #[arg(long, value_name = "US", value_parser = parse_positive, requires = "handlers")]
    range: Option<f64>,
    /// With --handlers: time from a wake-up to the first instruction of a sleeping handler
    #[arg(long, value_name = "US", default_value = "32", requires = "handlers")]
    wake: f64,
    /// With --handlers: time that a joining handler takes before its first range
    #[arg(long, value_name = "US", default_value = "5", requires = "handlers")]
    join: f64,
    /// With --handlers: time that each further range adds
    #[arg(long, value_name = "US", default_value = "0.3", requires = "handlers")]
    further_range: f64,
    /// With --handlers: work of a helper in a unit of time, the first handler's being 1
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0.9",
        requires = "handlers"
    )]
    efficiency: f64,
    /// With --handlers: standard deviation of the logarithm of predicted over true time
    #[arg(
        long,
        value_name = "SIGMA",
        default_value = "0.5",
        requires = "handlers"
    )]
    prediction: f64,
    /// With --handlers: longest wait of a query while others run; a tenth of --deadline at most
    #[arg(long, value_name = "MS", value_parser = parse_positive, requires = "handlers")]
    parked_max: Option<f64>,
    /// With --handlers: wake idle handlers in random order, not the fast ones first
    #[arg(long, requires = "handlers")]
    random_wakes: bool,
}

/// What is asked: the arguments of `model simulate` that concern handlers.
pub(super) struct Asked<'a> {
    pub(super) given: &'a HandlersArguments,
    pub(super) arrivals: &'a ArrivalArguments,
    pub(super) machine: &'a MachineArguments,
    pub(super) times: &'a Times,
    pub(super) policies: &'a [Arc<dyn Policy>],
    pub(super) deadline_ms: Option<f64>,
    pub(super) queries: Option<usize>,
    pub(super) replays: bool,
    pub(super) runs: usize,
    pub(super) seed: u64,
    pub(super) json: bool,
}

/// Figures of a policy at one rate.
#[derive(Serialize)]
struct Line {
    handlers: usize,
    policy: String,
    rate_per_s: f64,
    load: f64,
    overloaded: bool,
    utilisation: f64,
    counted: u64,
    expired: u64,
    response_ms: f64,
    quantiles: Vec<Quantile>,
    helps_per_query: f64,
    parked_per_query: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    watts_estimated: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    joules_per_query_estimated: Option<f64>,
}

/// A quantile of the response time, and half the width of its 95 % interval.
#[derive(Serialize)]
struct Quantile {
    share: f64,
    ms: Option<f64>,
    ms_ci95: Option<f64>,
}

impl Quantile {
    fn cell(&self, is_overloaded: bool) -> String {
        match (self.ms, self.ms_ci95) {
            _ if is_overloaded => "overloaded".to_owned(),
            (Some(ms), Some(ci)) => format!("{} ± {}", number(ms), number(ci)),
            _ => "-".to_owned(),
        }
    }
}

/// Answers.
pub(super) fn run(asked: &Asked<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    let counts = &asked.given.handlers;
    let columns = cells_of(asked, counts[0])?.len();
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
        write_assumptions(asked, out)?;
    }
    Ok(())
}

type Row = (String, Vec<Line>, Vec<(f64, Option<model::energy::Energy>)>);

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

fn line_of(
    asked: &Asked<'_>,
    settings: &HandlersSettings,
    policy: &Arc<dyn Policy>,
    summary: &HandlersSummary,
    energy: Option<model::energy::Energy>,
) -> Line {
    let rate_per_s = settings.arrivals.rate_per_s();
    let load = rate_per_s * settings.times.work_ms() / 1e3 / settings.capacity();
    // Helpers work less than owners in the same time: a server may be full below a load of 1.
    let is_full = load >= 1.0 || summary.utilisation() >= 0.995;
    let quantile = |&share: &f64| {
        let ms = summary.quantile_ms(share);
        let spread = summary.spread_ms(share).filter(|_| ms.is_some());
        Quantile {
            share,
            ms,
            ms_ci95: spread.map(|spread| spread.half_width(0.95)),
        }
    };
    Line {
        handlers: settings.speeds.len(),
        policy: policy.name(),
        rate_per_s,
        load,
        overloaded: is_full && settings.deadline_ms.is_none(),
        utilisation: summary.utilisation(),
        counted: summary.counted(),
        expired: summary.expired,
        response_ms: summary.mean_ms(),
        quantiles: asked.given.quantile.iter().map(quantile).collect(),
        helps_per_query: summary.helps_per_query(),
        parked_per_query: summary.parked_per_query(),
        watts_estimated: energy.map(|energy| energy.watts),
        joules_per_query_estimated: energy.map(|energy| energy.joules_per_query),
    }
}

/// Writes a table for each quantile: a row a policy, a column a load.
fn write_tables(
    asked: &Asked<'_>,
    handlers: usize,
    cells: &[HandlersSettings],
    rows: &[Row],
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let unit = if handlers == 1 { "handler" } else { "handlers" };
    for (idx, share) in asked.given.quantile.iter().enumerate() {
        let percentile = (100.0 * share * 1e6).round() / 1e6;
        let title = format!("{handlers} {unit}, p{percentile} in ms");
        let Some((_, first, _)) = rows.first() else {
            return Ok(());
        };
        let is_by_rate = asked.given.loads.is_none() && !asked.arrivals.is_default();
        let heading = |line: &Line| match is_by_rate {
            true => format!("{}/s", number(line.rate_per_s)),
            false => format!("load {:.2}", line.load),
        };
        let mut headings = vec![title];
        headings.extend(first.iter().map(heading));
        let mut table = Table::new(headings);
        for (name, lines, _) in rows {
            let mut row = vec![name.clone()];
            row.extend((lines.iter()).map(|line| line.quantiles[idx].cell(line.overloaded)));
            table.row(row);
        }
        table.write(out)?;
        writeln!(out)?;
    }
    if cells.iter().any(|one| one.deadline_ms.is_some()) {
        for (name, lines, _) in rows {
            let shares = lines
                .iter()
                .map(|line| format!("{:.2} %", 100.0 * line.expired as f64 / line.counted as f64));
            let shares: Vec<String> = shares.collect();
            writeln!(out, "{name}: answered in part {}", shares.join(", "))?;
        }
        writeln!(out)?;
    }
    for (name, _, energies) in rows {
        if energies.iter().any(|(_, energy)| energy.is_some()) {
            writeln!(out, "{name}:")?;
            write_energies(energies, out)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

fn write_assumptions(asked: &Asked<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    let given = &asked.given;
    let max = given.max.map_or(String::new(), |max_ms| {
        format!(", longer than {} take that time", ms(max_ms))
    });
    let ranges = match given.range {
        Some(range_us) => format!("of {} µs", number(range_us)),
        None => "as the policy wants them, cut by predicted time".to_owned(),
    };
    writeln!(
        out,
        "{} of one handler a query on average{max}; {} runs of {} queries a cell, ± is the 95 % interval\n\
         assumed: ranges {ranges}; predictions with σ {}; a wake-up takes {} µs, joining {} µs, a further range {} µs,\n\
         a helper does {} of the first handler's work; nothing but the search takes time",
        ms(asked.times.work_ms()),
        asked.runs,
        count(asked.queries.unwrap_or(QUERIES) as u64),
        number(given.prediction),
        number(given.wake),
        number(given.join),
        number(given.further_range),
        number(given.efficiency),
    )?;
    Ok(())
}
