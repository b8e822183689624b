//! Views: diagrams, tables and sentences from samples, one file for each kind.

pub(crate) mod alone;
pub(crate) mod balance;
pub(crate) mod co_runner;
pub(crate) mod counted;
pub(crate) mod decompression;
pub(crate) mod figures;
pub(crate) mod jackknife;
pub(crate) mod policies;
pub(crate) mod rates;
pub(crate) mod simulated;
pub(crate) mod sizes;
pub(crate) mod words;

use load::Summary;
use std::collections::BTreeMap;

/// Returns the warnings of some runs, each with the number of affected runs.
pub(crate) fn warnings<'a>(runs: impl IntoIterator<Item = &'a Summary>) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut total = 0;
    for run in runs {
        total += 1;
        for label in &run.labels {
            *counts.entry(label.name()).or_default() += 1;
        }
    }
    let line = |(name, count): (&str, usize)| format!("{name}: {count} of {total} runs");
    counts.into_iter().map(line).collect()
}

/// Returns the number of words in a query, separated by white space.
fn words_count(query: &str) -> usize {
    query.split_whitespace().count()
}

/// Formats a large number for a sentence, with separated thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a time for a sentence in milliseconds with three digits; a very short one in microseconds.
pub(crate) fn ms(us: f64) -> String {
    let ms = us / 1e3;
    match ms {
        ..0.1 => format!("{us:.1} µs"),
        ..10.0 => format!("{ms:.2} ms"),
        ..100.0 => format!("{ms:.1} ms"),
        _ => format!("{ms:.0} ms"),
    }
}
