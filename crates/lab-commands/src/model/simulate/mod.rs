//! `shorttail model simulate`: simulation of measured queries on other cores, cut and scheduled otherwise.

mod arrivals;
mod handlers;
mod machine;

use self::arrivals::{ArrivalArguments, queries_of};
use self::handlers::{Asked, HandlersArguments};
use self::machine::{MachineArguments, write_energies};
use super::rates::parse_positive;
use super::table::{Table, ms, number, percent, write_json};
use crate::model::checked::{RunLine, conclude, write_checked};
use crate::policies::{Policies, parse_policies};
use crate::search_times::{MeasuredRun, RunArguments, SearchTimes};
use crate::time_files::read_search_times;
use crate::times::positive_ms;
use anyhow::{bail, ensure};
use clap::builder::RangedU64ValueParser;
use console::figures::count;
use model::energy::Energy;
use model::simulate::assignment::{Assignment, Fifo, IdleShare};
use model::simulate::{
    Arrivals, Distribution, Layout, NextCore, Order, Searches, Settings, Split, Summary, Times,
    summarise,
};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
TIMES is a folder of a load run, or a file: JSON lines with `times_ms` (one number a partition) or
with `min_us` (as `shorttail bench --json` prints), or lines of numbers in ms, one number a
partition, separated by commas. Measured queries are drawn in random order.

EXAMPLES:
    shorttail model simulate times.csv --cores 8 --rate 20..400
        Response times over rates, one queue, a query on as many cores as it has partitions
    shorttail model simulate times.csv --cores 8 --rate 150 --partitions 4 --speed-up 3.6
        Each query cut into 4 equal parts that make it 3.6 times as fast
    shorttail model simulate times.csv --cores 8 --smt-slowdown 1.5 --rate 150 --layout pinned
        On 16 contexts, each partition on cores of its own
    shorttail model simulate --mean 50ms --shape lognormal --variation 2 --cores 8 --rate 120
        From a distribution in place of measured times
    shorttail model simulate times.csv --cores 8 --arrivals ramp --from 20 --to 300
        A rate that grows over the run; `--arrivals trace --trace FILE` plays a recording
    shorttail model simulate times.csv --cores 6 --little 4 --little-speed 0.3125 \\
        --power 0.76,0.076,0.76 --little-power 0.1033,0.01033
        Two big cores and four little ones, as published, and the energy that they take, estimated
    shorttail model simulate RUN --handlers 2,4,16 --policy fifo,fifo:2,least-left --loads 0.1..0.9
        An index server whose handlers share the ranges of queries, under policies of `serve`
    shorttail model simulate --mean 0.3ms --shape lognormal --variation 6.73 --max 20ms \\
        --handlers 2,4 --range 115us --policy all --loads 0.1,0.3,0.5,0.7,0.8
        All policies, as in docs/parallelism.md
    shorttail model simulate RUN --replay --handlers 2 --arrivals trace --trace FILE
        Searches in the order of the run, at instants of your own
    shorttail model simulate --mean 75ms --shape lognormal --variation 1 --handlers 6 --little 4 \\
        --little-speed 0.31 --random-wakes --policy fifo,hurry-up:25ms,50ms --quantile 0.9 \\
        --range 1ms
        Long queries move from little to big cores";

/// Simulate measured queries on other cores, with other partitions and queues
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SimulateArguments {
    /// Measured search times: a folder of a load run, or a file
    #[arg(
        value_name = "TIMES",
        required_unless_present = "mean",
        conflicts_with = "mean"
    )]
    run: Option<PathBuf>,
    /// Mean search time of a whole query, in place of measured ones
    #[arg(long, value_name = "TIME", value_parser = positive_ms(), help_heading = "Search times")]
    mean: Option<f64>,
    /// Distribution of search times with --mean
    #[arg(
        long,
        default_value = "exponential",
        requires = "mean",
        help_heading = "Search times"
    )]
    shape: Shape,
    /// Squared coefficient of variation of --shape lognormal
    #[arg(long, value_name = "CV2", default_value = "2", requires = "mean", value_parser = parse_positive, help_heading = "Search times")]
    variation: f64,
    #[command(flatten)]
    arrivals: ArrivalArguments,
    #[command(flatten)]
    machine: MachineArguments,
    /// Number of equal parts that each query is cut into, 1 to 10,000 [default: the measured partitions]
    #[arg(long, value_name = "P", value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000), help_heading = "Partitions and queues")]
    partitions: Option<usize>,
    /// Factor by which a query is faster if each of its parts has a core [default: --partitions]
    #[arg(long, value_name = "S", requires = "partitions", value_parser = parse_positive, help_heading = "Partitions and queues")]
    speed_up: Option<f64>,
    /// Queues, and the cores that serve each of them
    #[arg(long, default_value = "shared", help_heading = "Partitions and queues")]
    layout: LayoutName,
    #[command(flatten)]
    handlers: HandlersArguments,
    /// How many cores a query gets: fifo (as many as --degree, in order of arrival), or idle-share (as
    /// many as are idle, shared with the queries that wait). With --handlers a list of the servers'
    /// policies: help-if-idle, boost, least-left[:alone], help-and-yield[:TIME], fifo[:DEGREE],
    /// idle-share[:DEGREE], adaptive, few-to-many[:INTERVAL], target[:TIME], sjf, earliest-deadline,
    /// hurry-up[:SAMPLING,AFTER], or all [default: fifo; with --handlers fifo,help-if-idle]
    #[arg(long, value_name = "POLICY,...", value_parser = parse_policies, help_heading = "Partitions and queues")]
    policy: Option<Policies>,
    /// Measured queries in the order of measurement rather than a random one; as many a run as were
    /// measured unless --queries says otherwise
    #[arg(long, conflicts_with = "mean", help_heading = "Search times")]
    replay: bool,
    /// Cores a query at most [default: its partitions]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000), help_heading = "Partitions and queues")]
    degree: Option<usize>,
    /// Capacity of each queue, in queries; further ones are refused [default: unlimited]
    #[arg(long, value_name = "N", help_heading = "Partitions and queues")]
    queue: Option<usize>,
    /// What has not begun after this time is not searched; with --handlers, queries that take longer are
    /// answered in part
    #[arg(long, value_name = "TIME", value_parser = positive_ms(), help_heading = "Partitions and queues")]
    deadline: Option<f64>,
    /// Queries of each run; the first tenth is a warm-up and not counted [default: those of the trace, else 50,000]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(100..=100_000_000), help_heading = "Runs")]
    queries: Option<usize>,
    /// Runs of each rate, for confidence intervals
    #[arg(long, value_name = "N", default_value = "10", value_parser = RangedU64ValueParser::<usize>::new().range(2..=1000), help_heading = "Runs")]
    runs: usize,
    /// Seed of the random numbers
    #[arg(long, value_name = "SEED", default_value = "1", help_heading = "Runs")]
    seed: u64,
    #[command(flatten)]
    of_run: RunArguments,
    /// Print one line of JSON for each rate
    #[arg(long)]
    json: bool,
}

/// Share of the percentile that is held against that of a load run.
const CHECKED_SHARE: f64 = 0.99;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Shape {
    /// All search times equal
    Constant,
    Exponential,
    /// Long tail, see --variation
    Lognormal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LayoutName {
    /// One queue for all cores; any core takes any part
    Shared,
    /// One queue; all parts of a query begin together and hold their cores until the last one ends
    Gang,
    /// Each partition has cores and a queue of its own
    Pinned,
    /// Each core has a queue of its own; a part goes to the shortest one
    PerCore,
}

#[derive(Serialize)]
struct Line {
    rate_per_s: f64,
    load: f64,
    overloaded: bool,
    utilisation: f64,
    offered: u64,
    refused: u64,
    expired: u64,
    partial: u64,
    p_wait: f64,
    wait_ms: Option<f64>,
    response_ms: Option<f64>,
    response_ms_ci95: Option<f64>,
    response_p50_ms: Option<f64>,
    response_p90_ms: Option<f64>,
    response_p95_ms: Option<f64>,
    response_p99_ms: Option<f64>,
    response_p99_ms_ci95: Option<f64>,
    response_p999_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    watts_estimated: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    joules_per_query_estimated: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    joules_per_query_above_idle_estimated: Option<f64>,
    /// What the run says of itself; only for a folder of a load run.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunLine>,
}

impl Line {
    fn of(summary: &Summary, energy: Option<Energy>, bounded: bool) -> Line {
        // An overloaded queue without a bound grows during the whole run, so its figures depend on the run's length.
        let overloaded = summary.is_overloaded() && !bounded;
        let some = |value: f64| (!overloaded && value.is_finite()).then_some(value);
        let quantile = |share| summary.quantile_ms(share).and_then(some);
        Line {
            rate_per_s: summary.rate_per_s,
            load: summary.load,
            overloaded,
            utilisation: summary.utilisation,
            offered: summary.offered,
            refused: summary.refused,
            expired: summary.expired,
            partial: summary.partial,
            p_wait: summary.p_wait,
            wait_ms: some(summary.wait_ms),
            response_ms: some(summary.response.mean),
            response_ms_ci95: some(summary.response.half_width(0.95)),
            response_p50_ms: quantile(0.5),
            response_p90_ms: quantile(0.9),
            response_p95_ms: quantile(0.95),
            response_p99_ms: quantile(0.99),
            response_p99_ms_ci95: some(summary.p99.half_width(0.95)),
            response_p999_ms: quantile(0.999),
            watts_estimated: energy.map(|energy| energy.watts),
            joules_per_query_estimated: energy.map(|energy| energy.joules_per_query),
            joules_per_query_above_idle_estimated: energy
                .map(|energy| energy.joules_per_query_above_idle),
            run: None,
        }
    }

    fn row(&self) -> [String; 9] {
        let optional = |value: Option<f64>| value.map_or("-".to_owned(), ms);
        let within = |value: Option<f64>, ci: Option<f64>| match value.zip(ci) {
            Some((value, ci)) => format!("{} ± {}", number(value), ms(ci)),
            None => "-".to_owned(),
        };
        let lost = self.refused + self.expired + self.partial;
        [
            number(self.rate_per_s),
            if self.overloaded {
                "overloaded".to_owned()
            } else {
                percent(self.utilisation)
            },
            percent(lost as f64 / self.offered as f64),
            optional(self.wait_ms),
            within(self.response_ms, self.response_ms_ci95),
            optional(self.response_p50_ms),
            optional(self.response_p95_ms),
            within(self.response_p99_ms, self.response_p99_ms_ci95),
            optional(self.response_p999_ms),
        ]
    }
}

/// Runs the subcommand.
pub(super) fn run(arguments: &SimulateArguments, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let (times, run) = times_of(arguments)?;
    let checked = match &run {
        Some(run) => run.checked(CHECKED_SHARE)?,
        None => None,
    };
    if let Some(despite) = run.as_ref().and_then(MeasuredRun::despite_line)
        && !arguments.json
    {
        writeln!(out, "{}", console::terminal::printable(&despite))?;
    }
    if !arguments.handlers.handlers.is_empty() {
        let policies = match &arguments.policy {
            Some(policies) => policies.clone(),
            None => parse_policies("fifo,help-if-idle").map_err(anyhow::Error::msg)?,
        };
        let asked = Asked {
            given: &arguments.handlers,
            arrivals: &arguments.arrivals,
            machine: &arguments.machine,
            times: &times,
            policies: &policies.list,
            deadline_ms: arguments.deadline,
            queries: arguments.queries,
            replays: arguments.replay,
            runs: arguments.runs,
            seed: arguments.seed,
            json: arguments.json,
        };
        handlers::run(&asked, out)?;
        if !arguments.json {
            for assumption in run.iter().flat_map(|run| &run.assumed).take(1) {
                writeln!(out, "{assumption}")?;
            }
        }
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let machine = arguments.machine.machine()?;
    let fixed_ms = run.as_ref().map_or(0.0, |run| run.idle_ms);
    let most_per_s = 1e3 * machine.capacity() / times.work_ms();
    let list = arguments.arrivals.list(most_per_s)?;
    let first = list.first().cloned();
    let any = first.unwrap_or(Arrivals::Constant { rate_per_s: 1.0 });
    let queries = queries_of(arguments.queries, arguments.replay, &any, &times);
    let mut settings = Settings::new(machine, any, times, queries);
    let parts = settings.times.parts();
    settings.layout = layout_of(arguments, settings.machine.cores.len(), parts)?;
    settings.queue_max = arguments.queue;
    settings.deadline_ms = arguments.deadline;
    settings.seed = arguments.seed;
    settings.fixed_ms = fixed_ms;
    let bounded = settings.queue_max.is_some() || settings.deadline_ms.is_some();
    let degree = arguments.degree.unwrap_or(parts);
    let is_idle_share = is_idle_share(arguments)?;
    let mut table = Table::new([
        "queries/s",
        "utilisation",
        "lost",
        "wait",
        "response",
        "p50",
        "p95",
        "p99",
        "p99.9",
    ]);
    let mut energies = Vec::new();
    for arrivals in list {
        settings.arrivals = arrivals;
        let policy = || policy_of(is_idle_share, degree);
        let summary = summarise(&settings, arguments.runs, policy)?;
        let energy = arguments.machine.energy(&summary.activity)?;
        let mut line = Line::of(&summary, energy, bounded);
        line.run = run.as_ref().map(|run| RunLine::of(run, checked));
        energies.push((line.rate_per_s, energy.filter(|_| !line.overloaded)));
        if arguments.json {
            write_json(out, &line)?;
        } else {
            table.row(line.row());
        }
    }
    if arguments.json {
        out.flush()?;
        return conclude(checked, &arguments.of_run);
    }
    table.write(out)?;
    write_energies(&energies, out)?;
    let work_ms = settings.times.work_ms();
    writeln!(
        out,
        "\n{} part{} a query, {} of one core together; at most {} queries/s\n{} runs of {} queries a rate, ± \
         is the 95 % interval; lost: refused, late or answered in part\nassumed: cores of the speed that the \
         times were measured on; {}",
        parts,
        if parts == 1 { "" } else { "s" },
        ms(work_ms),
        number(most_per_s),
        arguments.runs,
        count(queries as u64),
        match run {
            None => "nothing but the search takes time".to_owned(),
            Some(_) => format!(
                "{} of every answer pass without work of a core",
                ms(fixed_ms)
            ),
        },
    )?;
    if let Some(run) = &run {
        for assumption in &run.assumed {
            writeln!(out, "{assumption}")?;
        }
        write_checked(checked, CHECKED_SHARE, out)?;
    }
    out.flush()?;
    conclude(checked, &arguments.of_run)
}

fn times_of(arguments: &SimulateArguments) -> anyhow::Result<(Times, Option<MeasuredRun>)> {
    let split = arguments.partitions.map(|parts| Split {
        parts,
        speed_up: arguments.speed_up.unwrap_or(parts as f64),
        independent: false,
    });
    if let (Some(split), Some(speed_up)) = (split, arguments.speed_up) {
        ensure!(
            speed_up <= split.parts as f64,
            "--speed-up is {speed_up}, more than the {} partitions",
            split.parts
        );
    }
    if let Some(mean_ms) = arguments.mean {
        let distribution = match arguments.shape {
            Shape::Constant => Distribution::Constant,
            Shape::Exponential => Distribution::Exponential,
            Shape::Lognormal => Distribution::Lognormal {
                cv2: arguments.variation,
            },
        };
        let split = split.unwrap_or(Split::perfect(1));
        let times = Times::Drawn {
            mean_ms,
            distribution,
            split,
        };
        return Ok((times, None));
    }
    let Some(run) = &arguments.run else {
        bail!("give a file of search times, or a --mean");
    };
    let SearchTimes { mut searches, run } = read_search_times(run, &arguments.of_run)?;
    // Times measured with the same number of partitions include their imbalance; a split assumes it.
    if let Some(split) = split
        && (split.parts != searches.parts() || arguments.speed_up.is_some())
    {
        searches = searches.resplit(split)?;
    }
    if let Some(run) = &run
        && arguments.handlers.handlers.is_empty()
    {
        searches = with_rest(&searches, &run.rest_ms)?;
    }
    let times = Times::Measured {
        searches,
        order: match arguments.replay {
            true => Order::AsMeasured,
            false => Order::Shuffled,
        },
    };
    Ok((times, run))
}

/// Returns searches with what a query takes beside its search added to its first part, which no split shortens.
fn with_rest(searches: &Searches, rest_ms: &[f64]) -> anyhow::Result<Searches> {
    let rows = searches.rows().zip(rest_ms).map(|(row, rest_ms)| {
        let mut row = row.to_vec();
        row[0] += rest_ms;
        row
    });
    Ok(Searches::new(rows)?)
}

fn layout_of(
    arguments: &SimulateArguments,
    contexts: usize,
    parts: usize,
) -> anyhow::Result<Layout> {
    Ok(match arguments.layout {
        LayoutName::Shared => Layout::Shared,
        LayoutName::Gang => Layout::Gang,
        LayoutName::PerCore => Layout::PerCore(NextCore::Shortest),
        LayoutName::Pinned => {
            // One group of cores for each partition; with fewer cores than partitions, a core has several.
            let groups = parts.min(contexts);
            ensure!(
                contexts.is_multiple_of(groups),
                "{parts} partitions cannot be pinned evenly to {contexts} cores or contexts"
            );
            Layout::Pinned { groups }
        }
    })
}

/// Returns whether a query gets its share of the idle cores rather than a constant number.
fn is_idle_share(arguments: &SimulateArguments) -> anyhow::Result<bool> {
    match arguments.policy.as_ref().map(|one| one.given.as_str()) {
        None | Some("fifo") => Ok(false),
        Some("idle-share") => Ok(true),
        Some(given) => {
            bail!("--policy {given} needs --handlers; without it choose fifo or idle-share")
        }
    }
}

fn policy_of(is_idle_share: bool, degree: usize) -> Box<dyn Assignment> {
    match is_idle_share {
        false => Box::new(Fifo { degree }),
        true => Box::new(IdleShare { degree_max: degree }),
    }
}
