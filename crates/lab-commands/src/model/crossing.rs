//! `shorttail model crossing`: rates at which partitions or SMT begin or cease to pay.

use super::rates::parse_positive;
use super::scenarios::MachineArguments;
use super::table::{Table, number, write_json};
use model::formulas::{Crossing, Machine, Mmc, Scenario, crossing, mmc, scenarios};
use serde::Serialize;
use std::io::Write;

const EXAMPLES: &str = "\
EXAMPLES:
    shorttail model crossing --cores 8 --service 20 --partitions 2 --speed-up 1.8
        Two parts that make a query 1.8 times as fast
    shorttail model crossing --cores 8 --service 20 --partitions 2 --speed-up 1.8 --quantile 0.99
        By the 99th percentile rather than the mean";

/// The rates at which SMT or partitions begin or cease to pay
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CrossingArguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// Quantile of response times to compare in place of the mean, between 0 and 1: 0.99
    #[arg(long, alias = "share", value_name = "SHARE", value_parser = parse_positive)]
    quantile: Option<f64>,
    /// Print one line of JSON for each comparison
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    first: &'a str,
    second: &'a str,
    /// Rate at which the better of the two changes; null if one is better at all rates.
    crossing_per_s: Option<f64>,
    better_below: &'a str,
    better_above: &'a str,
}

const PAIRS: [(usize, usize); 6] = [(0, 2), (0, 1), (1, 3), (2, 3), (1, 2), (0, 3)];

/// Runs the subcommand.
pub(super) fn run(arguments: &CrossingArguments, out: &mut impl Write) -> anyhow::Result<()> {
    let machine = arguments.machine.machine();
    if let Some(share) = arguments.quantile {
        anyhow::ensure!(
            share < 1.0,
            "--quantile is {share}; it must be between 0 and 1, such as 0.99"
        );
    }
    let mut table = Table::new(["", "better below", "crossing", "better above"]);
    for (first, second) in PAIRS.map(|(a, b)| (Scenario::ALL[a], Scenario::ALL[b])) {
        let found = compare(&machine, arguments.quantile, first, second)?;
        let (below, rate, above) = match found {
            Crossing::FirstBelow(rate) => (first, Some(rate), second),
            Crossing::SecondBelow(rate) => (second, Some(rate), first),
            Crossing::FirstAlways => (first, None, first),
            Crossing::SecondAlways => (second, None, second),
        };
        if arguments.json {
            let line = Line {
                first: first.name(),
                second: second.name(),
                crossing_per_s: rate,
                better_below: below.name(),
                better_above: above.name(),
            };
            write_json(out, &line)?;
            continue;
        }
        table.row([
            format!("{} or {}", first.name(), second.name()),
            below.name().to_owned(),
            rate.map_or("never".to_owned(), |rate| format!("{}/s", number(rate))),
            above.name().to_owned(),
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

fn compare(
    machine: &Machine,
    share: Option<f64>,
    first: Scenario,
    second: Scenario,
) -> anyhow::Result<Crossing> {
    let figure = |queue: &Mmc| match share {
        Some(share) => queue.response_quantile_ms(share),
        None => queue.response_ms(),
    };
    Ok(crossing(
        figure,
        |rate| machine.queue(first, rate),
        |rate| machine.queue(second, rate),
    )?)
}
