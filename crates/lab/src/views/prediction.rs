//! Foreseen beside measured: the error of every percentile, whatever it is.
use super::{ms, warnings};
use crate::prediction::{Both, Foreseen};
use crate::results::{Axis, ExperimentResult, Panel, Point, Series, Table};
use load::{Interval, Summary, Times};

const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];
/// The error that is aimed at, where the busiest resource is at most so busy.
const ERROR_MAX: f64 = 0.1;
const LOAD_MAX: f64 = 0.8;

/// Which time of a query.
type Of = fn(&Both) -> &Times;
const RESPONSE: Of = |both| &both.response;
const IN_SERVERS: Of = |both| &both.in_servers;

/// One percentile that is known on both sides.
struct Error {
    name: String,
    load: f64,
    /// Predicted over measured, less 1.
    share: f64,
    /// Whether the prediction lies in the 95 % interval of the measured repetitions.
    within_noise: bool,
}

/// Fills a result.
pub(crate) fn show(
    result: &mut ExperimentResult,
    cells: &[Foreseen],
    summaries: &[Summary],
    cores_count: usize,
) {
    let mut served: Vec<&str> = cells.iter().map(|cell| cell.served).collect();
    served.dedup();
    for name in &served {
        let of_served: Vec<&Foreseen> = cells.iter().filter(|cell| cell.served == *name).collect();
        result.panels.push(panel(name, &of_served));
    }
    result.tables.push(table("Response time", cells, RESPONSE));
    let title = "In the index servers: queueing and search of the slowest partition";
    result.tables.push(table(title, cells, IN_SERVERS));
    result.runs_count = summaries.len();
    result.warnings.extend(warnings(summaries));
    result.reading = reading(cells, cores_count);
    if !result.warnings.is_empty() {
        let warnings = result.warnings.join(", ");
        result
            .reading
            .push_str(&format!(" Read with care: {warnings}."));
    }
}

fn panel(name: &str, cells: &[&Foreseen]) -> Panel {
    let mut series = Vec::new();
    for percentile in [50.0, 99.0] {
        let points = |of: &dyn Fn(&Foreseen) -> Option<Point>| -> Vec<Point> {
            cells.iter().filter_map(|cell| of(cell)).collect()
        };
        let predicted = |cell: &Foreseen| {
            let us = cell.predicted.response.percentile_us(percentile)?;
            Some(Point::at(cell.rate_qps, us / 1e3))
        };
        let measured = |cell: &Foreseen| {
            let us = cell.measured.response.percentile_us(percentile)?;
            let interval = interval(cell, RESPONSE, percentile);
            Some(Point {
                interval: interval.map(|(low, high)| (low / 1e3, high / 1e3)),
                ..Point::at(cell.rate_qps, us / 1e3)
            })
        };
        series.push(Series {
            name: format!("p{percentile} predicted"),
            points: points(&predicted),
        });
        series.push(Series {
            name: format!("p{percentile} measured"),
            points: points(&measured),
        });
    }
    Panel {
        title: format!("{name}: response time, predicted and measured"),
        x: Axis::linear("arrival rate in queries a second"),
        y: Axis::log("ms"),
        series,
        is_published: false,
    }
}

/// 95 % interval of a measured percentile, from the repetitions, in microseconds.
fn interval(cell: &Foreseen, of: Of, percentile: f64) -> Option<(f64, f64)> {
    let each: Option<Vec<f64>> = cell
        .repetitions
        .iter()
        .map(|both| of(both).percentile_us(percentile))
        .collect();
    let Interval { low, high } = Interval::of_mean(&each?)?;
    Some((low.max(0.0), high))
}

fn table(title: &str, cells: &[Foreseen], of: Of) -> Table {
    let mut headings: Vec<String> = ["server", "queries a second", "load", "queries"]
        .map(str::to_owned)
        .into();
    for percentile in PERCENTILES {
        headings.push(format!("p{percentile} predicted"));
        headings.push("measured (repetitions)".into());
        headings.push("error".into());
    }
    let row = |cell: &Foreseen| {
        let busiest = if cell.by_cores { "cores" } else { "handler" };
        let mut row = vec![
            cell.served.to_owned(),
            format!("{:.0}", cell.rate_qps),
            format!("{:.0} % of {busiest}", cell.load * 100.0),
            of(&cell.measured).count().to_string(),
        ];
        for percentile in PERCENTILES {
            let (predicted, measured) = percentiles(cell, of, percentile);
            let shown = |us: Option<f64>| us.map_or("-".to_owned(), ms);
            row.push(shown(predicted));
            row.push(shown(measured) + &range(cell, of, percentile));
            row.push(match predicted.zip(measured) {
                Some((predicted, measured)) => percent(predicted / measured - 1.0),
                None => "-".into(),
            });
        }
        row
    };
    Table {
        title: title.into(),
        headings,
        rows: cells.iter().map(row).collect(),
    }
}

/// The lowest and the highest of the repetitions: how much the machine's noise moves a percentile.
fn range(cell: &Foreseen, of: Of, percentile: f64) -> String {
    let each: Vec<f64> = cell
        .repetitions
        .iter()
        .filter_map(|both| of(both).percentile_us(percentile))
        .collect();
    let low_us = each.iter().copied().fold(f64::INFINITY, f64::min);
    let high_us = each.iter().copied().fold(0.0, f64::max);
    match each.len() {
        0 | 1 => String::new(),
        _ => format!(" ({:.2} to {:.2})", low_us / 1e3, high_us / 1e3),
    }
}

fn percentiles(cell: &Foreseen, of: Of, percentile: f64) -> (Option<f64>, Option<f64>) {
    let at = |both: &Both| of(both).percentile_us(percentile);
    (at(&cell.predicted), at(&cell.measured))
}

fn percent(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

fn errors(cells: &[Foreseen], of: Of) -> Vec<Error> {
    let mut errors = Vec::new();
    for cell in cells {
        for percentile in PERCENTILES {
            let (Some(predicted), Some(measured)) = percentiles(cell, of, percentile) else {
                continue;
            };
            let noise = interval(cell, of, percentile);
            errors.push(Error {
                name: format!(
                    "{} p{percentile} at {:.0} a second",
                    cell.served, cell.rate_qps
                ),
                load: cell.load,
                share: predicted / measured - 1.0,
                within_noise: noise.is_some_and(|(low, high)| (low..=high).contains(&predicted)),
            });
        }
    }
    errors
}

fn reading(cells: &[Foreseen], cores_count: usize) -> String {
    let said = |what: &str, of: Of| {
        let mut errors = errors(cells, of);
        errors.retain(|error| error.load <= LOAD_MAX + 1e-9);
        errors.sort_by(|a, b| a.share.abs().total_cmp(&b.share.abs()));
        let (Some(middle), Some(worst)) = (errors.get(errors.len() / 2), errors.last()) else {
            return format!("Too few answers for percentiles of {what}.");
        };
        let kept = errors.iter().filter(|error| error.share.abs() <= ERROR_MAX);
        let noise = errors.iter().filter(|error| error.within_noise);
        format!(
            "Of {} percentiles of {what}, {} are foreseen within {:.0} %, and {} lie in the interval of the \
             repetitions; the middle error is {:.1} %, the largest {} ({}).",
            errors.len(),
            kept.count(),
            ERROR_MAX * 100.0,
            noise.count(),
            middle.share.abs() * 100.0,
            percent(worst.share),
            worst.name,
        )
    };
    format!(
        "{} {} The model knows one query at a time, the schedule and that {cores_count} cores serve \
         handlers, front-end and client alike.",
        said("the response time", RESPONSE),
        said("the time in the index servers", IN_SERVERS),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::chosen;

    fn both(us: u64) -> Both {
        let times = Times::of_ns((1..=2000).map(|n| n * us));
        Both {
            response: times.clone(),
            in_servers: times,
        }
    }

    #[test]
    fn errors_are_printed_whatever_they_are() {
        let cell = |rate_qps: f64, predicted_us, measured_us: [u64; 3]| {
            let mut measured = Both::default();
            let repetitions: Vec<Both> = measured_us.into_iter().map(both).collect();
            for repetition in &repetitions {
                measured.response.merge(&repetition.response);
                measured.in_servers.merge(&repetition.in_servers);
            }
            Foreseen {
                served: "I1",
                rate_qps,
                load: rate_qps / 100.0,
                by_cores: false,
                predicted: both(predicted_us),
                measured,
                repetitions,
            }
        };
        let cells = [
            cell(20.0, 1000, [1000, 990, 1010]),
            cell(80.0, 1500, [1000, 990, 1010]),
            // Beyond the load that is judged.
            cell(90.0, 9000, [1000, 990, 1010]),
        ];
        let mut result = ExperimentResult::of(&chosen(&["prediction".into()]).unwrap()[0]);
        show(&mut result, &cells, &[], 2);
        let said = &result.reading;
        assert!(
            said.contains("Of 6 percentiles of the response time, 3 are foreseen"),
            "{said}"
        );
        assert!(said.contains("and 3 lie in the interval"), "{said}");
        assert!(said.contains("+50") || said.contains("+49"), "{said}");
        let rows = &result.tables[0].rows;
        assert_eq!(rows.len(), 3);
        assert!(
            rows[2][6].starts_with("+80") || rows[2][6].starts_with("+79"),
            "{rows:?}"
        );
        assert_eq!(rows[0][2], "20 % of handler");
        assert_eq!(rows[0][5], "1.00 ms (0.99 to 1.01)");
        assert_eq!(result.panels[0].series.len(), 4);
        // Nothing is made up where samples are too few.
        let mut few = cell(50.0, 1000, [1000, 1000, 1000]);
        few.measured = Both::default();
        show(&mut result, &[few], &[], 2);
        assert!(
            result.reading.contains("Too few answers"),
            "{}",
            result.reading
        );
    }
}
