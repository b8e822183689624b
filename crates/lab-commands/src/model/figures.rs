//! `shorttail model figures`: recalculation of published figures.

use super::table::{Table, number, write_json};
use crate::search_times::RunArguments;
use crate::time_files::read_search_times;
use clap::builder::RangedU64ValueParser;
use model::figures::{Series, partition_tails, slow_processors, thesis_scenarios, thesis_waits};
use std::io::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
EXAMPLES:
    shorttail model figures
        Published figures that are calculated: ours, and the published value where there is a number
    shorttail model figures times.csv --cores 8 --json
        The same from measured search times; one line of JSON for each curve, for plots";

/// Published figures, recalculated beside the published values
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct FiguresArguments {
    /// Measured search times of the simulated figure: a folder of a load run, or a file
    #[arg(value_name = "TIMES")]
    run: Option<PathBuf>,
    /// Cores of the simulated figure
    #[arg(long, value_name = "M", default_value = "8")]
    cores: usize,
    /// Queries of each simulated point
    #[arg(long, value_name = "N", default_value = "50000", value_parser = RangedU64ValueParser::<usize>::new().range(2000..=10_000_000))]
    queries: usize,
    /// Prices of the figure of costs [default: those of `shorttail model tco --print`]
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    #[command(flatten)]
    of_run: RunArguments,
    /// Print one line of JSON for each curve
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &FiguresArguments, out: &mut impl Write) -> anyhow::Result<()> {
    let searches = arguments
        .run
        .as_deref()
        .map(|run| read_search_times(run, &arguments.of_run))
        .transpose()?
        .map(|times| times.searches);
    let costs = super::tco::read_costs(arguments.costs.as_deref())?;
    let mut list = thesis_scenarios()?;
    list.extend(thesis_waits()?);
    list.extend(partition_tails(
        searches.as_ref(),
        arguments.cores,
        arguments.queries,
        4,
    )?);
    list.extend(slow_processors(&costs)?);
    if arguments.json {
        for series in &list {
            write_json(out, series)?;
        }
        return Ok(());
    }
    let mut rest = list.as_slice();
    while let Some(first) = rest.first() {
        // Curves over the same x share a table; bars have tables of their own.
        let same = |series: &&Series| {
            let xs = |series: &Series| {
                series
                    .points
                    .iter()
                    .map(|point| point.x)
                    .collect::<Vec<_>>()
            };
            series.figure == first.figure && series.x == first.x && xs(series) == xs(first)
        };
        let count = rest.iter().take_while(same).count();
        write_side_by_side(&rest[..count], out)?;
        rest = &rest[count..];
    }
    Ok(())
}

fn write_side_by_side(list: &[Series], out: &mut impl Write) -> anyhow::Result<()> {
    let first = &list[0];
    writeln!(
        out,
        "{}: {} ({})\n{}",
        first.figure, first.title, first.y, first.note
    )?;
    let mut headings = vec![first.x.to_owned()];
    let published = |series: &Series| series.points.iter().any(|point| point.published.is_some());
    for series in list {
        headings.push(series.name.clone());
        if published(series) {
            headings.push("published".to_owned());
        }
    }
    let mut table = Table::new(headings);
    for (idx, point) in first.points.iter().enumerate() {
        let mut cells = vec![point.label.clone().unwrap_or_else(|| number(point.x))];
        for series in list {
            let cell = |value: Option<f64>| value.map_or("-".to_owned(), number);
            cells.push(cell(series.points[idx].ours));
            if published(series) {
                cells.push(cell(series.points[idx].published));
            }
        }
        table.row(cells);
    }
    table.write(out)?;
    writeln!(out)?;
    Ok(())
}
