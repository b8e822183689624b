//! View of the handlers' counted events per query, and of the machine's energy.
use super::rates::{lines, of_repetitions};
use crate::counting::{EventCount, ThreadsCount};
use crate::energy::Energy;
use crate::laboratory::{Cell, CellRun};
use crate::results::{Axis, ExperimentResult, Panel, Series};
use std::collections::BTreeMap;

/// Name of the threads that search.
const HANDLERS: &str = "handler";

/// Figure of a run; `None` if it was not counted.
type OfRun = fn(&CellRun) -> Option<f64>;

/// Diagrams drawn if every run was counted: title, axis, figure.
const FIGURES: [(&str, &str, OfRun); 6] = [
    ("Time of handlers on a core for a query", "ms", core_ms),
    (
        "Context switches of handlers for a query",
        "switches",
        |run| Some(event(run, "context-switches")? / answered(run)?),
    ),
    (
        "Instructions of handlers in a cycle",
        "instructions",
        |run| ratio(event(run, "instructions"), event(run, "cycles")),
    ),
    (
        "Cache misses of handlers for 1,000 instructions",
        "misses",
        |run| Some(ratio(event(run, "cache-misses"), event(run, "instructions"))? * 1e3),
    ),
    ("Cycles of handlers that the front end stalls", "%", |run| {
        Some(ratio(event(run, "stalled-cycles-frontend"), event(run, "cycles"))? * 100.0)
    }),
    ("Energy of the machine for a query", "J", |run| {
        Some(run.energy.joules()? / answered(run)?)
    }),
];

/// Adds diagrams to the result of an experiment over rates.
pub(crate) fn show(result: &mut ExperimentResult, cells: &[Cell]) {
    for (title, label, of_run) in FIGURES {
        let series: Vec<Series> = lines(cells, |cell| {
            let values: Option<Vec<f64>> = cell.runs.iter().map(of_run).collect();
            of_repetitions(&values?)
        });
        if !series.is_empty() {
            result.panels.push(Panel {
                title: title.into(),
                x: Axis::linear("arrival rate in queries a second"),
                y: Axis::linear(label),
                series,
                is_published: false,
            });
        }
    }
    result.missing.extend(missing(cells));
}

/// Returns the core time of handlers per query, in ms, without any waits.
pub(super) fn core_ms(run: &CellRun) -> Option<f64> {
    Some(handlers(run)?.cpu_us? / 1e3 / answered(run)?)
}

fn handlers(run: &CellRun) -> Option<&ThreadsCount> {
    run.threads.iter().find(|group| group.threads == HANDLERS)
}

fn event(run: &CellRun, name: &str) -> Option<f64> {
    handlers(run)?.events.get(name)?.count()
}

/// Returns the number of answered queries including the warm-up, since threads worked for both.
fn answered(run: &CellRun) -> Option<f64> {
    let answered = run.outcome.samples.iter();
    let count = answered.filter(|sample| sample.ending.is_answer()).count();
    (count > 0).then_some(count as f64)
}

fn ratio(of: Option<f64>, to: Option<f64>) -> Option<f64> {
    Some(of? / to?).filter(|ratio| ratio.is_finite())
}

/// Returns one line per reason, with all figures that it affects.
fn missing(cells: &[Cell]) -> Vec<String> {
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut add = |reason: String, what: &'static str| {
        let known = reasons.entry(reason).or_default();
        if !known.contains(&what) {
            known.push(what);
        }
    };
    for run in cells.iter().flat_map(|cell| &cell.runs) {
        if let Energy::Missing(missing) = &run.energy {
            add(
                format!("{}, {}", missing.state.name(), missing.reason),
                "energy",
            );
        }
        for (name, count) in handlers(run).into_iter().flat_map(|group| &group.events) {
            if let EventCount::Missing { state, reason } = count {
                add(format!("{}, {reason}", state.name()), name);
            }
        }
    }
    let line = |(reason, what): (String, Vec<&str>)| format!("{} ({reason})", what.join(", "));
    reasons.into_iter().map(line).collect()
}
