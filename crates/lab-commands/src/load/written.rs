//! What was written beside a load run, as rows, a line and JSON.

use super::repetition::Repetition;
use ::load::{Times, WritesOutcome};
use console::figures::count;
use serde_json::{Value, json};

/// Returns the times of writes of all runs, by name; empty sets where nothing was written.
pub(super) fn times(runs: &[Repetition]) -> [(&'static str, Times); 2] {
    let merged = |of: fn(&WritesOutcome) -> &Times| {
        let mut all = Times::default();
        let written = runs.iter().filter_map(|run| run.written.as_ref());
        written.for_each(|written| all.merge(of(written)));
        all
    };
    [
        (
            "writes until durable",
            merged(|written| &written.acknowledged),
        ),
        (
            "writes until searchable",
            merged(|written| &written.searchable),
        ),
    ]
}

/// Returns the line that counts the writes of all runs; `None` where nothing was written.
pub(super) fn line(runs: &[Repetition]) -> Option<String> {
    let written: Vec<&WritesOutcome> = runs.iter().filter_map(|run| run.written.as_ref()).collect();
    let accepted: u64 = written.iter().map(|one| one.accepted).sum();
    let failed: u64 = written.iter().map(|one| one.failed).sum();
    let elapsed_s: f64 = written.iter().map(|one| one.elapsed.as_secs_f64()).sum();
    let mut line = format!(
        "{} changes written, {:.0} a second",
        count(accepted),
        accepted as f64 / elapsed_s.max(1e-9)
    );
    if failed > 0 {
        let failure = written.iter().find_map(|one| one.failure.as_deref());
        line.push_str(&format!(
            "; {} failed: {}",
            count(failed),
            failure.unwrap_or("")
        ));
    }
    (!written.is_empty()).then_some(line)
}

/// Returns the figures of one run as JSON.
pub(super) fn json_of(written: &WritesOutcome, json_of_times: impl Fn(&Times) -> Value) -> Value {
    json!({
        "accepted": written.accepted,
        "failed": written.failed,
        "failure": written.failure,
        "elapsed_s": written.elapsed.as_secs_f64(),
        "acknowledged": json_of_times(&written.acknowledged),
        "searchable": json_of_times(&written.searchable),
    })
}
