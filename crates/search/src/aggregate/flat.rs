//! Counts of a facet over all matches of a segment.

use super::code_counts::{CodeCounts, count};
use super::keys::{FieldCodes, Keys, each_key};
use crate::collect::doc_bits::Matches;
use fields::facet::{BucketKind, Buckets, CodedValues};
use fields::{Facet, FacetCounts, Value};

/// Counts a facet over the matches of a segment. With `is_only`, no other segment has matches.
pub(super) fn of_segment(
    facet: &Facet,
    codes: &FieldCodes<'_>,
    matches: Matches<'_>,
    is_only: bool,
) -> FacetCounts {
    let counts = FacetCounts {
        matches_count: matches.count(),
        ..FacetCounts::default()
    };
    let Some(kind) = facet.kind.as_buckets() else {
        let counted = of_codes(codes, matches, false);
        return FacetCounts {
            documents_count: counted.documents_count,
            figures: facet.kind.figures_of(&counted.counts, codes),
            ..counts
        };
    };
    if codes.has_lists()
        && let keys @ Keys::Spans(..) = Keys::of(kind, codes, matches)
    {
        return of_lists(counts, codes, &keys, matches);
    }
    let mut counted = of_codes(codes, matches, true);
    let buckets = match kind.spans(codes, &counted.counts) {
        None => buckets_of(kind, codes, &mut counted.counts, is_only),
        Some(spans) => {
            let without_value = counts.matches_count - counted.documents_count;
            all_of(spans.summed(&counted.counts, without_value))
        }
    };
    FacetCounts {
        documents_count: counted.documents_count,
        buckets,
        ..counts
    }
}

/// Counts documents of several values, once in a bucket, whatever their values there.
fn of_lists(
    counts: FacetCounts,
    codes: &FieldCodes<'_>,
    keys: &Keys,
    matches: Matches<'_>,
) -> FacetCounts {
    let mut documents = vec![0u64; keys.end(codes) as usize];
    let mut documents_count = 0;
    matches.each(|doc| {
        let has_value = each_key(codes, keys, true, doc, &mut |key| {
            if let Some(documents) = documents.get_mut(key as usize) {
                *documents += 1;
            }
        });
        documents_count += u64::from(has_value);
    });
    let documents = (0..).zip(documents).filter(|(_, count)| *count > 0);
    FacetCounts {
        documents_count,
        buckets: all_of(documents.filter_map(|(key, count)| Some((keys.name(key)?, count)))),
        ..counts
    }
}

/// Counts the codes of the matches.
fn of_codes(codes: &FieldCodes<'_>, matches: Matches<'_>, once: bool) -> CodeCounts {
    match &codes.0 {
        Some(codes) => count(codes, matches, once, codes.codes_count() + 1, |code| code),
        None => CodeCounts::default(),
    }
}

/// Returns the buckets of codes: those that are shown, where no other segment has any.
pub(super) fn buckets_of(
    kind: &dyn BucketKind,
    codes: &FieldCodes<'_>,
    counts: &mut Vec<(u64, u64)>,
    is_only: bool,
) -> Buckets {
    let further = match kind.chosen_max() {
        Some(n) if is_only => keep_most_frequent(counts, n),
        _ => (0, 0),
    };
    let named = counts.iter();
    let named = named.filter_map(|&(code, count)| Some((codes.value(code)?, count)));
    Buckets {
        counts: named.collect(),
        further_values_count: further.0,
        further_count: further.1,
    }
}

/// Returns buckets of which none is left out.
pub(super) fn all_of(counts: impl IntoIterator<Item = (Value, u64)>) -> Buckets {
    Buckets {
        counts: counts.into_iter().collect(),
        ..Buckets::default()
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
