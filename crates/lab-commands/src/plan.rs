//! `shorttail plan`: the cheapest fleet that keeps a target of response times.

use crate::model::checked::{RunLine, conclude, write_checked};
use crate::model::table::{Table, ms, number, percent, write_json};
use crate::model::{parse_positive, read_costs};
use crate::search_times::{MeasuredRun, RunArguments, SearchTimes};
use crate::time_files::read_search_times;
use crate::times;
use anyhow::{Context, bail, ensure};
use clap::builder::RangedU64ValueParser;
use console::figures::{count, counted, number_plain};
use console::meter::Meter;
use model::costs::{Costs, YearlyCost};
use model::plan::{Checked, Fleet, Request, Target, WhatIf, plan_watched, sensitivity_watched};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use units::{Size, SizeUnit, Sizes, Times};

const EXAMPLES: &str = "\
TIMES holds measured search times of one core: a folder of a load run, or a file as described in
`shorttail model simulate --help`. For each kind of server in the costs, a simulation finds the
smallest fleet: slices of the documents, replicas of each, partitions within a server.

Of a load run the CPU time of whole answers is planned for, and its wall clock only where it has no
CPU time. A run whose times are not those of its server is refused; --despite takes it all the same.
The model's percentile for the measured rate is printed beside the measured one.

Exit codes: 0 planned, 1 no plan, run refused, or contradicted by more than a fifth by its own run,
2 wrong usage.

EXAMPLES:
    shorttail plan times.csv --rate 2000 --target p99=300ms
        Servers of 8 cores, as in the default costs
    shorttail plan times.csv --rate 2000 --target p99=300ms --measured 10M --documents 200M
        For 20 times the measured documents
    shorttail plan RUN --rate 2000 --target p99=300ms --despite contended
        From a run of `shorttail load --save RUN` that shared its cores with other programs
    shorttail plan times.csv --rate 2000 --target p99=300ms --costs costs.toml --json
        For your own servers and prices (`shorttail model tco --print` writes such a file)";

/// Servers, partitions and replicas that keep a target of response times at a rate, and their costs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanArguments {
    /// Measured search times: a folder of a load run, or a file
    #[arg(value_name = "TIMES")]
    run: PathBuf,
    /// Arrival rate in queries a second
    #[arg(long, value_name = "PER_S", value_parser = parse_positive, help_heading = "Traffic and target")]
    rate: f64,
    /// Percentile of response times and its upper limit: p99=300ms, p99.9=1s
    #[arg(long, value_name = "PERCENTILE=TIME", value_parser = parse_target, help_heading = "Traffic and target")]
    target: Target,
    /// Number of documents to search: 200M, 1.5G [default: --measured]
    #[arg(long, value_name = "N", value_parser = parse_documents, requires = "measured", help_heading = "Documents")]
    documents: Option<f64>,
    /// Number of documents in the measured index
    #[arg(long, value_name = "N", value_parser = parse_documents, help_heading = "Documents")]
    measured: Option<f64>,
    /// Memory of the measured index; if given, slices must fit into the memory of servers
    #[arg(long, value_name = "SIZE", value_parser = Sizes::ANY.at_least(Size::new(1, SizeUnit::Bytes)).bytes(), help_heading = "Documents")]
    index_size: Option<u64>,
    /// Servers and prices [default: those of `shorttail model tco --print`]
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    costs: Option<PathBuf>,
    /// Additional traffic as a share of the rate: 0.25 is a quarter more
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0.25",
        help_heading = "Traffic and target"
    )]
    headroom: f64,
    /// Number of replicas beyond those that the traffic needs
    #[arg(long, value_name = "N", default_value = "0", value_parser = RangedU64ValueParser::<usize>::new().range(0..=100), help_heading = "Traffic and target")]
    spare: usize,
    /// Efficiency of each doubling of partitions: with 0.95, two partitions are 1.9 times as fast
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0.95",
        help_heading = "Servers"
    )]
    efficiency: f64,
    /// Core time of each query in each partition beyond its search
    #[arg(long, value_name = "TIME", default_value = "0.1ms", value_parser = times::ms(), help_heading = "Servers")]
    overhead: f64,
    /// Time of each query without work of a server, such as on the network [default: the median of the run; 0 for a
    /// file]
    #[arg(long, value_name = "TIME", value_parser = times::ms(), help_heading = "Servers")]
    fixed: Option<f64>,
    /// Upper limit on the number of slices
    #[arg(long, value_name = "N", default_value = "200", value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000), help_heading = "Servers")]
    slices: usize,
    /// Seed of the random numbers
    #[arg(long, value_name = "SEED", default_value = "1")]
    seed: u64,
    #[command(flatten)]
    of_run: RunArguments,
    /// Print one line of JSON for each kind of server
    #[arg(long)]
    json: bool,
}

/// Reads `p99=300ms` or `p99.9=1.5s`.
fn parse_target(text: &str) -> Result<Target, String> {
    const WANTED: &str = "write a percentile and a time: p99=300ms, p99.9=1s";
    let (percentile, time) = text.split_once('=').ok_or(WANTED)?;
    let percentile: f64 = percentile
        .strip_prefix('p')
        .and_then(|p| p.parse().ok())
        .ok_or(WANTED)?;
    let time = Times::POSITIVE.read(time).map_err(|_| WANTED.to_owned())?;
    let fits = percentile > 0.0 && percentile < 100.0;
    fits.then_some(Target {
        share: percentile / 100.0,
        response_ms: time.milliseconds(),
    })
    .ok_or_else(|| WANTED.to_owned())
}

/// Reads a number of documents: `200M`, `1.5G`, `40k`, `1000000`.
fn parse_documents(text: &str) -> Result<f64, String> {
    let units = [("k", 1e3), ("M", 1e6), ("G", 1e9)];
    let (number, unit) = units
        .iter()
        .find_map(|(suffix, unit)| text.strip_suffix(suffix).map(|number| (number, *unit)))
        .unwrap_or((text, 1.0));
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() && number * unit >= 1.0 => Ok(number * unit),
        _ => Err("write a number of documents: 1000000, 40k, 200M, 1.5G".to_owned()),
    }
}

/// A plan for one kind of server.
struct Planned {
    name: String,
    request: Request,
    fleet: Fleet,
    what_if: Vec<WhatIf>,
    yearly: YearlyCost,
}

#[derive(Serialize)]
struct Line<'a> {
    server: &'a str,
    servers: usize,
    slices: usize,
    replicas: usize,
    partitions: usize,
    cores: usize,
    rate_per_s: f64,
    target_share: f64,
    target_ms: f64,
    headroom: f64,
    response_ms: f64,
    utilisation: f64,
    currency: &'a str,
    yearly: &'a YearlyCost,
    yearly_total: f64,
    what_if: Vec<WhatIfLine>,
    assumptions: Vec<String>,
    /// What the run says of itself; only for a folder of a load run.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunLine>,
}

#[derive(Serialize)]
struct WhatIfLine {
    case: &'static str,
    response_ms: Option<f64>,
    utilisation: Option<f64>,
    keeps_target: bool,
    servers_needed: Option<usize>,
}

/// Runs the subcommand.
pub fn run(arguments: PlanArguments) -> anyhow::Result<ExitCode> {
    let times = read_search_times(&arguments.run, &arguments.of_run)?;
    let checked = match &times.run {
        Some(run) => run.checked(arguments.target.share)?,
        None => None,
    };
    let costs = read_costs(arguments.costs.as_deref())?;
    let (mut plans, mut failures) = (Vec::new(), Vec::new());
    let mut meter = Meter::start("planning", None);
    for name in costs.servers.keys() {
        match plan_for(name, &arguments, &costs, &times, &mut meter) {
            Ok(planned) => plans.push(planned),
            Err(error) => {
                failures.push(format!("{}: {error:#}", console::terminal::printable(name)))
            }
        }
    }
    drop(meter);
    plans.sort_by(|a, b| a.yearly.total().total_cmp(&b.yearly.total()));
    if plans.is_empty() {
        bail!("{}", failures.join("; "));
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if arguments.json {
        for planned in &plans {
            write_json(
                &mut out,
                &line(planned, &costs, times.run.as_ref(), checked),
            )?;
        }
    } else {
        if let Some(despite) = times.run.as_ref().and_then(MeasuredRun::despite_line) {
            writeln!(out, "{}", console::terminal::printable(&despite))?;
        }
        write_plans(&plans, &arguments, &costs, &times, &mut out)?;
        if times.run.is_some() {
            write_checked(checked, arguments.target.share, &mut out)?;
        }
    }
    out.flush()?;
    for failure in failures {
        console::failure::note(&format!("no plan with {failure}"));
    }
    conclude(checked, &arguments.of_run)
}

fn plan_for(
    name: &str,
    arguments: &PlanArguments,
    costs: &Costs,
    times: &SearchTimes,
    meter: &mut Meter,
) -> anyhow::Result<Planned> {
    let server = costs.servers[name];
    let mut request = Request::new(
        times.searches.clone(),
        arguments.rate,
        arguments.target,
        server.cores as usize,
    );
    if let Some((documents, measured)) = arguments.documents.zip(arguments.measured) {
        request.documents_ratio = documents / measured;
    }
    ensure!(arguments.headroom >= 0.0, "--headroom must be 0 or more");
    request.index_gb = arguments.index_size.map_or(0.0, |bytes| bytes as f64 / 1e9);
    request.headroom = arguments.headroom;
    request.spare_replicas = arguments.spare;
    request.speed = server.speed;
    request.memory_gb = server.memory_gb;
    request.split_efficiency = arguments.efficiency;
    request.overhead_ms = arguments.overhead;
    request.fixed_ms = arguments.fixed.unwrap_or_default();
    if let Some(run) = &times.run {
        request.rest_ms.clone_from(&run.rest_ms);
        request.fixed_ms = arguments.fixed.unwrap_or(run.idle_ms);
    }
    request.slices_max = arguments.slices;
    request.seed = arguments.seed;
    let mut told = |what: &str, tried: usize, ways: usize| {
        let name = console::terminal::printable(name);
        meter.update(tried as u64, |_| {
            format!("{name}, {what}: way {tried} of {ways}")
        });
    };
    let fleet = plan_watched(&request, "as asked", &mut told)?;
    let what_if = sensitivity_watched(&request, &fleet, &mut told).context("cannot say what if")?;
    Ok(Planned {
        name: name.to_owned(),
        yearly: costs.yearly(&server, fleet.servers() as f64, fleet.utilisation),
        request,
        fleet,
        what_if,
    })
}

fn line<'a>(
    planned: &'a Planned,
    costs: &'a Costs,
    run: Option<&MeasuredRun>,
    checked: Option<Checked>,
) -> Line<'a> {
    let Planned {
        name,
        request,
        fleet,
        what_if,
        yearly,
    } = planned;
    let finite = |value: f64| value.is_finite().then_some(value);
    Line {
        server: name,
        servers: fleet.servers(),
        slices: fleet.slices,
        replicas: fleet.replicas,
        partitions: fleet.partitions,
        cores: request.cores,
        rate_per_s: request.rate_per_s,
        target_share: request.target.share,
        target_ms: request.target.response_ms,
        headroom: request.headroom,
        response_ms: fleet.response_ms,
        utilisation: fleet.utilisation,
        currency: &costs.currency,
        yearly,
        yearly_total: yearly.total(),
        what_if: what_if
            .iter()
            .map(|row| WhatIfLine {
                case: row.case,
                response_ms: finite(row.response_ms),
                utilisation: finite(row.utilisation),
                keeps_target: row.keeps_target,
                servers_needed: row.servers_needed,
            })
            .collect(),
        assumptions: assumptions(request, run),
        run: run.map(|run| RunLine::of(run, checked)),
    }
}

/// Returns the assumptions of the plan, and how the demand of its run was measured.
fn assumptions(request: &Request, run: Option<&MeasuredRun>) -> Vec<String> {
    let of_run = run.map_or(&[][..], |run| &run.assumed);
    [&request.assumptions()[..], of_run].concat()
}

fn write_plans(
    plans: &[Planned],
    arguments: &PlanArguments,
    costs: &Costs,
    times: &SearchTimes,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let percentile = format!("p{}", number_plain(100.0 * arguments.target.share));
    let response = percentile.clone();
    let currency = console::terminal::printable(&costs.currency);
    let (yearly_heading, million_heading) = (
        format!("{currency} a year"),
        format!("{currency} per million queries"),
    );
    let mut table = Table::new([
        "server",
        "servers",
        "slices",
        "replicas",
        "partitions",
        "cores",
        &response,
        "utilisation",
        &yearly_heading,
        &million_heading,
    ]);
    for Planned {
        name,
        request,
        fleet,
        yearly,
        ..
    } in plans
    {
        let per_million = yearly.total() / (arguments.rate * 31_557_600.0) * 1e6;
        table.row([
            console::terminal::printable(name),
            count(fleet.servers() as u64),
            fleet.slices.to_string(),
            fleet.replicas.to_string(),
            fleet.partitions.to_string(),
            count((fleet.servers() * request.cores) as u64),
            ms(fleet.response_ms),
            percent(fleet.utilisation),
            count(yearly.total().round() as u64),
            number(per_million),
        ]);
    }
    table.write(out)?;
    let Planned {
        name,
        request,
        fleet,
        what_if,
        ..
    } = &plans[0];
    writeln!(
        out,
        "\n{}: {} of {}, a query asks {}, each of which searches on {} of its {} cores; {} {} at {} queries/s",
        console::terminal::printable(name),
        counted(fleet.replicas as u64, "replica"),
        counted(fleet.slices as u64, "slice"),
        counted(fleet.slices as u64, "server"),
        fleet.partitions,
        request.cores,
        percentile,
        ms(fleet.response_ms),
        number(arguments.rate),
    )?;
    let mut table = Table::new([
        "\nwhat if",
        &response,
        "utilisation",
        "target",
        "servers needed",
    ]);
    for row in what_if {
        let lost = row.utilisation.is_nan();
        table.row([
            row.case.to_owned(),
            if row.response_ms.is_finite() {
                ms(row.response_ms)
            } else {
                "-".to_owned()
            },
            if lost {
                "no answer".to_owned()
            } else {
                percent(row.utilisation)
            },
            if row.keeps_target {
                "kept".to_owned()
            } else {
                "broken".to_owned()
            },
            row.servers_needed
                .map_or("none found".to_owned(), |servers| count(servers as u64)),
        ]);
    }
    table.write(out)?;
    writeln!(out, "\nassumed:")?;
    for assumption in assumptions(request, times.run.as_ref()) {
        writeln!(out, "- {assumption}")?;
    }
    writeln!(
        out,
        "- costs: {}, and every figure of the costs",
        model::costs::ASSUMPTIONS
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_documents_are_read_or_refused() {
        let check = |text: &str, share: f64, response_ms: f64| {
            assert_eq!(
                parse_target(text),
                Ok(Target { share, response_ms }),
                "{text}"
            );
        };
        check("p99=300ms", 0.99, 300.0);
        check("p50=0.5s", 0.5, 500.0);
        for bad in [
            "", "p99", "99=1s", "p0=1s", "p100=1s", "p99=0ms", "p99=5", "p99=-1s", "px=1s",
            "p99=infs",
        ] {
            assert!(parse_target(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_documents("200M"), Ok(2e8));
        assert_eq!(parse_documents("1.5G"), Ok(1.5e9));
        assert_eq!(parse_documents("12"), Ok(12.0));
        for bad in ["", "M", "0", "-1k", "NaN"] {
            assert!(parse_documents(bad).is_err(), "{bad}");
        }
    }
}
