//! Chart of the timeline of one query.
//!
//! ```text
//! step                   began   took    0        200 µs     400 µs
//! search call  chunks 0-3    4    310    ████████████████████▌
//!   queueing   chunks 0-3   40     20     ▐█
//!   search     chunks 0-3   60    240      ████████████████
//!     handler 0 begins       60    240      ████████████████
//!     handler 1 helps       120    170          ████████████
//! merge                    315      2                        ▏
//! ```
//!
//! The chart is a table, so that screen readers can read it. Each row has one small drawing with its
//! bar, placed by percentages of the same width, so the bars align at any width.

use super::times::thousands;
use wire::SearchAnswer;
use wire::answer::Span;

/// Upper limit on the rows of the chart: the longest steps of a query to many servers.
const ROWS_MAX: usize = 150;
/// Upper limit on the lines of the scale, besides the one at 0.
const TICKS_MAX: u64 = 4;
/// Tolerance for the separate truncation of start and duration to microseconds.
const ROUNDING_US: u64 = 2;

/// Chart of one timeline.
pub(super) struct Gantt {
    pub(super) ticks: Vec<Tick>,
    pub(super) rows: Vec<Row>,
    pub(super) left_out: usize,
    /// Schedule of each search on its handlers, in a line.
    pub(super) schedules: Vec<Shared>,
}

/// Search of a part that handlers shared.
pub(super) struct Shared {
    pub(super) part: String,
    pub(super) summary: String,
}

/// Line of the scale.
pub(super) struct Tick {
    /// Position in percent of the width.
    pub(super) at: String,
    pub(super) label: String,
    /// Alignment of the label to its line: at the edges it must stay inside.
    pub(super) anchor: &'static str,
}

/// Row of one step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) part: String,
    /// Number of steps that contain this one.
    pub(super) depth: usize,
    pub(super) class: &'static str,
    /// Position in percent of the width.
    pub(super) at: String,
    pub(super) width: String,
    /// Start in microseconds.
    pub(super) began: String,
    pub(super) took: String,
}

/// Returns the chart of an answer with a timeline. The last step is rendering, which the timeline
/// cannot hold yet.
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
        filters: Vec::new(),
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
        schedules: (answer.schedule.iter())
            .map(|schedule| Shared {
                part: schedule.part.clone(),
                summary: schedule.summary(),
            })
            .collect(),
    })
}

fn end_us(span: &Span) -> u64 {
    span.start_us.saturating_add(span.duration_us)
}

/// Returns the longest steps in their order, and the number of steps left out.
fn longest(spans: &[Span]) -> (Vec<Span>, usize) {
    let mut places: Vec<usize> = (0..spans.len()).collect();
    places.sort_by_key(|&at| std::cmp::Reverse(spans[at].duration_us));
    places.truncate(ROWS_MAX);
    places.sort_unstable();
    let shown: Vec<Span> = places.iter().map(|&at| spans[at].clone()).collect();
    let left_out = spans.len() - shown.len();
    (shown, left_out)
}

/// Returns every step, by index and depth, after the step that contains it. The container is the
/// shortest step that encloses it and has the same part or none.
fn nested(spans: &[Span]) -> Vec<(usize, usize)> {
    let end = |at: usize| end_us(&spans[at]);
    let holds = |outer: usize, inner: usize| {
        let is_longer = (spans[outer].duration_us, inner) > (spans[inner].duration_us, outer);
        let (outer_span, inner_span) = (&spans[outer], &spans[inner]);
        outer != inner
            && is_longer
            && outer_span.name != inner_span.name
            && contains(&outer_span.name, &inner_span.name)
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

/// Returns whether steps of one name may contain those of another: calls contain the steps of servers, and a search the stays
/// of its handlers.
fn contains(outer: &str, inner: &str) -> bool {
    match (is_stay(outer), is_stay(inner)) {
        (true, _) => false,
        (false, true) => outer == "search" || outer.contains(' '),
        (false, false) => outer.contains(' '),
    }
}

/// Returns whether a step is the stay of a handler.
fn is_stay(name: &str) -> bool {
    name.starts_with("handler ")
}

/// Returns the style class of a step: the colour of its phase in the bar.
fn class(name: &str) -> &'static str {
    match name {
        name if is_stay(name) => "index_search",
        "parse" => "parse",
        "queueing" => "queueing",
        "search" => "index_search",
        "optimization search" => "optimization_searches",
        "merge" => "merge",
        "spelling" => "spelling",
        "details" | "counts" => "details",
        "summaries" => "summaries",
        "render" => "render",
        _ => "hand_overs",
    }
}

/// Returns the distance between two lines of the scale: 1, 2 or 5 times a power of ten.
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
