//! View of predicted and measured times, with the error of every percentile.
use crate::prediction::{Both, Foreseen, Made, Round, Steadiness};
use crate::results::{Axis, ExperimentResult, Panel, Point, Series, Table};
use crate::views::jackknife::{jackknife, merged};
use crate::views::{ms, warnings};
use load::{Interval, Summary, Times};

const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];
/// Target for the error, up to this load of the busiest resource.
const ERROR_MAX: f64 = 0.1;
const LOAD_MAX: f64 = 0.8;

/// Selectors of a time of queries and of a side of a round.
type Of = fn(&Both) -> &Times;
type Side = fn(&Round) -> &Both;
const RESPONSE: Of = |both| &both.response;
const IN_SERVERS: Of = |both| &both.in_servers;
const MEASURED: Side = |round| &round.measured;
const PREDICTED: Side = |round| &round.predicted;
const REPLAYED: Side = |round| &round.replayed;

/// Error of a percentile known on both sides.
struct Error {
    name: String,
    load: f64,
    /// Relative error: predicted over measured, minus 1.
    share: f64,
    /// 95 % interval of the error, from the rounds.
    interval: Option<Interval>,
    /// Error with the measured search times.
    replayed: Option<f64>,
}

/// Fills a result.
pub(crate) fn show(
    result: &mut ExperimentResult,
    cells: &[Foreseen],
    summaries: &[Summary],
    made: &Made,
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
    result.tables.push(causes(cells));
    result.runs_count = summaries.len();
    result.warnings.extend(warnings(summaries));
    result.reading = reading(cells, made);
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
        for (side, side_name) in [(PREDICTED, "predicted"), (MEASURED, "measured")] {
            let point = |cell: &&Foreseen| {
                let us = all(cell, side, RESPONSE, None).percentile_us(percentile)?;
                Some(Point::at(cell.rate_qps, us / 1e3))
            };
            series.push(Series {
                name: format!("p{percentile} {side_name}"),
                points: cells.iter().filter_map(point).collect(),
            });
        }
    }
    Panel {
        title: format!("{name}: response time, predicted and measured"),
        x: Axis::linear("arrival rate in queries a second"),
        y: Axis::log("ms"),
        series,
        is_published: false,
    }
}

/// Merges the times of all rounds, or of all but one.
fn all(cell: &Foreseen, side: Side, of: Of, without: Option<usize>) -> Times {
    let rounds = cell.rounds.iter();
    merged(rounds.map(|round| of(side(round))), without)
}

/// Returns the logarithm of predicted over measured, for all rounds or all but one.
fn log_ratio(
    cell: &Foreseen,
    side: Side,
    of: Of,
    percentile: f64,
    without: Option<usize>,
) -> Option<f64> {
    let predicted = all(cell, side, of, without).percentile_us(percentile)?;
    let measured = all(cell, MEASURED, of, without).percentile_us(percentile)?;
    let ratio = predicted / measured;
    (ratio.is_finite() && ratio > 0.0).then(|| ratio.ln())
}

/// Returns the error of a percentile with its 95 % interval. Rounds are independent but too short for a
/// 99th percentile each, so each is left out in turn.
fn error(cell: &Foreseen, side: Side, of: Of, percentile: f64) -> Option<(f64, Option<Interval>)> {
    let figure = |without| log_ratio(cell, side, of, percentile, without);
    let found = jackknife(cell.rounds.len(), figure)?;
    let interval = found.interval.map(|interval| Interval {
        low: interval.low.exp_m1(),
        high: interval.high.exp_m1(),
    });
    Some((found.figure.exp_m1(), interval))
}

fn table(title: &str, cells: &[Foreseen], of: Of) -> Table {
    let mut headings: Vec<String> = ["server", "queries a second", "load", "queries"]
        .map(str::to_owned)
        .into();
    for percentile in PERCENTILES {
        headings.push(format!("p{percentile} predicted"));
        headings.push("measured".into());
        headings.push("error (95 % interval)".into());
    }
    let row = |cell: &Foreseen| {
        let mut row = named(cell);
        row.push(all(cell, MEASURED, of, None).count().to_string());
        for percentile in PERCENTILES {
            let shown = |side: Side| {
                let us = all(cell, side, of, None).percentile_us(percentile);
                us.map_or("-".to_owned(), ms)
            };
            row.push(shown(PREDICTED));
            row.push(shown(MEASURED));
            row.push(match error(cell, PREDICTED, of, percentile) {
                Some((share, interval)) => percent(share) + &in_brackets(interval),
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

/// Returns the cells for server, rate and load.
fn named(cell: &Foreseen) -> Vec<String> {
    let busiest = if cell.by_cores { "cores" } else { "handler" };
    vec![
        cell.served.to_owned(),
        format!("{:.0}", cell.rate_qps),
        format!("{:.0} % of {busiest}", cell.load * 100.0),
    ]
}

/// Returns a table that separates errors of search times from those of the model.
fn causes(cells: &[Foreseen]) -> Table {
    let headings = [
        "server",
        "queries a second",
        "load",
        "searches alone",
        "foreseen",
        "measured",
    ];
    let mut headings: Vec<String> = headings.map(str::to_owned).into();
    headings.extend(PERCENTILES.map(|percentile| format!("p{percentile} replayed")));
    let row = |cell: &Foreseen| {
        let mut row = named(cell);
        let sum = |of: fn(&Round) -> f64| cell.rounds.iter().map(of).sum::<f64>();
        let answers = all(cell, MEASURED, IN_SERVERS, None).count() as f64;
        let drawn = all(cell, PREDICTED, IN_SERVERS, None).count() as f64;
        row.push(mean(sum(|round| round.alone_ms), answers));
        row.push(mean(sum(|round| round.predicted.searching_ms), drawn));
        row.push(mean(sum(|round| round.measured.searching_ms), answers));
        row.extend(PERCENTILES.map(|percentile| {
            let error = error(cell, REPLAYED, RESPONSE, percentile);
            error.map_or("-".into(), |(share, interval)| {
                percent(share) + &in_brackets(interval)
            })
        }));
        row
    };
    Table {
        title: "Where errors come from: the searches of a query, and the errors of the response time that are \
                left where each takes what it took in the run"
            .into(),
        headings,
        rows: cells.iter().map(row).collect(),
    }
}

fn mean(sum_ms: f64, count: f64) -> String {
    match count {
        0.0 => "-".into(),
        _ => ms(sum_ms / count * 1e3),
    }
}

fn percent(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

fn in_brackets(interval: Option<Interval>) -> String {
    match interval {
        Some(Interval { low, high }) => format!(" ({:+.0} to {:+.0})", low * 100.0, high * 100.0),
        None => String::new(),
    }
}

fn errors(cells: &[Foreseen], of: Of) -> Vec<Error> {
    let mut errors = Vec::new();
    for cell in cells {
        for percentile in PERCENTILES {
            let Some((share, interval)) = error(cell, PREDICTED, of, percentile) else {
                continue;
            };
            errors.push(Error {
                name: format!(
                    "{} p{percentile} at {:.0} a second",
                    cell.served, cell.rate_qps
                ),
                load: cell.load,
                share,
                interval,
                replayed: error(cell, REPLAYED, of, percentile).map(|(share, _)| share),
            });
        }
    }
    errors
}

fn reading(cells: &[Foreseen], made: &Made) -> String {
    let said = |what: &str, of: Of| {
        let mut errors = errors(cells, of);
        errors.retain(|error| error.load <= LOAD_MAX + 1e-9);
        errors.sort_by(|a, b| a.share.abs().total_cmp(&b.share.abs()));
        let (Some(middle), Some(worst)) = (errors.get(errors.len() / 2), errors.last()) else {
            return format!("Too few answers for percentiles of {what}.");
        };
        let is_kept = |share: f64| share.abs() <= ERROR_MAX;
        let kept = errors.iter().filter(|error| is_kept(error.share)).count();
        // An interval entirely outside the target is certain to exceed it.
        let is_certain =
            |interval: &Interval| interval.low > ERROR_MAX || interval.high < -ERROR_MAX;
        let beyond = errors.iter().filter_map(|error| error.interval.as_ref());
        let beyond = beyond.filter(|interval| is_certain(interval)).count();
        let replayed = errors.iter().filter_map(|error| error.replayed);
        format!(
            "Of {count} percentiles of {what}, {kept} are foreseen within {aim:.0} %; the middle error is {:.1} %, \
             the largest {} ({}{}); {beyond} are beyond the aim for certain. With searches as \
             long as they were in the runs, {} would be within.",
            middle.share.abs() * 100.0,
            percent(worst.share),
            worst.name,
            worst.interval.map_or(String::new(), |interval| {
                format!(", 95 % interval{}", in_brackets(Some(interval)))
            }),
            replayed.filter(|share| is_kept(*share)).count(),
            count = errors.len(),
            aim = ERROR_MAX * 100.0,
        )
    };
    format!(
        "{} {} {} {} The model knows one query at a time, the schedule and that {} cores serve handlers, \
         front-end and client alike.",
        asked(made),
        said("the response time", RESPONSE),
        said("the time in the index servers", IN_SERVERS),
        steadiness(made),
        made.cores_count,
    )
}

/// Describes the queries and the reason for their choice.
fn asked(made: &Made) -> String {
    let (count, search_ms) = (made.queries.texts.len(), made.queries.search_ms);
    match made.queries.joined {
        joined if joined > 1.0 => format!(
            "A search takes {search_ms:.1} ms: on this index one is too short to be the most of an answer, so \
             each of {count} queries asks for the words of {joined:.0} given ones, on average."
        ),
        _ => format!("A search of the {count} queries takes {search_ms:.1} ms."),
    }
}

/// Describes the stability of the machine.
fn steadiness(made: &Made) -> String {
    let one = |server: &Steadiness| {
        format!(
            "{:+.0} to {:+.0} % of {}",
            (server.quickest - 1.0) * 100.0,
            (server.slowest - 1.0) * 100.0,
            server.name
        )
    };
    let paces: Vec<String> = made.steadiness.iter().map(one).collect();
    let cold = made.steadiness.iter();
    let cold = cold.map(|server| format!("{:.0} %", server.cold_share * 100.0));
    let cold: Vec<String> = cold.collect();
    format!(
        "The same searches of one client were off their mean by {} from one short run to another, and took up to \
         {} longer where handlers had slept.",
        paces.join(" and "),
        cold.join(" and "),
    )
}

#[cfg(test)]
mod tests;
