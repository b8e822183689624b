//! View of scheduling policies: percentiles by load, comparisons with sequential and the best static degree, targets, and
//! the error of the simulation.
use super::jackknife::{Jackknifed, jackknife};
use super::warnings;
use crate::policies::{Compared, Offered, ServedCell};
use crate::results::{Axis, ComparisonRow, ExperimentResult, Panel, Point, Series, Table};
use load::{Interval, Times};

mod cells;
mod compared;
mod spun;

use cells::{cell_ms, headings, merged};
use compared::{best_static, comparisons, ratio, sequential};

/// Percentiles of the tables.
const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];

/// Fills a result.
pub(crate) fn show(result: &mut ExperimentResult, found: &Compared) {
    for percentile in [99.0, 99.9, 50.0] {
        result.panels.push(by_load(found, percentile));
    }
    result.panels.push(degrees(found));
    result.panels.push(spun::panel(found));
    result.tables.push(served_table(found));
    result.tables.push(throughput_table(found));
    result.tables.push(targets_table(found));
    result.tables.push(spun::table(found));
    result.comparisons = comparisons(found);
    let served = found.served.iter().flat_map(|cell| &cell.rounds);
    result.warnings = warnings(served.clone().map(|round| &round.summary));
    let spun = found.spun.iter().map(|cell| cell.rounds.len());
    result.runs_count = served.count() + spun.sum::<usize>();
    result.reading = reading(found, &result.comparisons);
}

/// Returns the share of the x axis, where the cell is a point of it.
fn load_of(cell: &ServedCell) -> Option<f64> {
    match cell.offered {
        Offered::Load(share) => Some(share),
        Offered::Burst(_) | Offered::Saturation => None,
    }
}

fn by_load(found: &Compared, percentile: f64) -> Panel {
    let point = |cell: &ServedCell| {
        let figure = |without| Some(merged(cell, without).percentile_us(percentile)?.ln());
        let us = jackknife(cell.rounds.len(), figure)?;
        Some(Point {
            x: load_of(cell)?,
            y: us.figure.exp() / 1e3,
            interval: us
                .interval
                .map(|found| (found.low.exp() / 1e3, found.high.exp() / 1e3)),
        })
    };
    Panel {
        title: format!("Real queries: p{percentile} of the response time"),
        x: Axis::linear("load, of the sequential capacity"),
        y: Axis::log("ms"),
        series: series(found, point),
        is_published: false,
    }
}

fn degrees(found: &Compared) -> Panel {
    let point = |cell: &ServedCell| {
        let degree = mean(cell.rounds.iter().map(|round| round.degree))?;
        Some(Point::at(load_of(cell)?, degree))
    };
    Panel {
        title: "Real queries: handlers that took ranges of a query".into(),
        x: Axis::linear("load, of the sequential capacity"),
        y: Axis::linear("handlers"),
        series: series(found, point),
        is_published: false,
    }
}

/// Returns the mean of the known values.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

fn series(found: &Compared, point: impl Fn(&ServedCell) -> Option<Point>) -> Vec<Series> {
    let of_arm = |arm: usize| found.served.iter().filter(move |cell| cell.arm == arm);
    let arms = found.arms.iter().enumerate();
    arms.map(|(number, arm)| Series {
        name: arm.name.clone(),
        points: of_arm(number).filter_map(&point).collect(),
    })
    .collect()
}

fn served_table(found: &Compared) -> Table {
    let row = |cell: &ServedCell| {
        let times = merged(cell, None);
        let mut lag = Times::default();
        for round in &cell.rounds {
            lag.merge(&round.summary.lag);
        }
        let valid = |percentile: f64| {
            let rounds = cell.rounds.iter();
            rounds.filter(|round| round.is_valid_at(percentile)).count()
        };
        let mut row = vec![
            found.arms[cell.arm].name.clone(),
            cell.offered.name(),
            format!("{:.0}", cell.rate_qps),
            times.count().to_string(),
        ];
        row.extend(PERCENTILES.map(|percentile| cell_ms(times.percentile_us(percentile))));
        let shown =
            |value: Option<f64>| value.map_or_else(|| "-".into(), |one| format!("{one:.2}"));
        row.push(shown(mean(cell.rounds.iter().map(|round| round.degree))));
        row.push(shown(mean(
            cell.rounds.iter().map(|round| round.work_share),
        )));
        row.push(cell_ms(lag.rank_us(99.0)));
        row.push(format!("{} of {}", valid(99.0), cell.rounds.len()));
        row
    };
    let cells = found.served.iter();
    let open = cells.filter(|cell| cell.offered != Offered::Saturation);
    Table {
        title: "Real queries".into(),
        headings: headings(&[
            "policy",
            "offered",
            "queries a second",
            "queries",
            "p50",
            "p99",
            "p99.9",
            "handlers a query",
            "handler time / search time",
            "lag p99",
            "valid runs (p99)",
        ]),
        rows: open.map(row).collect(),
    }
}

fn percent(found: &Jackknifed) -> String {
    let share = |value: f64| value.exp();
    match found.interval {
        Some(Interval { low, high }) => format!(
            "{:.2} ({:.2} to {:.2})",
            share(found.figure),
            share(low),
            share(high)
        ),
        None => format!("{:.2}", share(found.figure)),
    }
}

fn throughput_table(found: &Compared) -> Table {
    let saturated = || found.served.iter();
    let saturated = || saturated().filter(|cell| cell.offered == Offered::Saturation);
    let row = |cell: &ServedCell| {
        let rates = cell.rounds.iter().map(|round| round.summary.achieved_qps);
        let mean_qps = rates.sum::<f64>() / cell.rounds.len().max(1) as f64;
        let ratio = saturated()
            .next()
            .and_then(|first| compared::throughput(first, cell));
        vec![
            found.arms[cell.arm].name.clone(),
            format!("{mean_qps:.0}"),
            ratio.map_or_else(|| "-".into(), |ratio| percent(&ratio)),
        ]
    };
    Table {
        title: "Throughput at saturation".into(),
        headings: headings(&["policy", "queries a second", "of sequential (95 %)"]),
        rows: saturated().map(row).collect(),
    }
}

/// Greatest ratio to sequential search that the last policy is to have, by handlers: at loads of 0.3 and less, and above.
fn wanted_of_sequential(handlers: usize) -> (f64, f64) {
    match handlers {
        ..=3 => (0.70, 0.65),
        4..=15 => (0.50, 0.65),
        _ => (0.30, 0.65),
    }
}

/// Targets of the default policy, the last arm.
fn targets_table(found: &Compared) -> Table {
    let mut rows = Vec::new();
    let last = found.arms.len().saturating_sub(1);
    let (low, high) = wanted_of_sequential(found.handlers);
    let cells = found.served.iter().filter(|cell| cell.arm == last);
    for cell in cells {
        let mut add = |what: String, limit: f64, ratio: Option<Jackknifed>, is_least: bool| {
            let (shown, verdict) = match ratio {
                Some(ratio) => (percent(&ratio), verdict(&ratio, limit, is_least)),
                None => ("-".into(), "too few valid samples".into()),
            };
            let sign = if is_least { "≥" } else { "≤" };
            rows.push(vec![
                what,
                cell.offered.name(),
                format!("{sign} {limit:.2}"),
                shown,
                verdict,
            ]);
        };
        let first = sequential(found, cell.offered);
        let of_sequential = |percentile| ratio(first?, cell, percentile);
        match cell.offered {
            Offered::Saturation => {
                let ratio = first.and_then(|first| compared::throughput(first, cell));
                add("throughput of sequential".into(), 0.97, ratio, true);
                continue;
            }
            Offered::Load(share) => {
                let limit = if share <= 0.3 { low } else { high };
                add(
                    "p99 of sequential".into(),
                    limit,
                    of_sequential(99.0),
                    false,
                );
            }
            Offered::Burst(_) => {}
        }
        let best = best_static(found, cell.offered, 99.0);
        let name = best.map_or("-", |best| &found.arms[best.arm].name);
        let ratio = best.and_then(|best| ratio(best, cell, 99.0));
        add(
            format!("p99 of the best static ({name})"),
            1.05,
            ratio,
            false,
        );
        let ratio = of_sequential(99.9);
        add("p99.9 of sequential".into(), 1.15, ratio, false);
    }
    Table {
        title: format!(
            "Targets of {} on {} handlers",
            found.arms.get(last).map_or("-", |arm| &arm.name),
            found.handlers
        ),
        headings: headings(&["ratio", "offered", "target", "found (95 %)", "verdict"]),
        rows,
    }
}

fn verdict(found: &Jackknifed, limit: f64, is_least: bool) -> String {
    let is_met = |value: f64| match is_least {
        true => value.exp() >= limit,
        false => value.exp() <= limit,
    };
    let by_chance = found
        .interval
        .is_none_or(|Interval { low, high }| is_met(low) != is_met(high));
    let verdict = if is_met(found.figure) {
        "met"
    } else {
        "missed"
    };
    match by_chance {
        true => format!("{verdict}, by chance perhaps"),
        false => verdict.into(),
    }
}

fn reading(found: &Compared, rows: &[ComparisonRow]) -> String {
    let decided = rows.iter().filter(|row| row.p_value.is_some());
    let (count, differing) = (decided.clone().count(), decided);
    let last = found.arms.last().map_or("", |arm| arm.name.as_str());
    let differing = ComparisonRow::clauses(differing.filter(|row| row.arm == last));
    let mut text = format!(
        "{} handlers; sequential search does {:.0} queries a second at saturation. Queries: {}. Ranges that spin: {}. ",
        found.handlers, found.capacity_qps, found.queries, found.spun_times
    );
    match (count, differing.is_empty()) {
        (0, _) => text.push_str("No comparison has enough valid runs for a verdict."),
        (_, true) => text.push_str(&format!(
            "Of {count} comparisons none shows a difference of {last} beyond chance (Holm)."
        )),
        (_, false) => text.push_str(&format!("{}.", differing.join("; "))),
    }
    text.push_str(&spun::sentence(found));
    text
}

#[cfg(test)]
mod tests;
