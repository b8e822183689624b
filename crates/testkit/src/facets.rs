//! Facets by their definition: every document is tried in every bucket.

use fields::facet::{Buckets, CodedValues};
use fields::{Facet, FacetCounts, FacetKind, Value};
use proptest::prelude::*;

/// Values of a document, each with its field.
pub type DocumentValues = [(String, Value)];

/// Some values, coded by their places.
struct Places(Vec<Value>);

impl CodedValues for Places {
    fn value(&self, code: u64) -> Option<Value> {
        let place = usize::try_from(code.checked_sub(1)?).ok()?;
        self.0.get(place).cloned()
    }
}

/// Counts a facet over documents, with all buckets and the facets within all of them.
pub fn facet_counts(facet: &Facet, documents: &[&DocumentValues]) -> FacetCounts {
    let mut found: Vec<(Value, Vec<&DocumentValues>)> = Vec::new();
    let mut all: Vec<Value> = Vec::new();
    let mut documents_count = 0;
    for document in documents {
        let of_field = document.iter().filter(|(name, _)| *name == facet.field);
        let values: Vec<Value> = of_field.map(|(_, value)| value.clone()).collect();
        documents_count += u64::from(!values.is_empty());
        for name in buckets_of(&facet.kind, &values) {
            match found.iter_mut().find(|(known, _)| *known == name) {
                Some((_, own)) => own.push(document),
                None => found.push((name, vec![document])),
            }
        }
        all.extend(values);
    }
    found.sort_by(|a, b| a.0.order(&b.0));
    all.sort_by(Value::order);
    let codes: Vec<(u64, u64)> = (1..=all.len() as u64).map(|code| (code, 1)).collect();
    let within = found.iter().map(|(_, own)| {
        let facets = facet.within.iter();
        facets.map(|facet| facet_counts(facet, own)).collect()
    });
    FacetCounts {
        matches_count: documents.len() as u64,
        documents_count,
        within: match facet.within.is_empty() {
            true => Vec::new(),
            false => within.collect(),
        },
        figures: facet.kind.figures_of(&codes, &Places(all)),
        buckets: Buckets {
            counts: (found.into_iter())
                .map(|(name, own)| (name, own.len() as u64))
                .collect(),
            ..Buckets::default()
        },
    }
}

/// Returns the names of the buckets that a document with some values is in, each once.
fn buckets_of(kind: &FacetKind, values: &[Value]) -> Vec<Value> {
    let Some(buckets) = kind.as_buckets() else {
        return Vec::new();
    };
    let mut names: Vec<Value> = match kind {
        FacetKind::Ranges(kind) => {
            let ranges = (0..).zip(&kind.ranges);
            let passed =
                ranges.filter(|(_, range)| values.iter().any(|one| range.test.passes(one)));
            passed.map(|(number, _)| Value::Integer(number)).collect()
        }
        _ => {
            // The spans of one value alone.
            let each: Vec<Option<&Value>> = match values {
                [] => vec![None],
                values => values.iter().map(Some).collect(),
            };
            let names = each.into_iter().flat_map(|value| {
                let codes: &[(u64, u64)] = if value.is_some() { &[(1, 1)] } else { &[] };
                let own = Places(value.cloned().into_iter().collect());
                match buckets.spans(&own, codes) {
                    None => value.cloned().into_iter().collect::<Vec<_>>(),
                    Some(spans) => {
                        let summed = spans.summed(codes, u64::from(value.is_none()));
                        summed.into_iter().map(|(name, _)| name).collect()
                    }
                }
            });
            names.collect()
        }
    };
    names.sort_by(Value::order);
    names.dedup();
    names
}

/// Texts of facets, of those with buckets also with others within them, up to four deep.
pub fn facet_texts(
    with_buckets: &'static [&'static str],
    figures: &'static [&'static str],
) -> impl Strategy<Value = String> {
    let owned = |text: &str| text.to_owned();
    let buckets = move || prop::sample::select(with_buckets).prop_map(owned);
    let flat = prop_oneof![buckets(), prop::sample::select(figures).prop_map(owned)];
    let within = move |inner: BoxedStrategy<String>| {
        let within = prop::collection::vec(inner, 1..3);
        (buckets(), within).prop_map(|(outer, within)| format!("{outer}{{{}}}", within.join(",")))
    };
    let deeper = move |inner: BoxedStrategy<String>| {
        prop_oneof![2 => inner.clone(), 1 => within(inner)].boxed()
    };
    deeper(deeper(deeper(flat.boxed())))
}
