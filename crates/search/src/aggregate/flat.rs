//! Counts of a facet over all matches of a segment.

use super::code_counts::{CodeCounts, count};
use super::keys::{Keys, each_key};
use super::sites::Codes;
use crate::collect::doc_bits::Matches;
use fields::facet::{BucketKind, Buckets, CodedValues};
use fields::{Facet, FacetCounts, Value};

/// Counts a facet over the matches of a segment. With `is_only`, no other segment has matches. Returns the keys of its
/// buckets, too.
pub(super) fn of_segment(
    facet: &Facet,
    codes: &Codes<'_>,
    matches: Matches<'_>,
    is_only: bool,
) -> (FacetCounts, Keys) {
    let Some(kind) = facet.kind.as_buckets() else {
        let counted = of_codes(codes, matches, false);
        let counts = FacetCounts {
            matches_count: matches.count(),
            documents_count: counted.documents_count,
            figures: facet.kind.figures_of(&counted.counts, codes),
            ..FacetCounts::default()
        };
        return (counts, Keys::Codes);
    };
    let mut counted = of_codes(codes, matches, true);
    let matches_count = matches.count();
    let keys = Keys::of(kind.spans(codes, &counted.counts));
    let buckets = match &keys {
        Keys::Codes => buckets_of(kind, codes, &mut counted.counts, is_only),
        Keys::Spans(spans) if !codes.has_lists() => {
            let without_value = matches_count - counted.documents_count;
            all_of(spans.summed(&counted.counts, without_value))
        }
        // A document counts once in a bucket, whatever its values there.
        Keys::Spans(spans) => {
            let mut counts = vec![0; spans.count()];
            matches.each(|doc| {
                each_key(codes, &keys, true, doc, &mut |key| {
                    counts[key as usize] += 1;
                });
            });
            let counts = (0..).zip(counts).filter(|(_, count)| *count > 0);
            all_of(counts.filter_map(|(key, count)| Some((spans.name(key)?.clone(), count))))
        }
    };
    let counts = FacetCounts {
        matches_count,
        documents_count: counted.documents_count,
        buckets,
        ..FacetCounts::default()
    };
    (counts, keys)
}

/// Counts the codes of the matches.
pub(super) fn of_codes(codes: &Codes<'_>, matches: Matches<'_>, once: bool) -> CodeCounts {
    match codes {
        Codes::None => CodeCounts::default(),
        codes => count(codes, matches, once, codes.codes_count() + 1, |code| code),
    }
}

/// Returns the buckets of codes: those that are shown, where no other segment has any.
pub(super) fn buckets_of(
    kind: &dyn BucketKind,
    codes: &Codes<'_>,
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
