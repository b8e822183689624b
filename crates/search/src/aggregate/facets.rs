//! Counts of a facet over the matches of some segments.

use super::code_counts::{CodeCounts, count};
use super::sites::Codes;
use crate::collect::DocBits;
use crate::collect::doc_bits::Matches;
use fields::facet::Range;
use fields::{DistinctValues, Facet, FacetCounts, FacetKind, QuantileSketch, Stats, Test, Value};
use index::{IndexError, Segment};
use std::sync::Arc;

/// Counts a facet over matches. With `is_whole`, no other part of the index has matches, so that only the values that
/// the facet shows need be named.
pub fn count_facet(
    facet: &Facet,
    segments: &[Arc<Segment>],
    matches: &DocBits,
    is_whole: bool,
) -> Result<FacetCounts, IndexError> {
    let mut all = FacetCounts::default();
    let with_matches = segments
        .iter()
        .filter(|segment| matches.matches(segment.id()).is_some());
    let is_only = is_whole && with_matches.count() == 1;
    for segment in segments {
        let Some(matches) = matches.matches(segment.id()) else {
            continue;
        };
        let mut counts = match Codes::open(segment, &facet.field)? {
            Some(codes) => of_segment(facet, &codes, matches, is_only),
            None => FacetCounts::default(),
        };
        counts.matches_count = matches.count();
        all.join(counts);
    }
    Ok(all)
}

fn of_segment(
    facet: &Facet,
    codes: &Codes<'_>,
    matches: Matches<'_>,
    is_only: bool,
) -> FacetCounts {
    let keys_count = codes.codes_count() + 1;
    match &facet.kind {
        FacetKind::Terms { n } => {
            let mut counted = count(codes, matches, true, keys_count, |code| code);
            let further = match is_only {
                true => keep_most_frequent(&mut counted.counts, *n),
                false => (0, 0),
            };
            let mut counts = named(counted, |code| codes.value(code));
            (counts.further_values_count, counts.further_count) = further;
            counts
        }
        FacetKind::Stats | FacetKind::Percentiles(_) => {
            let counted = count(codes, matches, false, keys_count, |code| code);
            let values = counted.counts.iter();
            let values = values.filter_map(|&(code, count)| Some((codes.value(code)?, count)));
            let (mut stats, mut sketch) = (Stats::default(), QuantileSketch::default());
            match &facet.kind {
                FacetKind::Stats => values.for_each(|(value, count)| stats.add(&value, count)),
                _ => {
                    let value = |end: Option<&(u64, u64)>| codes.value(end?.0);
                    stats.least = value(counted.counts.first());
                    stats.greatest = value(counted.counts.last());
                    sketch = QuantileSketch::of_sorted(values);
                }
            }
            FacetCounts {
                documents_count: counted.documents_count,
                stats,
                sketch,
                ..FacetCounts::default()
            }
        }
        FacetKind::Distinct => {
            let counted = count(codes, matches, true, keys_count, |code| code);
            let values = counted.counts.iter();
            let values = values.filter_map(|&(code, _)| codes.value(code));
            FacetCounts {
                distinct: DistinctValues::of(values),
                documents_count: counted.documents_count,
                ..FacetCounts::default()
            }
        }
        FacetKind::Calendar(..) | FacetKind::Step(_) | FacetKind::Interval(_) => {
            histogram(facet, codes, matches)
        }
        FacetKind::Ranges(ranges) => of_ranges(ranges, codes, matches),
    }
}

/// Gives codes their values.
fn named(counted: CodeCounts, value: impl Fn(u64) -> Option<Value>) -> FacetCounts {
    let counts = counted.counts.into_iter();
    FacetCounts {
        counts: counts
            .filter_map(|(code, count)| Some((value(code)?, count)))
            .collect(),
        documents_count: counted.documents_count,
        ..FacetCounts::default()
    }
}

/// Keeps the `n` most frequent codes, the lesser first where counts are equal, in the order of codes. Returns the number
/// of the others and the sum of their counts.
fn keep_most_frequent(counts: &mut Vec<(u64, u64)>, n: usize) -> (u64, u64) {
    if counts.len() <= n {
        return (0, 0);
    }
    counts.select_nth_unstable_by(n, |a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let others = counts.drain(n..);
    let further = others.fold((0, 0), |(values, sum), (_, count)| {
        (values + 1, sum + count)
    });
    counts.sort_unstable();
    further
}

/// Counts documents by bucket. Buckets are intervals of values, so also of codes.
fn histogram(facet: &Facet, codes: &Codes<'_>, matches: Matches<'_>) -> FacetCounts {
    let bucket_of = |code: u64| {
        codes
            .value(code)
            .and_then(|value| facet.kind.bucket(&value))
    };
    if !codes.has_lists() {
        // The bucket of each code that occurs, not of each document.
        let counted = count(codes, matches, true, codes.codes_count() + 1, |code| code);
        let mut buckets: Vec<(Value, u64)> = Vec::new();
        let mut at = 0;
        while let Some(&(code, _)) = counted.counts.get(at) {
            let Some(bucket) = bucket_of(code) else {
                at += 1;
                continue;
            };
            // Codes of the same bucket follow each other.
            let is_same = |other: u64| {
                let code = counted.counts.get(other as usize);
                code.is_some_and(|&(code, _)| bucket_of(code).as_ref() == Some(&bucket))
            };
            let end = last_of(at as u64, is_same) as usize + 1;
            let counts = counted.counts[at..end].iter().map(|(_, count)| count);
            buckets.push((bucket, counts.sum()));
            at = end;
        }
        return FacetCounts {
            counts: buckets,
            documents_count: counted.documents_count,
            ..FacetCounts::default()
        };
    }
    // A document counts once in a bucket, whatever its values there.
    let (mut ends, mut buckets) = (Vec::new(), Vec::new());
    let mut code = 1;
    while code <= codes.codes_count() {
        let bucket = bucket_of(code);
        let last = match &bucket {
            Some(bucket) => last_of(code, |other| {
                other <= codes.codes_count() && bucket_of(other).as_ref() == Some(bucket)
            }),
            None => code,
        };
        ends.push(last);
        buckets.push(bucket);
        code = last + 1;
    }
    let number_of = |code: u64| ends.partition_point(|&end| end < code) as u64;
    let counted = count(codes, matches, true, ends.len() as u64 + 1, number_of);
    named(counted, |number| {
        buckets.get(number as usize).cloned().flatten()
    })
}

/// Returns the last number from `first` on, without a gap, for which `is_same` holds, by doubling steps and halving them.
fn last_of(first: u64, is_same: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut step) = (first, 1);
    while is_same(low + step) {
        low += step;
        step *= 2;
    }
    while step > 0 {
        if is_same(low + step) {
            low += step;
        }
        step /= 2;
    }
    low
}

/// Counts the documents with a value in each range, by its number.
fn of_ranges(ranges: &[Range], codes: &Codes<'_>, matches: Matches<'_>) -> FacetCounts {
    let counted = count(codes, matches, true, codes.codes_count() + 1, |code| code);
    let mut counts = Vec::with_capacity(ranges.len());
    for (number, range) in (0..).zip(ranges) {
        let documents = match codes.has_lists() {
            true => documents_in(codes, matches, &range.test),
            false => {
                let first = |outside: &dyn Fn(&Value) -> bool| {
                    counted.counts.partition_point(|&(code, _)| {
                        codes.value(code).is_some_and(|value| outside(&value))
                    })
                };
                // Values that pass follow each other.
                let start = first(&|value| is_before(&range.test, value));
                let end = first(&|value| is_before(&range.test, value) || range.test.passes(value));
                counted.counts[start..end.max(start)]
                    .iter()
                    .map(|(_, count)| count)
                    .sum()
            }
        };
        if documents > 0 {
            counts.push((Value::Integer(number), documents));
        }
    }
    FacetCounts {
        counts,
        documents_count: counted.documents_count,
        ..FacetCounts::default()
    }
}

/// Returns whether a value lies before all that pass.
fn is_before(test: &Test, value: &Value) -> bool {
    match test {
        Test::Exists => false,
        Test::Prefix(prefix) => {
            matches!(value, Value::Keyword(text) if text.as_str() < prefix.as_str())
        }
        Test::Range { low, .. } => low.as_ref().is_some_and(|low| {
            let order = value.order(&low.value);
            order.is_lt() || order.is_eq() && !low.inclusive
        }),
    }
}

/// Counts the documents with any value that passes.
fn documents_in(codes: &Codes<'_>, matches: Matches<'_>, test: &Test) -> u64 {
    let Codes::Column(column) = codes else {
        return 0;
    };
    let Some(range) = column.range(test) else {
        return 0;
    };
    let mut documents = 0;
    matches.each(|doc| {
        documents += u64::from(column.passes(doc, range));
    });
    documents
}
