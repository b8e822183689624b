//! Timeline of one query, drawn as a chart.
//!
//! ```text
//! step                   began   took    0        200 µs     400 µs
//! search call  chunks 0-3    4    310    ████████████████████▌
//!   queueing   chunks 0-3   40     20     ▐█
//!   search     chunks 0-3   60    240      ████████████████
//! merge                    315      2                        ▏
//! ```
//!
//! A table, so that it can be read aloud; the bars are one small drawing in each row, placed by percentages
//! of the same width, so that they stand under each other at any width.

use super::times::thousands;
use wire::SearchAnswer;
use wire::answer::Span;

/// Rows of the chart: the longest steps of a query to many servers.
const ROWS_MAX: usize = 150;
/// Lines of the scale, besides the one at 0.
const TICKS_MAX: u64 = 4;
/// Begin and length of a step are cut to microseconds apart from each other.
const ROUNDING_US: u64 = 2;

/// The chart.
pub(super) struct Gantt {
    pub(super) ticks: Vec<Tick>,
    pub(super) rows: Vec<Row>,
    pub(super) left_out: usize,
}

/// A line of the scale.
pub(super) struct Tick {
    /// Percent of the width.
    pub(super) at: String,
    pub(super) label: String,
    /// Where the label is to the line: at the edges it must stay inside.
    pub(super) anchor: &'static str,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) part: String,
    /// Steps that it is a step of.
    pub(super) depth: usize,
    pub(super) class: &'static str,
    /// Percent of the width.
    pub(super) at: String,
    pub(super) width: String,
    /// Microseconds.
    pub(super) began: String,
    pub(super) took: String,
}

/// The chart of an answer that has a timeline. Rendering, which no timeline can hold yet, is the last step.
pub(super) fn gantt(answer: &SearchAnswer) -> Option<Gantt> {
    let spans = answer.trace.as_ref()?;
    let times = &answer.phases_us;
    let ends = spans.iter().map(end_us);
    let whole_us = ends.max().unwrap_or(0).max(times.total).max(1);
    let (mut shown, left_out) = longest(spans);
    shown.push(Span {
        name: "render".into(),
        part: String::new(),
        start_us: times.total.saturating_sub(times.render),
        duration_us: times.render,
    });
    let percent = |us: u64| format!("{:.3}%", us as f64 * 100.0 / whole_us as f64);
    let rows = nested(&shown)
        .into_iter()
        .map(|(at, depth)| {
            let span = &shown[at];
            Row {
                name: span.name.clone(),
                part: span.part.clone(),
                depth,
                class: class(&span.name),
                at: percent(span.start_us),
                width: percent(span.duration_us),
                began: thousands(span.start_us),
                took: thousands(span.duration_us),
            }
        })
        .collect();
    let step_us = tick_us(whole_us);
    let ticks = (0..=whole_us / step_us).map(|tick| {
        let us = tick * step_us;
        Tick {
            at: percent(us),
            label: label(us),
            anchor: match us * 100 / whole_us {
                0..4 => "start",
                93.. => "end",
                _ => "middle",
            },
        }
    });
    Some(Gantt {
        ticks: ticks.collect(),
        rows,
        left_out,
    })
}

fn end_us(span: &Span) -> u64 {
    span.start_us.saturating_add(span.duration_us)
}

/// The longest steps in their order, and how many are left out.
fn longest(spans: &[Span]) -> (Vec<Span>, usize) {
    let mut places: Vec<usize> = (0..spans.len()).collect();
    places.sort_by_key(|&at| std::cmp::Reverse(spans[at].duration_us));
    places.truncate(ROWS_MAX);
    places.sort_unstable();
    let shown: Vec<Span> = places.iter().map(|&at| spans[at].clone()).collect();
    let left_out = spans.len() - shown.len();
    (shown, left_out)
}

/// Every step after the one it is a step of: its place and how deep it is. The one it is of is the shortest
/// that it lies in and that is of the same part or of none.
fn nested(spans: &[Span]) -> Vec<(usize, usize)> {
    let end = |at: usize| end_us(&spans[at]);
    let holds = |outer: usize, inner: usize| {
        let is_longer = (spans[outer].duration_us, inner) > (spans[inner].duration_us, outer);
        let (outer_span, inner_span) = (&spans[outer], &spans[inner]);
        outer != inner
            && is_longer
            && outer_span.name != inner_span.name
            && outer_span.name.contains(' ')
            && (outer_span.part.is_empty() || outer_span.part == inner_span.part)
            && outer_span.start_us <= inner_span.start_us
            && end(inner) <= end(outer).saturating_add(ROUNDING_US)
    };
    let parents: Vec<Option<usize>> = (0..spans.len())
        .map(|inner| {
            let outer = (0..spans.len()).filter(|&outer| holds(outer, inner));
            outer.min_by_key(|&outer| spans[outer].duration_us)
        })
        .collect();
    let mut order = Vec::with_capacity(spans.len());
    let roots = (0..spans.len()).filter(|&at| parents[at].is_none());
    let mut open: Vec<(usize, usize)> = roots.rev().map(|at| (at, 0)).collect();
    while let Some((at, depth)) = open.pop() {
        order.push((at, depth));
        let children = (0..spans.len()).filter(|&child| parents[child] == Some(at));
        open.extend(children.rev().map(|child| (child, depth + 1)));
    }
    order
}

/// The colour of a step: that of its phase in the bar.
fn class(name: &str) -> &'static str {
    match name {
        "parse" => "parse",
        "queueing" => "queueing",
        "search" => "index_search",
        "optimization search" => "optimization_searches",
        "merge" => "merge",
        "details" | "counts" => "details",
        "summaries" => "summaries",
        "render" => "render",
        _ => "hand_overs",
    }
}

/// Between two lines of the scale: 1, 2 or 5 of a power of ten.
fn tick_us(whole_us: u64) -> u64 {
    let mut power = 1u64;
    loop {
        for step in [power, 2 * power, 5 * power] {
            if whole_us / step <= TICKS_MAX {
                return step;
            }
        }
        power *= 10;
    }
}

fn label(us: u64) -> String {
    match us {
        0 => "0".to_owned(),
        1..1_000 => format!("{us} µs"),
        _ if us.is_multiple_of(1_000_000) => format!("{} s", us / 1_000_000),
        _ if us.is_multiple_of(1_000) => format!("{} ms", us / 1_000),
        _ => format!("{} ms", us as f64 / 1_000.0),
    }
}

#[cfg(test)]
mod tests;
