//! Answers as text, the same from every engine.

use crate::engine::Answer;
use fields::facet::Figures;
use fields::{Facet, FacetCounts, FacetKind, Value};
use std::fmt::Write;

/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

/// Returns what an answer says of facets and dates.
pub(crate) fn check(answer: &Answer) -> String {
    let mut out = String::new();
    for hit in &answer.newest {
        let seconds = match hit.values[..] {
            [Some(Value::Date(micros))] => micros / SECOND,
            _ => i64::MIN,
        };
        // Writing to a string cannot fail.
        let _ = write!(out, "{seconds} ");
    }
    for (facet, counts, most) in &answer.facets {
        out.push('|');
        let _ = write_facet(facet, counts, most, &mut out);
    }
    out
}

/// Writes counts by falling frequency, buckets by number, or statistics.
fn write_facet(
    facet: &Facet,
    counts: &FacetCounts,
    most: &[(Value, u64)],
    out: &mut String,
) -> std::fmt::Result {
    match &facet.kind {
        FacetKind::Interval(interval) => {
            for (start, count) in &counts.buckets.counts {
                if let Value::Date(start) = start {
                    write!(out, "{}={count} ", start.div_euclid(interval.micros))?;
                }
            }
        }
        FacetKind::Stats(_) => {
            if let Figures::Stats(stats) = &counts.figures
                && let (Some(least), Some(greatest)) = (&stats.least, &stats.greatest)
            {
                let (count, sum) = (stats.values_count, stats.integer_sum);
                write!(out, "{count} {sum} {least} {greatest}")?;
            }
        }
        _ => {
            for (_, count) in most {
                write!(out, "{count} ")?;
            }
        }
    }
    Ok(())
}
