//! Tests of counts: parts in any order, as bytes, and in rounds.

use super::{Buckets, CodedValues, Facet, FacetCounts};
use crate::field_type::FieldType;
use crate::schema::Schema;
use crate::value::Value;
use proptest::prelude::*;

const FACETS: [&str; 5] = [
    "i64:terms:2{i64:step:4{i64:stats,i64:percentiles},i64:distinct}",
    "i64:terms:3{i64:terms:2{i64:terms:1{i64:distinct}}}",
    "i64:ranges:..2;1..9{i64:terms:2}",
    "i64:stats",
    "i64:terms:1",
];

/// Numbers, coded by their places.
struct Numbers<'a>(&'a [i64]);

impl CodedValues for Numbers<'_> {
    fn value(&self, code: u64) -> Option<Value> {
        let number = self.0.get(code.checked_sub(1)? as usize);
        number.map(|&number| Value::Integer(number))
    }
}

fn facet(text: &str) -> Facet {
    let schema: Schema = [("i64".to_owned(), FieldType::Integer)]
        .into_iter()
        .collect();
    Facet::parse(text, &schema).unwrap()
}

/// Counts a facet over documents of one number each, in order.
fn counts(facet: &Facet, numbers: &[i64]) -> FacetCounts {
    let codes: Vec<(u64, u64)> = (1..=numbers.len() as u64).map(|code| (code, 1)).collect();
    let mut buckets: Vec<(Value, Vec<i64>)> = Vec::new();
    if let Some(kind) = facet.kind.as_buckets() {
        for &number in numbers {
            let own = [number];
            let names = match kind.spans(&Numbers(&own), &[(1, 1)]) {
                None => vec![(Value::Integer(number), 1)],
                Some(spans) => spans.summed(&[(1, 1)], 0),
            };
            for (name, _) in names {
                match buckets.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, own)) => own.push(number),
                    None => buckets.push((name, vec![number])),
                }
            }
        }
    }
    buckets.sort_by(|a, b| a.0.order(&b.0));
    let within = buckets.iter().filter(|_| !facet.within.is_empty());
    let within = within.map(|(_, own)| {
        let facets = facet.within.iter();
        facets.map(|facet| counts(facet, own)).collect()
    });
    FacetCounts {
        matches_count: numbers.len() as u64,
        documents_count: numbers.len() as u64,
        within: within.collect(),
        buckets: Buckets {
            counts: (buckets.iter())
                .map(|(name, own)| (name.clone(), own.len() as u64))
                .collect(),
            ..Buckets::default()
        },
        figures: facet.kind.figures_of(&codes, &Numbers(numbers)),
    }
}

fn sorted(mut numbers: Vec<i64>) -> Vec<i64> {
    numbers.sort_unstable();
    numbers
}

proptest! {
    #[test]
    fn parts_give_the_same_counts_in_any_order(
        facets in prop::sample::select(&FACETS[..]),
        parts in prop::collection::vec(prop::collection::vec(-9i64..9, 0..12), 3),
        order in Just([0, 1, 2]).prop_shuffle(),
    ) {
        let facet = facet(facets);
        let whole = counts(&facet, &sorted(parts.concat()));
        let mut joined = FacetCounts::default();
        for part in order {
            let part = counts(&facet, &sorted(parts[part].clone()));
            prop_assert_eq!(FacetCounts::of_bytes(&facet, &part.to_bytes()), Some(part.clone()));
            prop_assert!(part.weight_within() <= whole.weight_within());
            joined.join(part);
        }
        prop_assert_eq!(&joined, &whole);
        // What is not shown has nothing within it.
        let mut chosen = whole.clone();
        chosen.choose(&facet);
        prop_assert!(chosen.is_complete(&facet));
        prop_assert_eq!(facet.answer(&chosen), facet.answer(&whole));
        // Buckets that were chosen before take what was counted within them afterwards.
        let mut known = FacetCounts { within: Vec::new(), ..chosen.clone() };
        prop_assert_eq!(known.is_complete(&facet), facet.within.is_empty() || known.buckets.counts.is_empty());
        known.refine(&facet, whole.clone());
        known.choose(&facet);
        prop_assert_eq!(facet.answer(&known), facet.answer(&whole));
    }

    #[test]
    fn bytes_that_are_no_counts_are_refused(
        facets in prop::sample::select(&FACETS[..]),
        numbers in prop::collection::vec(-9i64..9, 0..20),
        (at, byte) in (any::<prop::sample::Index>(), any::<u8>()),
    ) {
        let facet = facet(facets);
        let bytes = counts(&facet, &sorted(numbers)).to_bytes();
        let mut changed = bytes.clone();
        changed[at.index(bytes.len())] = byte;
        // Without a panic; what is read can be shown.
        if let Some(mut counts) = FacetCounts::of_bytes(&facet, &changed) {
            counts.choose(&facet);
            let _ = (facet.answer(&counts), counts.is_complete(&facet), counts.weight_within());
        }
        prop_assert_eq!(FacetCounts::of_bytes(&facet, &bytes[..at.index(bytes.len())]), None);
        prop_assert_eq!(FacetCounts::of_bytes(&facet, &[&bytes[..], &[0]].concat()), None);
        let newer = [&[2], &bytes[1..]].concat();
        prop_assert_eq!(FacetCounts::of_bytes(&facet, &newer), None);
    }
}
