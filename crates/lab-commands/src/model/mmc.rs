//! `shorttail model mmc`: waits and response times of queries on c equal servers.

use super::rates::parse_positive;
use super::table::{Table, ms, number, percent, write_json};
use anyhow::bail;
use model::formulas::general::{ALLEN_CUNNEEN_ASSUMPTIONS, allen_cunneen_wait_ms};
use model::formulas::{Closed, Dmc, Mmc, closed, constant_service, mmc};
use serde::Serialize;
use std::io::Write;

const EXAMPLES: &str = "\
EXAMPLES:
    shorttail model mmc --rate 150 --service 20 --servers 8
        8 cores that serve 20 queries/s each, at 150 queries/s
    shorttail model mmc --rate 150 --service 20 --servers 8 --variation 4
        Also the mean wait under other distributions of arrivals and search times
    shorttail model mmc --service 20 --servers 8 --curve
        Over all rates that the cores can serve
    shorttail model mmc --clients 64 --think 500ms --service 20 --servers 8
        64 clients that wait for each answer and think for 500 ms";

/// Waits and response times on equal servers with one queue (M/M/c)
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MmcArguments {
    /// Arrival rate in queries a second (λ)
    #[arg(long, value_name = "PER_S", value_parser = parse_positive,
          required_unless_present_any = ["curve", "clients"])]
    rate: Option<f64>,
    /// Service rate of one server in queries a second (μ)
    #[arg(long, value_name = "PER_S", value_parser = parse_positive)]
    service: f64,
    /// Number of servers, for example cores (c)
    #[arg(long, value_name = "C")]
    servers: usize,
    /// Squared coefficient of variation of search times (0 constant, 1 exponential); adds the mean wait by the
    /// Allen-Cunneen approximation
    #[arg(long, value_name = "CV2", conflicts_with_all = ["curve", "clients"])]
    variation: Option<f64>,
    /// Print a table over rates, up to 99 % of the capacity of the servers
    #[arg(long, conflicts_with = "clients")]
    curve: bool,
    /// Number of clients of a closed loop; each waits for its answer before it sends the next query
    #[arg(long, value_name = "N", conflicts_with = "rate")]
    clients: Option<usize>,
    /// Mean think time of a client of a closed loop, from an answer to its next query
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = crate::times::ms(), requires = "clients")]
    think: f64,
    /// Print one line of JSON; with --curve, one for each rate
    #[arg(long)]
    json: bool,
}

/// The figures of an M/M/c queue, as they are printed. Times in ms, rates in queries/s.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    rate_per_s: f64,
    service_per_s: f64,
    servers: usize,
    utilisation: f64,
    p_wait: f64,
    wait_ms: f64,
    service_ms: f64,
    response_ms: f64,
    queue_length: f64,
    in_system: f64,
    response_p50_ms: f64,
    response_p90_ms: f64,
    response_p95_ms: f64,
    response_p99_ms: f64,
    response_p999_ms: f64,
    wait_p95_ms: f64,
    wait_p99_ms: f64,
}

impl Figures {
    pub(super) fn of(queue: &Mmc) -> Figures {
        Figures {
            rate_per_s: queue.rate_per_s(),
            service_per_s: queue.service_per_s(),
            servers: queue.servers(),
            utilisation: queue.utilisation(),
            p_wait: queue.p_wait(),
            wait_ms: queue.wait_ms(),
            service_ms: queue.service_ms(),
            response_ms: queue.response_ms(),
            queue_length: queue.queue_length(),
            in_system: queue.in_system(),
            response_p50_ms: queue.response_quantile_ms(0.5),
            response_p90_ms: queue.response_quantile_ms(0.9),
            response_p95_ms: queue.response_quantile_ms(0.95),
            response_p99_ms: queue.response_quantile_ms(0.99),
            response_p999_ms: queue.response_quantile_ms(0.999),
            wait_p95_ms: queue.wait_quantile_ms(0.95),
            wait_p99_ms: queue.wait_quantile_ms(0.99),
        }
    }
}

/// Mean waits if arrivals or search times are not exponential.
#[derive(Debug, Serialize)]
struct Others {
    wait_constant_searches_ms: f64,
    wait_constant_arrivals_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_variation_ms: Option<f64>,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    figures: &'a Figures,
    #[serde(flatten)]
    others: &'a Others,
    assumptions: &'static str,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &MmcArguments, out: &mut impl Write) -> anyhow::Result<()> {
    if let Some(clients) = arguments.clients {
        return write_closed(arguments, clients, out);
    }
    if arguments.curve {
        return write_curve(arguments, out);
    }
    let Some(rate) = arguments.rate else {
        bail!("give a --rate, or --curve, or --clients");
    };
    let (service, servers) = (arguments.service, arguments.servers);
    let figures = Figures::of(&Mmc::new(rate, service, servers)?);
    let variation = |cv2| allen_cunneen_wait_ms(rate, service, servers, 1.0, cv2);
    let others = Others {
        wait_constant_searches_ms: constant_service::wait_ms(rate, service, servers)?,
        wait_constant_arrivals_ms: Dmc::new(rate, service, servers)?.wait_ms,
        wait_variation_ms: arguments.variation.map(variation).transpose()?,
    };
    if arguments.json {
        let line = Line {
            figures: &figures,
            others: &others,
            assumptions: mmc::ASSUMPTIONS,
        };
        return write_json(out, &line);
    }
    write_figures(&figures, out)?;
    write_others(&others, arguments.variation, out)?;
    writeln!(out, "\nassumed: {}", mmc::ASSUMPTIONS)?;
    if arguments.variation.is_some() {
        writeln!(out, "of the variation: {ALLEN_CUNNEEN_ASSUMPTIONS}")?;
    }
    Ok(())
}

fn write_figures(figures: &Figures, out: &mut impl Write) -> anyhow::Result<()> {
    let mut table = Table::new(["", "mean", "p50", "p90", "p95", "p99", "p99.9"]);
    let dash = String::new;
    table.row([
        "wait".to_owned(),
        ms(figures.wait_ms),
        dash(),
        dash(),
        ms(figures.wait_p95_ms),
        ms(figures.wait_p99_ms),
        dash(),
    ]);
    let mut service = vec!["service".to_owned(), ms(figures.service_ms)];
    service.resize_with(7, dash);
    table.row(service);
    table.row([
        "response".to_owned(),
        ms(figures.response_ms),
        ms(figures.response_p50_ms),
        ms(figures.response_p90_ms),
        ms(figures.response_p95_ms),
        ms(figures.response_p99_ms),
        ms(figures.response_p999_ms),
    ]);
    table.write(out)?;
    writeln!(
        out,
        "\nutilisation {}; {} of queries wait; {} wait and {} are in the system on average",
        percent(figures.utilisation),
        percent(figures.p_wait),
        number(figures.queue_length),
        number(figures.in_system),
    )?;
    Ok(())
}

fn write_others(
    others: &Others,
    variation: Option<f64>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut table = Table::new(["\nmean wait if instead", ""]);
    table.row([
        "every search took the same time".to_owned(),
        ms(others.wait_constant_searches_ms),
    ]);
    table.row([
        "queries came at equal distances".to_owned(),
        ms(others.wait_constant_arrivals_ms),
    ]);
    if let (Some(cv2), Some(wait)) = (variation, others.wait_variation_ms) {
        table.row([
            format!("search times varied by {}, about", number(cv2)),
            ms(wait),
        ]);
    }
    table.write(out)?;
    Ok(())
}

/// Rates of a curve, as shares of the capacity.
pub(super) const CURVE_SHARES: [f64; 14] = [
    0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99,
];

fn write_curve(arguments: &MmcArguments, out: &mut impl Write) -> anyhow::Result<()> {
    let capacity_per_s = arguments.service * arguments.servers as f64;
    let mut rates: Vec<f64> = CURVE_SHARES
        .iter()
        .map(|share| share * capacity_per_s)
        .collect();
    rates.extend(arguments.rate);
    rates.sort_by(f64::total_cmp);
    let mut table = Table::new([
        "queries/s",
        "utilisation",
        "waiting",
        "wait",
        "response",
        "p50",
        "p95",
        "p99",
    ]);
    for rate in rates {
        let figures = Figures::of(&Mmc::new(rate, arguments.service, arguments.servers)?);
        if arguments.json {
            write_json(out, &figures)?;
            continue;
        }
        table.row([
            number(figures.rate_per_s),
            percent(figures.utilisation),
            percent(figures.p_wait),
            ms(figures.wait_ms),
            ms(figures.response_ms),
            ms(figures.response_p50_ms),
            ms(figures.response_p95_ms),
            ms(figures.response_p99_ms),
        ]);
    }
    if !arguments.json {
        table.write(out)?;
        writeln!(out, "\nassumed: {}", mmc::ASSUMPTIONS)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct ClosedLine {
    clients: usize,
    think_ms: f64,
    throughput_per_s: f64,
    utilisation: f64,
    wait_ms: f64,
    response_ms: f64,
    in_system: f64,
    assumptions: &'static str,
}

fn write_closed(
    arguments: &MmcArguments,
    clients: usize,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let figures = Closed::new(
        clients,
        arguments.think,
        arguments.service,
        arguments.servers,
    )?;
    let line = ClosedLine {
        clients,
        think_ms: arguments.think,
        throughput_per_s: figures.throughput_per_s,
        utilisation: figures.utilisation,
        wait_ms: figures.wait_ms,
        response_ms: figures.response_ms,
        in_system: figures.in_system,
        assumptions: closed::ASSUMPTIONS,
    };
    if arguments.json {
        return write_json(out, &line);
    }
    let mut table = Table::new(["throughput", "utilisation", "wait", "response", "in system"]);
    table.row([
        format!("{}/s", number(line.throughput_per_s)),
        percent(line.utilisation),
        ms(line.wait_ms),
        ms(line.response_ms),
        number(line.in_system),
    ]);
    table.write(out)?;
    writeln!(
        out,
        "\nassumed: {}\na closed loop slows its arrivals down when answers are slow: it does not show what an open loop waits",
        closed::ASSUMPTIONS
    )?;
    Ok(())
}
