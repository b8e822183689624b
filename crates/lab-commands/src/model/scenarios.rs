//! `shorttail model scenarios`: effects of SMT and of partitions, alone and together.

use super::mmc::Figures;
use super::rates::parse_positive;
use super::table::{Table, ms, number, percent, write_json};
use model::formulas::{Machine, Mmc, Scenario, mmc, scenarios};
use serde::Serialize;
use std::io::Write;

const EXAMPLES: &str = "\
EXAMPLES:
    shorttail model scenarios --rate 150 --service 20 --cores 8 --smt-slowdown 1.5 --partitions 2
        The published example, perfect splits
    shorttail model scenarios --rate 150 --service 20 --cores 8 --partitions 4 --speed-up 3.4
        Four parts that make a query 3.4 times as fast";

/// The four scenarios side by side: with and without SMT, with and without partitions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ScenariosArguments {
    /// Arrival rate in queries a second (λ)
    #[arg(long, value_name = "PER_S", value_parser = parse_positive)]
    rate: f64,
    #[command(flatten)]
    machine: MachineArguments,
    /// Print one line of JSON for each scenario
    #[arg(long)]
    json: bool,
}

/// Options of the machine, for `scenarios` and `crossing`.
#[derive(Debug, clap::Args)]
pub(super) struct MachineArguments {
    /// Service rate of a core with one thread, in whole queries a second (μ)
    #[arg(long, value_name = "PER_S", value_parser = parse_positive)]
    service: f64,
    /// Physical cores (m)
    #[arg(long, value_name = "M")]
    cores: usize,
    /// Factor by which a search is slower on an SMT context whose sibling is busy (d)
    #[arg(long, value_name = "D", default_value = "1.5", value_parser = parse_positive)]
    smt_slowdown: f64,
    /// Number of parts that a query is split into (P)
    #[arg(long, value_name = "P", default_value = "2")]
    partitions: usize,
    /// Factor by which a query is faster if each of its parts has a core (s) [default: --partitions]
    #[arg(long, value_name = "S", value_parser = parse_positive)]
    speed_up: Option<f64>,
}

impl MachineArguments {
    pub(super) fn machine(&self) -> Machine {
        Machine {
            cores: self.cores,
            service_per_s: self.service,
            smt_slowdown: self.smt_slowdown,
            partitions: self.partitions,
            speed_up: self.speed_up.unwrap_or(self.partitions as f64),
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    scenario: &'a str,
    smt: bool,
    partitioned: bool,
    overloaded: bool,
    capacity_per_s: f64,
    #[serde(flatten)]
    figures: Option<Figures>,
    /// Mean response time of the first scenario minus that of this one, in ms.
    saved_ms: Option<f64>,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &ScenariosArguments, out: &mut impl Write) -> anyhow::Result<()> {
    let machine = arguments.machine.machine();
    let mut table = Table::new([
        "",
        "servers",
        "each/s",
        "at most/s",
        "utilisation",
        "wait",
        "service",
        "response",
        "saved",
        "p50",
        "p99",
    ]);
    let mut baseline_ms = None;
    for scenario in Scenario::ALL {
        let idle = machine.queue(scenario, 0.0)?;
        let capacity_per_s = machine.capacity_per_s(scenario)?;
        // An overloaded scenario is a result, not a failure.
        let queue = machine.queue(scenario, arguments.rate).ok();
        let response_ms = queue.as_ref().map(Mmc::response_ms);
        if scenario == Scenario::ALL[0] {
            baseline_ms = response_ms;
        }
        let saved_ms = baseline_ms
            .zip(response_ms)
            .map(|(base, response)| base - response);
        if arguments.json {
            let line = Line {
                scenario: scenario.name(),
                smt: scenario.smt,
                partitioned: scenario.partitioned,
                overloaded: queue.is_none(),
                capacity_per_s,
                figures: queue.as_ref().map(Figures::of),
                saved_ms,
            };
            write_json(out, &line)?;
            continue;
        }
        let figure =
            |of: &dyn Fn(&Mmc) -> f64| queue.as_ref().map_or("-".to_owned(), |queue| ms(of(queue)));
        table.row([
            scenario.name().to_owned(),
            idle.servers().to_string(),
            number(idle.service_per_s()),
            number(capacity_per_s),
            queue.as_ref().map_or("overloaded".to_owned(), |queue| {
                percent(queue.utilisation())
            }),
            figure(&Mmc::wait_ms),
            ms(idle.service_ms()),
            figure(&Mmc::response_ms),
            saved_ms.map_or("-".to_owned(), ms),
            figure(&|queue| queue.response_quantile_ms(0.5)),
            figure(&|queue| queue.response_quantile_ms(0.99)),
        ]);
    }
    if !arguments.json {
        table.write(out)?;
        writeln!(
            out,
            "\nassumed: {}; {}",
            mmc::ASSUMPTIONS,
            scenarios::ASSUMPTIONS
        )?;
    }
    Ok(())
}
