//! `shorttail model fan-out`: response times of queries to many servers, with and without hedged requests.

use super::rates::parse_positive;
use super::table::{Table, ms, number, percent, write_json};
use crate::search_times::RunArguments;
use crate::time_files::read_search_times;
use crate::times;
use anyhow::{bail, ensure};
use clap::builder::RangedU64ValueParser;
use model::fan_out::{
    self, ALIKE_ASSUMPTIONS, ASSUMPTIONS, FanOut, Slices, alike_quantile_ms, quantile_ms,
    slower_share,
};
use model::simulate::{Arrivals, Distribution, Order, Split, Times};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
EXAMPLES:
    shorttail model fan-out --servers 100,2000 --slow 0.01
        Share of queries that meet a slow server if one answer in a hundred is slow
    shorttail model fan-out --servers 1,10,100,1000 --mean 10ms --cores 4 --rate 200
        By simulation: servers of 4 cores, exponential search times of 10 ms
    shorttail model fan-out times.csv --servers 100 --cores 4 --rate 200 --hedge 40ms
        With two replicas of each server, and a hedged request after 40 ms";

/// Response times of the slowest of many servers, and the gain from hedged requests
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct FanOutArguments {
    /// Measured search times of one server: a folder of a load run, or a file
    #[arg(value_name = "TIMES", conflicts_with_all = ["mean", "slow"])]
    run: Option<PathBuf>,
    /// Servers that answer each query: one or several numbers, 1 to 100,000
    #[arg(long, value_name = "N", value_delimiter = ',', required = true,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000), help_heading = "Servers")]
    servers: Vec<usize>,
    /// Share of a server's answers that are slow; nothing is simulated
    #[arg(long, value_name = "SHARE", value_parser = parse_positive, conflicts_with_all = ["mean", "rate", "hedge"], help_heading = "Search times")]
    slow: Option<f64>,
    /// Mean of exponential search times, in place of measured ones
    #[arg(long, value_name = "TIME", value_parser = times::positive_ms(), help_heading = "Search times")]
    mean: Option<f64>,
    /// Cores of each server
    #[arg(long, value_name = "M", default_value = "1", help_heading = "Servers")]
    cores: usize,
    /// Arrival rate in queries a second; each query goes to all servers
    #[arg(long, value_name = "PER_S", value_parser = parse_positive, help_heading = "Servers")]
    rate: Option<f64>,
    /// Imbalance of the servers: standard deviation of the logarithm of a query's time on one of them over its own
    /// time, which all share
    #[arg(long, value_name = "SIGMA", default_value_t = fan_out::IMBALANCE, conflicts_with = "independent", help_heading = "Search times")]
    imbalance: f64,
    /// Draw the time of a query on each server anew, as if what makes answers slow were not the query
    #[arg(long, help_heading = "Search times")]
    independent: bool,
    /// Hedging delay: after it without an answer, a second request goes to the other of two replicas
    #[arg(long, value_name = "TIME", value_parser = times::ms(), help_heading = "Servers")]
    hedge: Option<f64>,
    /// Queries to simulate, 100 to 10,000,000
    #[arg(long, value_name = "N", default_value = "20000", value_parser = RangedU64ValueParser::<usize>::new().range(100..=10_000_000), help_heading = "Simulation")]
    queries: usize,
    /// Seed of the random numbers
    #[arg(
        long,
        value_name = "SEED",
        default_value = "1",
        help_heading = "Simulation"
    )]
    seed: u64,
    #[command(flatten)]
    of_run: RunArguments,
    /// Print one line of JSON for each number of servers
    #[arg(long)]
    json: bool,
}

#[derive(Default, Serialize)]
struct Line {
    servers: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    slow_queries: Option<f64>,
    response_p50_ms: Option<f64>,
    response_p90_ms: Option<f64>,
    response_p99_ms: Option<f64>,
    /// Median by the formula from one server's response times, as if all took alike but for their imbalance.
    #[serde(skip_serializing_if = "Option::is_none")]
    alike_p50_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alike_p99_ms: Option<f64>,
    /// Median by order statistics of one server's response times, as if servers were independent.
    independent_p50_ms: Option<f64>,
    independent_p99_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hedged_p50_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hedged_p99_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_requests: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_work: Option<f64>,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &FanOutArguments, out: &mut impl Write) -> anyhow::Result<()> {
    if let Some(slow) = arguments.slow {
        return write_shares(arguments, slow, out);
    }
    let Some(rate_per_s) = arguments.rate else {
        bail!("give a --rate to simulate, or a --slow share");
    };
    let times = times_of(arguments)?;
    let replicas = if arguments.hedge.is_some() { 2.0 } else { 1.0 };
    let load = rate_per_s / 1e3 * times.work_ms() / arguments.cores as f64 / replicas;
    ensure!(
        load < 1.0,
        "{rate_per_s} queries/s keep {} of the cores busy: waits grow without end; lower the rate or add cores",
        percent(load)
    );
    let mut headings = vec![
        "servers",
        "p50",
        "p90",
        "p99",
        "p50 if alike",
        "p99 if alike",
        "p50 if independent",
        "p99 if independent",
    ];
    if arguments.hedge.is_some() {
        headings.extend(["hedged p50", "hedged p99", "extra requests", "extra work"]);
    }
    let slices = match arguments.independent {
        true => Slices::Independent,
        false => Slices::Alike {
            imbalance: arguments.imbalance,
        },
    };
    let mut table = Table::new(headings);
    for &servers in &arguments.servers {
        let fan_out = FanOut {
            servers,
            cores: arguments.cores,
            arrivals: Arrivals::Poisson { rate_per_s },
            times: times.clone(),
            slices,
            queries: arguments.queries,
            warm_up: arguments.queries / 10,
            seed: arguments.seed,
        };
        let line = simulated(&fan_out, arguments.hedge)?;
        if arguments.json {
            write_json(out, &line)?;
        } else {
            table.row(row(&line, arguments.hedge.is_some()));
        }
    }
    if !arguments.json {
        table.write(out)?;
        writeln!(
            out,
            "\ncores busy {}; simulated servers share their arrivals, and {}\nif alike: {ALIKE_ASSUMPTIONS}\nif \
             independent: {ASSUMPTIONS}",
            percent(load),
            match slices {
                Slices::Independent => "a query takes a time of its own on each".to_owned(),
                Slices::Alike { imbalance } => format!(
                    "a query's time is common to all, times a factor of each with σ {}",
                    number(imbalance)
                ),
            }
        )?;
    }
    Ok(())
}

fn times_of(arguments: &FanOutArguments) -> anyhow::Result<Times> {
    if let Some(run) = &arguments.run {
        let searches = read_search_times(run, &arguments.of_run)?.searches;
        return Ok(Times::Measured {
            searches,
            order: Order::Shuffled,
        });
    }
    let Some(mean_ms) = arguments.mean else {
        bail!("give a file of search times, a --mean, or a --slow share");
    };
    Ok(Times::Drawn {
        mean_ms,
        distribution: Distribution::Exponential,
        split: Split::perfect(1),
    })
}

fn write_shares(
    arguments: &FanOutArguments,
    slow: f64,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    ensure!(slow < 1.0, "--slow is {slow}; it is a share, below 1");
    let mut table = Table::new(["servers", "queries that meet a slow one"]);
    for &servers in &arguments.servers {
        let share = slower_share(slow, servers);
        if arguments.json {
            write_json(
                out,
                &Line {
                    servers,
                    slow_queries: Some(share),
                    ..Line::default()
                },
            )?;
        } else {
            table.row([servers.to_string(), percent(share)]);
        }
    }
    if !arguments.json {
        table.write(out)?;
        writeln!(out, "\nassumed: {ASSUMPTIONS}")?;
    }
    Ok(())
}

/// Returns a percentile; `None` unless at least ten answers lie beyond it.
fn supported(sorted: &[f64], share: f64) -> Option<f64> {
    quantile_ms(sorted, 1, share)
}

fn simulated(fan_out: &FanOut, hedge: Option<f64>) -> anyhow::Result<Line> {
    let (slowest, one) = match hedge {
        // The same two replicas without hedged requests, to compare with.
        Some(_) => {
            let plain = fan_out::simulate_hedged(fan_out, None)?;
            (plain.slowest_ms, plain.of_one_ms)
        }
        None => fan_out::simulate(fan_out)?,
    };
    let alike = |share: f64| match fan_out.slices {
        Slices::Alike { imbalance } => alike_quantile_ms(&one, fan_out.servers, imbalance, share),
        Slices::Independent => None,
    };
    let mut line = Line {
        servers: fan_out.servers,
        response_p50_ms: supported(&slowest, 0.5),
        response_p90_ms: supported(&slowest, 0.9),
        response_p99_ms: supported(&slowest, 0.99),
        alike_p50_ms: alike(0.5),
        alike_p99_ms: alike(0.99),
        independent_p50_ms: quantile_ms(&one, fan_out.servers, 0.5),
        independent_p99_ms: quantile_ms(&one, fan_out.servers, 0.99),
        ..Line::default()
    };
    if let Some(delay_ms) = hedge {
        let hedged = fan_out::simulate_hedged(fan_out, Some(delay_ms))?;
        line.hedged_p50_ms = supported(&hedged.slowest_ms, 0.5);
        line.hedged_p99_ms = supported(&hedged.slowest_ms, 0.99);
        line.extra_requests = Some(hedged.extra_requests);
        line.extra_work = Some(hedged.extra_work);
    }
    Ok(line)
}

fn row(line: &Line, hedged: bool) -> Vec<String> {
    let time = |value: Option<f64>| value.map_or("-".to_owned(), ms);
    let share = |value: Option<f64>| value.map_or("-".to_owned(), percent);
    let mut cells = vec![
        number(line.servers as f64),
        time(line.response_p50_ms),
        time(line.response_p90_ms),
        time(line.response_p99_ms),
        time(line.alike_p50_ms),
        time(line.alike_p99_ms),
        time(line.independent_p50_ms),
        time(line.independent_p99_ms),
    ];
    if hedged {
        cells.extend([
            time(line.hedged_p50_ms),
            time(line.hedged_p99_ms),
            share(line.extra_requests),
            share(line.extra_work),
        ]);
    }
    cells
}
