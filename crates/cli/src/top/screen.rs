//! Formatting of a view: a screen for a terminal, or one line.

use super::view::{AtMost, CrawlView, IndexView, PartitionView, PhaseView, View};
use console::figures;
use console::terminal::{Style, printable};

/// Indexes of the table.
const INDEXES_SHOWN_MAX: usize = 12;

const UNKNOWN: &str = "–";

/// Returns the lines of a whole view.
pub(crate) fn screen(view: &View, style: Style) -> Vec<String> {
    let mut lines = vec![heading(view, style), String::new()];
    lines.extend(rates(view));
    lines.extend(view.crawl.iter().flat_map(crawl));
    if !view.indexes.is_empty() {
        lines.push(String::new());
        lines.extend(indexes(&view.indexes, style));
    }
    if !view.partitions.is_empty() {
        lines.push(String::new());
        lines.extend(partitions(&view.partitions, style));
    }
    lines.push(String::new());
    lines.extend(phases(&view.phases, style));
    lines.extend(remarks(view));
    lines
}

/// Returns the most important fields in one line, always in the same order.
pub(crate) fn line(view: &View) -> String {
    let sum = |of: fn(&PartitionView) -> Option<f64>| {
        let values: Option<Vec<f64>> = view.partitions.iter().map(of).collect();
        values
            .filter(|values| !values.is_empty())
            .map(|values| values.iter().sum())
    };
    let total = view.phases.iter().find(|phase| phase.phase == "total");
    let bound = |of: fn(&PhaseView) -> Option<AtMost>| at_most(total.and_then(of));
    let mut line = format!(
        "queries {}  errors {}  rejected {}  queue {}  busy {}/{}  p50 ≤ {}  p99 ≤ {}  max ≤ {}",
        rate(view.queries_per_s),
        rate(view.errors_per_s),
        rate(view.rejected_per_s),
        whole(sum(|partition| partition.queue_length)),
        whole(sum(|partition| partition.handlers_busy)),
        whole(sum(|partition| partition.handlers)),
        bound(|phase| phase.p50_us_at_most),
        bound(|phase| phase.p99_us_at_most),
        bound(|phase| phase.max_us_at_most),
    );
    for remark in remarks(view) {
        line.push_str("  ");
        line.push_str(&remark);
    }
    line
}

fn heading(view: &View, style: Style) -> String {
    let mut heading = style.bold(&printable(&view.url));
    if let Some(documents) = view.documents {
        heading.push_str(&format!(
            "  {}",
            figures::counted(documents as u64, "document")
        ));
    }
    if let Some(generation) = view.generation {
        heading.push_str(&format!("  generation {generation}"));
    }
    if let Some(interval_s) = view.interval_s {
        heading.push_str(&format!("  in the last {interval_s:.1} s"));
    }
    heading
}

fn rates(view: &View) -> Vec<String> {
    let lookups = view.cache_hits_per_s.zip(view.cache_misses_per_s);
    let lookups = lookups.map(|(hits, misses)| hits + misses);
    vec![
        format!(
            "queries   {}{}",
            rate(view.queries_per_s),
            parts(&view.queries_per_s_by_client)
        ),
        format!(
            "errors    {}{}",
            rate(view.errors_per_s),
            parts(&view.errors_per_s_by_kind)
        ),
        format!(
            "rejected  {}{}    expired {}    partial answers {}",
            rate(view.rejected_per_s),
            parts(&view.rejected_per_s_by_reason),
            rate(view.expired_per_s),
            rate(view.partial_answers_per_s)
        ),
        format!(
            "hedges    {}{}    won {}    failovers {}    optimization searches {}",
            rate(view.hedges_per_s),
            share(view.hedges_per_s, view.calls_per_s, "of calls"),
            rate(view.hedges_won_per_s),
            rate(view.failovers_per_s),
            rate(view.optimization_searches_per_s)
        ),
        format!(
            "cache     hits {}{}    misses {}",
            rate(view.cache_hits_per_s),
            share(view.cache_hits_per_s, lookups, "of all"),
            rate(view.cache_misses_per_s)
        ),
    ]
}

fn crawl(crawl: &CrawlView) -> [String; 2] {
    let state = match crawl.is_running {
        true => "runs",
        false => "does not run",
    };
    let mb_per_s = crawl.wire_bytes_per_s.map(|bytes| bytes / 1e6);
    [
        format!(
            "crawl     {state}    visits {}{}    received {}",
            rate(crawl.visits_per_s),
            parts(&crawl.visits_per_s_by_result),
            mb_per_s.map_or(UNKNOWN.into(), |mb| format!("{mb:.1} MB/s")),
        ),
        format!(
            "          URLs {} known, {} to visit    hosts {}, {} waiting    documents added {}, deleted {}",
            whole(crawl.urls_known),
            whole(crawl.urls_queued),
            whole(crawl.hosts),
            whole(crawl.hosts_waiting),
            rate(crawl.added_per_s),
            rate(crawl.deleted_per_s),
        ),
    ]
}

/// Formats a share, such as ` (1.5 % of calls)`; empty if either number is unknown or the whole is 0.
fn share(part: Option<f64>, whole: Option<f64>, of: &str) -> String {
    let known = part.zip(whole).filter(|(_, whole)| *whole > 0.0);
    known.map_or(String::new(), |(part, whole)| {
        format!("  ({:.1} % {of})", 100.0 * part / whole)
    })
}

/// Formats the rates that are not 0, by label.
fn parts(rates: &std::collections::BTreeMap<String, f64>) -> String {
    let parts: Vec<String> = rates
        .iter()
        .filter(|(_, value)| **value > 0.0)
        .map(|(label, value)| format!("{} {}", printable(label), rate(Some(*value))))
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("  ({})", parts.join(", "))
    }
}

/// Returns the table of the indexes with the most searches.
fn indexes(indexes: &[IndexView], style: Style) -> Vec<String> {
    let header = [
        "index",
        "documents",
        "generation",
        "queries",
        "errors",
        "p50 ≤",
        "p99 ≤",
        "max ≤",
    ];
    let mut rows = vec![header.map(String::from)];
    rows.extend(indexes.iter().take(INDEXES_SHOWN_MAX).map(|index| {
        let time =
            |of: fn(&PhaseView) -> Option<AtMost>| at_most(index.total.as_ref().and_then(of));
        [
            printable(&index.index),
            whole(index.documents),
            whole(index.generation),
            rate(index.queries_per_s),
            rate(index.errors_per_s),
            time(|total| total.p50_us_at_most),
            time(|total| total.p99_us_at_most),
            time(|total| total.max_us_at_most),
        ]
    }));
    let mut lines = aligned(&rows, style);
    if let Some(more) = indexes.len().checked_sub(INDEXES_SHOWN_MAX)
        && more > 0
    {
        let noun = if more == 1 { "index" } else { "indexes" };
        lines.push(format!("and {} more {noun}", figures::count(more as u64)));
    }
    lines
}

fn partitions(partitions: &[PartitionView], style: Style) -> Vec<String> {
    let header = [
        "partition",
        "queue",
        "busy",
        "handlers",
        "refused",
        "expired",
        "ended early",
        "phase",
        "mean",
        "p50 ≤",
        "p99 ≤",
        "max ≤",
    ];
    let mut rows = vec![header.map(String::from)];
    for partition in partitions {
        let own = [
            printable(&partition.partition),
            whole(partition.queue_length),
            whole(partition.handlers_busy),
            whole(partition.handlers),
            rate(partition.refused_per_s),
            rate(partition.expired_per_s),
            rate(partition.ended_early_per_s),
        ];
        let mut phases = partition.phases.iter();
        rows.push(joined(own, partition_phase(phases.next())));
        // Further phases of a partition come below its first one, with the other columns empty.
        rows.extend(phases.map(|phase| joined(Default::default(), partition_phase(Some(phase)))));
    }
    aligned(&rows, style)
}

fn joined(own: [String; 7], phase: [String; 5]) -> [String; 12] {
    let mut cells = own.into_iter().chain(phase);
    std::array::from_fn(|_| cells.next().unwrap_or_default())
}

fn partition_phase(phase: Option<&PhaseView>) -> [String; 5] {
    match phase {
        Some(phase) => [
            printable(&phase.phase),
            us(phase.mean_us),
            at_most(phase.p50_us_at_most),
            at_most(phase.p99_us_at_most),
            at_most(phase.max_us_at_most),
        ],
        None => [UNKNOWN; 5].map(String::from),
    }
}

fn phases(phases: &[PhaseView], style: Style) -> Vec<String> {
    let header = ["phase", "count", "mean", "p50 ≤", "p90 ≤", "p99 ≤", "max ≤"];
    let mut rows = vec![header.map(String::from)];
    if phases.is_empty() {
        rows.push([UNKNOWN; 7].map(String::from));
    }
    rows.extend(phases.iter().map(|phase| {
        [
            printable(&phase.phase),
            whole(Some(phase.count)),
            us(phase.mean_us),
            at_most(phase.p50_us_at_most),
            at_most(phase.p90_us_at_most),
            at_most(phase.p99_us_at_most),
            at_most(phase.max_us_at_most),
        ]
    }));
    aligned(&rows, style)
}

/// Formats a table whose first row is its header, with words aligned left and figures right.
fn aligned<const N: usize>(rows: &[[String; N]], style: Style) -> Vec<String> {
    let widths: [usize; N] = std::array::from_fn(|column| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    });
    let words = |column: usize| matches!(rows[0][column].as_str(), "phase" | "partition" | "index");
    rows.iter()
        .enumerate()
        .map(|(number, row)| {
            let cells: Vec<String> = (0..N)
                .map(|column| {
                    let (cell, width) = (&row[column], widths[column]);
                    if words(column) {
                        format!("{cell:<width$}")
                    } else {
                        format!("{cell:>width$}")
                    }
                })
                .collect();
            let line = cells.join("  ").trim_end().to_owned();
            if number == 0 {
                style.faint(&line)
            } else {
                line
            }
        })
        .collect()
}

fn remarks(view: &View) -> Vec<String> {
    let mut remarks = Vec::new();
    if view.restarted {
        remarks.push("the server was started anew meanwhile".to_owned());
    }
    if view.malformed_count > 0 {
        let lines = figures::counted(view.malformed_count, "line");
        remarks.push(format!("{lines} of its metrics not understood"));
    }
    remarks
}

fn rate(per_s: Option<f64>) -> String {
    per_s.map_or(UNKNOWN.into(), |per_s| match per_s {
        0.0..1000.0 => format!("{per_s:.1}/s"),
        _ => format!("{}/s", figures::count(per_s.round() as u64)),
    })
}

fn whole(value: Option<f64>) -> String {
    value.map_or(
        UNKNOWN.into(),
        |value| figures::count(value.max(0.0) as u64),
    )
}

fn us(value: Option<f64>) -> String {
    value.map_or(UNKNOWN.into(), figures::microseconds)
}

fn at_most(bound: Option<AtMost>) -> String {
    match bound {
        None => UNKNOWN.into(),
        Some(AtMost(us)) if us.is_finite() => round(us),
        Some(_) => "over".into(),
    }
}

/// Formats the bound of a bucket, a round number: `750 µs`, `7.5 ms`, `2 s`.
fn round(us: f64) -> String {
    let (value, unit) = match us {
        0.0..1e3 => (us, "µs"),
        1e3..1e6 => (us / 1e3, "ms"),
        _ => (us / 1e6, "s"),
    };
    format!("{value} {unit}")
}
