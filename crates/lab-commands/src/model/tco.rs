//! `shorttail model tco`: total cost of ownership of kinds of servers.

use super::table::{Table, number, percent, write_json};
use anyhow::Context;
use console::figures::count;
use model::costs::{ASSUMPTIONS, Costs, YearlyCost};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
COSTS is a TOML file; --print shows one with every default and its meaning. A value that a file
leaves out has its default.

EXAMPLES:
    shorttail model tco --print > costs.toml
        Write the defaults to a file, to be changed
    shorttail model tco costs.toml
        The cost of each kind of server in it, for the same queries";

/// Yearly costs of kinds of servers that answer the same queries, relative to a baseline
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TcoArguments {
    /// File of costs [default: the values that --print shows]
    #[arg(value_name = "COSTS")]
    costs: Option<PathBuf>,
    /// Print a file with all defaults
    #[arg(long, conflicts_with_all = ["costs", "json"])]
    print: bool,
    /// Print one line of JSON for each kind of server
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    server: &'a str,
    servers: f64,
    currency: &'a str,
    #[serde(flatten)]
    yearly: YearlyCost,
    total: f64,
    /// Total cost divided by that of the baseline.
    relative: f64,
    mean_watts: f64,
    /// Price of one processor at which this kind costs as much as the baseline.
    break_even_processor_price: Option<f64>,
    /// Price of a whole server at which this kind costs as much as the baseline.
    break_even_server_price: Option<f64>,
    assumptions: &'static str,
}

/// Reads a file of costs; without a path, returns the defaults.
pub(crate) fn read_costs(path: Option<&Path>) -> anyhow::Result<Costs> {
    let Some(path) = path else {
        return Ok(Costs::parse("")?);
    };
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{}: cannot read", path.display()))?;
    Costs::parse(&text).with_context(|| path.display().to_string())
}

/// Runs the subcommand.
pub(super) fn run(arguments: &TcoArguments, out: &mut impl Write) -> anyhow::Result<()> {
    if arguments.print {
        write!(out, "{}", model::costs::DEFAULTS)?;
        return Ok(());
    }
    let costs = read_costs(arguments.costs.as_deref())?;
    let total_of = |server: &model::costs::Server| {
        costs
            .yearly(server, costs.servers_needed(server), server.utilisation)
            .total()
    };
    let baseline = total_of(&costs.servers[&costs.baseline]);
    let mut table = Table::new([
        "a year",
        "servers",
        "infrastructure",
        "purchase",
        "network",
        "power",
        "maintenance",
        "total",
        "relative",
        "a server",
        "pays up to",
    ]);
    for (name, server) in &costs.servers {
        let servers = costs.servers_needed(server);
        let yearly = costs.yearly(server, servers, server.utilisation);
        let total = yearly.total();
        let break_even = costs.break_even_price(server);
        if arguments.json {
            let line = Line {
                server: name,
                servers,
                currency: &costs.currency,
                yearly,
                total,
                relative: total / baseline,
                mean_watts: servers * server.watts(server.utilisation),
                break_even_processor_price: costs.break_even_processor_price(server),
                break_even_server_price: break_even,
                assumptions: ASSUMPTIONS,
            };
            write_json(out, &line)?;
            continue;
        }
        let money = |amount: f64| count(amount.round() as u64);
        table.row([
            console::terminal::printable(name),
            number(servers),
            money(yearly.infrastructure),
            money(yearly.servers),
            money(yearly.network),
            money(yearly.power),
            money(yearly.maintenance),
            money(total),
            percent(total / baseline),
            money(server.price()),
            break_even.map_or("-".to_owned(), money),
        ]);
    }
    if !arguments.json {
        table.write(out)?;
        writeln!(
            out,
            "\nin {} a year, for {} queries/s; relative to {}; \"pays up to\" is the price of a whole server, \
             its processors included, at which it costs the same\nassumed: {ASSUMPTIONS}, and every figure of the file (`--print`)",
            console::terminal::printable(&costs.currency),
            number(costs.rate_per_s),
            console::terminal::printable(&costs.baseline),
        )?;
    }
    Ok(())
}
