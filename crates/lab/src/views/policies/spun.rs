//! Ranges that spin, measured and simulated.
use super::super::jackknife::{self, Jackknifed, jackknife};
use super::cells::{cell_ms, headings};
use crate::policies::{Compared, SpinClock, SpunCell, SpunRound};
use crate::results::{Axis, Panel, Point, Series, Table};
use load::{Interval, Times};

/// Target for the error of the simulated 99th percentile, up to this load.
const ERROR_MAX: f64 = 0.1;
const LOAD_MAX: f64 = 0.6;

type Side = fn(&SpunRound) -> &Times;
const MEASURED: Side = |round| &round.measured;
const SIMULATED: Side = |round| &round.simulated;

fn merged(cell: &SpunCell, side: Side, without: Option<usize>) -> Times {
    jackknife::merged(cell.rounds.iter().map(side), without)
}

/// Returns the logarithm of the simulated over the measured percentile.
fn error(cell: &SpunCell, percentile: f64) -> Option<Jackknifed> {
    jackknife(cell.rounds.len(), |without| {
        let us = |side| merged(cell, side, without).percentile_us(percentile);
        Some((us(SIMULATED)? / us(MEASURED)?).ln())
    })
}

/// Shows the 99th percentile of the first and the last policy, measured and simulated.
pub(super) fn panel(found: &Compared) -> Panel {
    let mut series = Vec::new();
    let mut arms = vec![0, found.arms.len().saturating_sub(1)];
    arms.dedup();
    for arm in arms {
        let cells = found.spun.iter();
        let cells = cells.filter(|cell| cell.arm == arm && cell.clock == SpinClock::Wall);
        for (side, name) in [(MEASURED, "measured"), (SIMULATED, "simulated")] {
            let point = |cell: &SpunCell| {
                let us = merged(cell, side, None).percentile_us(99.0)?;
                Some(Point::at(cell.load, us / 1e3))
            };
            series.push(Series {
                name: format!("{} {name}", found.arms[arm].name),
                points: cells.clone().filter_map(point).collect(),
            });
        }
    }
    Panel {
        title: "Ranges that spin: p99 of the response time, measured and simulated".into(),
        x: Axis::linear("load, of the handlers"),
        y: Axis::log("ms"),
        series,
        is_published: false,
    }
}

/// Shows all runs beside their simulation.
pub(super) fn table(found: &Compared) -> Table {
    let row = |cell: &SpunCell| {
        let (measured, simulated) = (merged(cell, MEASURED, None), merged(cell, SIMULATED, None));
        let mut lag = Times::default();
        let mut degree = 0.0;
        for round in &cell.rounds {
            lag.merge(&round.lag);
            degree += round.degree / cell.rounds.len() as f64;
        }
        let whole = cell.rounds.iter().filter(|round| round.is_whole).count();
        let mut row = vec![
            found.arms[cell.arm].name.clone(),
            cell.clock.name().to_owned(),
            cell.load.to_string(),
            measured.count().to_string(),
        ];
        for percentile in [99.0, 99.9] {
            let shown = error(cell, percentile).map_or_else(|| "-".into(), |found| percent(&found));
            row.push(cell_ms(measured.percentile_us(percentile)));
            row.push(cell_ms(simulated.percentile_us(percentile)));
            row.push(shown);
        }
        row.push(format!("{degree:.2}"));
        row.push(cell_ms(lag.rank_us(99.0)));
        row.push(format!("{whole} of {}", cell.rounds.len()));
        row
    };
    Table {
        title: "Ranges that spin, from sending: measured, and simulated from the same instants and times".into(),
        headings: headings(&[
            "policy",
            "clock",
            "load",
            "queries",
            "p99",
            "simulated",
            "error (95 %)",
            "p99.9",
            "simulated",
            "error (95 %)",
            "handlers a query",
            "lag p99",
            "whole runs",
        ]),
        rows: found.spun.iter().map(row).collect(),
    }
}

fn percent(found: &Jackknifed) -> String {
    let share = |value: f64| 100.0 * value.exp_m1();
    match found.interval {
        Some(Interval { low, high }) => format!(
            "{:+.0} % ({:+.0} to {:+.0})",
            share(found.figure),
            share(low),
            share(high)
        ),
        None => format!("{:+.0} %", share(found.figure)),
    }
}

/// Returns a sentence: the number of simulated 99th percentiles near the measured ones, and the greatest errors beyond
/// that load.
pub(super) fn sentence(found: &Compared) -> String {
    let of = |is_low: bool| -> Vec<f64> {
        let cells = found.spun.iter();
        let wall = cells.filter(|cell| cell.clock == SpinClock::Wall);
        wall.filter(|cell| (cell.load <= LOAD_MAX) == is_low)
            .filter_map(|cell| Some(error(cell, 99.0)?.figure.exp_m1()))
            .collect()
    };
    let (low, high) = (of(true), of(false));
    if low.is_empty() && high.is_empty() {
        return String::new();
    }
    let near = low.iter().filter(|share| share.abs() <= ERROR_MAX).count();
    let greatest = high
        .iter()
        .copied()
        .max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let beyond = greatest.map_or_else(String::new, |share| {
        format!("; beyond, the greatest error is {:+.0} %", 100.0 * share)
    });
    format!(
        " Where ranges spin by the wall clock, {near} of {} simulated 99th percentiles up to a load of {LOAD_MAX} are \
         within 10 % of the measured ones{beyond}.",
        low.len()
    )
}
