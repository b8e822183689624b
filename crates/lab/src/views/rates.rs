//! View of arms over arrival rates: mean, tail, utilisation, refusals, and comparison of arms.
use super::{ms, warnings};
use crate::laboratory::Cell;
use crate::results::{Axis, ComparisonRow, ExperimentResult, Panel, Point, Series};
use load::{Figure, Interval, Outcome, Times, Verdict, compare};

const RATE: &str = "arrival rate in queries a second";

/// Fills a result. Cells of one rate are adjacent, the baseline's first.
pub(crate) fn show(result: &mut ExperimentResult, cells: &[Cell], cores_count: usize) {
    result.runs_count = cells.iter().map(|cell| cell.runs.len()).sum();
    let by_rate = |title: &str, y: Axis, series: Vec<Series>| Panel {
        title: title.into(),
        x: Axis::linear(RATE),
        y,
        series,
        is_published: false,
    };
    let response = |figure: Figure| lines(cells, |cell| response_ms(cell, figure));
    result.panels.push(by_rate(
        "Mean response time",
        Axis::log("ms"),
        response(Figure::Mean),
    ));
    let p99 = response(Figure::Percentile(99.0));
    result.panels.push(by_rate(
        "99th percentile of the response time",
        Axis::log("ms"),
        p99,
    ));
    let used = lines(cells, |cell| {
        let values: Option<Vec<f64>> = cell
            .runs
            .iter()
            .map(|run| Some(run.utilisation? * 100.0))
            .collect();
        of_repetitions(&values?)
    });
    let title = format!("Time of the {cores_count} cores that the server uses");
    result.panels.push(by_rate(&title, Axis::linear("%"), used));
    let unanswered = lines(cells, |cell| {
        let shares = cell.runs.iter().map(|run| {
            let all = run.summary.response_of_all.count().max(1) as f64;
            (all - run.summary.response.count() as f64) / all * 100.0
        });
        of_repetitions(&shares.collect::<Vec<_>>())
    });
    if unanswered
        .iter()
        .flat_map(|series| &series.points)
        .any(|point| point.y > 0.0)
    {
        let title = "Queries without an answer (refused, timed out)";
        result
            .panels
            .push(by_rate(title, Axis::linear("%"), unanswered));
    }
    result.comparisons = comparisons(cells);
    let runs = cells.iter().flat_map(|cell| &cell.runs);
    result.warnings = warnings(runs.map(|run| &run.summary));
    result.reading = reading(cells, &result.comparisons);
    if !result.warnings.is_empty() {
        let warnings = result.warnings.join(", ");
        result
            .reading
            .push_str(&format!(" Read with care: {warnings}."));
    }
}

/// Returns the figure of all samples together, with its interval from the spread over repetitions.
pub(super) fn response_ms(cell: &Cell, figure: Figure) -> Option<Point> {
    let mut merged = Times::default();
    cell.runs
        .iter()
        .for_each(|run| merged.merge(&run.summary.response_of_all));
    let each: Option<Vec<f64>> = cell
        .runs
        .iter()
        .map(|run| figure.of(&run.summary.response_of_all))
        .collect();
    let interval = each.and_then(|each| Interval::of_mean(&each));
    Some(Point {
        x: cell.rate_qps,
        y: figure.of(&merged)? / 1e3,
        // Student's interval may extend below 0 for very different repetitions, which no time does.
        interval: interval.map(|Interval { low, high }| (low.max(0.0) / 1e3, high / 1e3)),
    })
}

pub(super) fn of_repetitions(values: &[f64]) -> Option<Point> {
    let interval = Interval::of_mean(values);
    Some(Point {
        x: 0.0,
        y: values.iter().sum::<f64>() / values.len().max(1) as f64,
        interval: interval.map(|Interval { low, high }| (low.max(0.0), high)),
    })
}

/// Returns one line per arm, in the order of the cells.
pub(super) fn lines(cells: &[Cell], of: impl Fn(&Cell) -> Option<Point>) -> Vec<Series> {
    let mut lines: Vec<Series> = Vec::new();
    for cell in cells {
        let Some(point) = of(cell) else { continue };
        let point = Point {
            x: cell.rate_qps,
            ..point
        };
        match lines.iter_mut().find(|line| line.name == cell.arm) {
            Some(line) => line.points.push(point),
            None => lines.push(Series {
                name: cell.arm.clone(),
                points: vec![point],
            }),
        }
    }
    lines
}

fn comparisons(cells: &[Cell]) -> Vec<ComparisonRow> {
    let Some(baseline) = cells.first().map(|cell| &cell.arm) else {
        return Vec::new();
    };
    let outcomes =
        |cell: &Cell| -> Vec<Outcome> { cell.runs.iter().map(|run| run.outcome.clone()).collect() };
    let mut rows = Vec::new();
    for first in cells.iter().filter(|cell| cell.arm == *baseline) {
        let others = cells
            .iter()
            .filter(|cell| cell.arm != *baseline && cell.rate_qps == first.rate_qps);
        for other in others {
            for figure in [Figure::Mean, Figure::Percentile(99.0)] {
                let (first_runs, other_runs) = (outcomes(first), outcomes(other));
                let Some(found) = compare(&first_runs, &other_runs, figure) else {
                    continue;
                };
                let verdict = match found.verdict {
                    Verdict::Slower => "slower",
                    Verdict::Faster => "faster",
                    Verdict::NoDifference => ComparisonRow::NO_DIFFERENCE,
                    Verdict::Invalid => ComparisonRow::INVALID,
                };
                rows.push(ComparisonRow {
                    arm: other.arm.clone(),
                    baseline: baseline.clone(),
                    rate_qps: first.rate_qps,
                    figure: figure.name(),
                    ratio: Some(found.ratio),
                    interval: found.interval.map(|interval| (interval.low, interval.high)),
                    p_value: found.p_value,
                    verdict: verdict.into(),
                });
            }
        }
    }
    ComparisonRow::correct(&mut rows);
    rows
}

fn reading(cells: &[Cell], comparisons: &[ComparisonRow]) -> String {
    let Some(first) = cells.first() else {
        return String::new();
    };
    let of_arm: Vec<&Cell> = cells.iter().filter(|cell| cell.arm == first.arm).collect();
    let at = |cell: &Cell, figure| {
        // The percentile lies among unanswered queries, or the samples are too few.
        let none = || "beyond what was answered".to_owned();
        response_ms(cell, figure).map_or_else(none, |point| ms(point.y * 1e3))
    };
    let p99 = Figure::Percentile(99.0);
    let mut reading = match (of_arm.first(), of_arm.last()) {
        (Some(low), Some(high)) if of_arm.len() > 1 => format!(
            "With {} the mean goes from {} to {} and p99 from {} to {} between {:.0} and {:.0} \
             queries a second.",
            first.arm,
            at(low, Figure::Mean),
            at(high, Figure::Mean),
            at(low, p99),
            at(high, p99),
            low.rate_qps,
            high.rate_qps,
        ),
        _ => format!(
            "With {} the mean is {} and p99 {} at {:.0} queries a second.",
            first.arm,
            at(first, Figure::Mean),
            at(first, p99),
            first.rate_qps,
        ),
    };
    let decided = ComparisonRow::clauses(comparisons);
    if !decided.is_empty() {
        reading.push_str(&format!(" {}.", decided.join("; ")));
    } else if !comparisons.is_empty() {
        reading.push_str(" No arm differs from the first beyond chance.");
    }
    reading
}
