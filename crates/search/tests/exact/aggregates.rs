//! Tests that facets and sorted hits are those that the values of all matching documents give, whatever the layout.

use crate::ways::all_segments;
use document::{Document, site_of, url_hash};
use fields::{DistinctValues, Facet, FacetCounts, FacetKind, QuantileSketch, Schema, Stats, Value};
use index::Segment;
use proptest::prelude::*;
use search::{
    After, Collectors, DocBits, Plan, Query, Ranking, SortKey, SortedHit, best_by_values, collect,
    count_facet, merge_by_values,
};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use testkit::{Oracle, batches, build_index, build_plans, queries, values_of};

/// Values of the matches, by URL.
type Matches = BTreeMap<String, Vec<(String, Value)>>;

fn schema() -> Schema {
    testkit::FIELD_TYPES.into_iter().collect()
}

fn facets() -> impl Strategy<Value = Facet> {
    let texts = [
        "k",
        "k:terms:2",
        "n:terms:3",
        "n",
        "n:step:3",
        "n:percentiles:50,99",
        "f:percentiles",
        "k:distinct",
        "t:distinct",
        "site:distinct",
        "t:day:America/St_Johns",
        "t:hour:Australia/Lord_Howe",
        "n:step:0.5",
        "f",
        "f:step:0.5",
        "f:terms:4",
        "t",
        "t:month",
        "t:week",
        "t:day",
        "t:hour",
        "t:stats",
        "t:step:30d",
        "t:step:7h",
        "b",
        "site",
        "site:terms:2",
        "n:ranges:..2;3..7;>5",
        "k:ranges:a..b;c*",
        "t:ranges:..2024-01;2024-02..",
        "f:ranges:*;<0",
    ];
    prop::sample::select(texts.to_vec()).prop_map(|text| Facet::parse(text, &schema()).unwrap())
}

fn sorts() -> impl Strategy<Value = Vec<SortKey>> {
    let texts = [
        "n",
        "n:desc",
        "k",
        "k:desc:first",
        "t:desc,n",
        "f:first,k:desc",
        "b,site",
        "site:desc",
        "n:desc:first,f,t",
    ];
    prop::sample::select(texts.to_vec())
        .prop_map(|text| SortKey::parse_all(text, &schema()).unwrap())
}

/// Counts a facet by its definition.
fn expected(facet: &Facet, matches: &Matches) -> FacetCounts {
    let mut counts: Vec<(Value, u64)> = Vec::new();
    let mut add = |value: Value| match counts.iter_mut().find(|(known, _)| *known == value) {
        Some((_, count)) => *count += 1,
        None => counts.push((value, 1)),
    };
    let (mut documents_count, mut stats) = (0, Stats::default());
    let mut all: Vec<Value> = Vec::new();
    for own in matches.values() {
        let of_field = own.iter().filter(|(name, _)| *name == facet.field);
        let values: Vec<&Value> = of_field.map(|(_, value)| value).collect();
        documents_count += u64::from(!values.is_empty());
        all.extend(values.iter().map(|&value| value.clone()));
        let mut keys: Vec<Value> = Vec::new();
        for value in values {
            match &facet.kind {
                FacetKind::Terms { .. } => keys.push(value.clone()),
                FacetKind::Stats | FacetKind::Percentiles(_) => stats.add(value, 1),
                FacetKind::Distinct => {}
                FacetKind::Calendar(..) | FacetKind::Step(_) | FacetKind::Interval(_) => {
                    keys.extend(facet.kind.bucket(value))
                }
                FacetKind::Ranges(ranges) => {
                    let passed = (0..)
                        .zip(ranges)
                        .filter(|(_, range)| range.test.passes(value));
                    keys.extend(passed.map(|(number, _)| Value::Integer(number)));
                }
            }
        }
        keys.sort_by(Value::order);
        keys.dedup();
        keys.into_iter().for_each(&mut add);
    }
    counts.sort_by(|a, b| a.0.order(&b.0));
    all.sort_by(Value::order);
    let (mut sketch, mut distinct) = (QuantileSketch::default(), DistinctValues::default());
    match &facet.kind {
        FacetKind::Percentiles(_) => {
            // Of all numbers, the ends alone are needed.
            stats = Stats {
                least: stats.least,
                greatest: stats.greatest,
                ..Stats::default()
            };
            sketch = QuantileSketch::of_sorted(all.into_iter().map(|value| (value, 1)));
        }
        FacetKind::Distinct => distinct = DistinctValues::of(all),
        _ => {}
    }
    FacetCounts {
        sketch,
        distinct,
        counts,
        documents_count,
        matches_count: matches.len() as u64,
        stats,
        ..FacetCounts::default()
    }
}

fn found(plan: &Plan, segments: &[Arc<Segment>]) -> DocBits {
    let mut top = Collectors::new((), DocBits::default());
    collect(plan, segments, &mut top).unwrap();
    top.matches
}

/// What a person sees of a facet of terms.
fn shown(facet: &Facet, counts: &FacetCounts) -> (Vec<(Value, u64)>, u64, u64) {
    let FacetKind::Terms { n } = facet.kind else {
        panic!("terms");
    };
    let most = counts.most_frequent(n);
    let sum = |counts: &[(Value, u64)]| counts.iter().map(|(_, count)| count).sum::<u64>();
    let further = sum(&counts.counts) - sum(&most) + counts.further_count;
    (
        most,
        further,
        counts.counts.len() as u64 + counts.further_values_count,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn facets_and_orders_are_those_of_the_values(
        batches in batches(3, 24),
        build in build_plans(),
        queries in prop::collection::vec(queries(), 1..4),
        facets in prop::collection::vec(facets(), 1..6),
        keys in sorts(),
        k in 0usize..12,
        cut in any::<prop::sample::Index>(),
    ) {
        let index = build_index(&batches, build).unwrap();
        let oracle = Oracle::new(&batches, index.analyzer(), index.fields());
        let live: BTreeMap<String, &Document> =
            batches.iter().flatten().map(|document| (document.url.clone(), document)).collect();
        let segments: Vec<Arc<Segment>> = all_segments(&index).into_iter().cloned().collect();
        for query in queries.into_iter().chain([Query::Value { field: "n".into(), test: fields::Test::Exists }]) {
            let ranked = oracle.rank(&query, Ranking::default());
            let urls: BTreeSet<String> = ranked.into_iter().map(|hit| hit.url).collect();
            let matches: Matches = urls
                .iter()
                .map(|url| {
                    let mut values = values_of(live[url]);
                    values.push(("site".into(), Value::Keyword(site_of(url))));
                    (url.clone(), values)
                })
                .collect();
            let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
            let bits = found(&plan, &segments);
            let (front, back) = segments.split_at(cut.index(segments.len() + 1));
            for facet in &facets {
                let expected = expected(facet, &matches);
                let whole = count_facet(facet, &segments, &bits, false).unwrap();
                let mut whole = whole;
                whole.stats.float_parts = vec![whole.stats.float_sum()];
                let mut wanted = expected.clone();
                wanted.stats.float_parts = vec![wanted.stats.float_sum()];
                prop_assert_eq!(&whole, &wanted, "{} {:?}", facet, query);
                let mut parts = count_facet(facet, back, &found(&plan, back), false).unwrap();
                parts.join(count_facet(facet, front, &found(&plan, front), false).unwrap());
                parts.stats.float_parts = vec![parts.stats.float_sum()];
                prop_assert_eq!(&parts, &wanted, "{}", facet);
                if let FacetKind::Terms { .. } = facet.kind {
                    let short = count_facet(facet, &segments, &bits, true).unwrap();
                    prop_assert_eq!(shown(facet, &short), shown(facet, &expected));
                }
            }
            let mut order: Vec<&String> = urls.iter().collect();
            order.sort_by(|a, b| {
                let value = |url: &String, key: &SortKey| {
                    let own = matches[url].iter().filter(|(name, _)| *name == key.field);
                    let mut own: Vec<&Value> = own.map(|(_, value)| value).collect();
                    own.sort_by(|a, b| a.order(b));
                    if key.descending { own.last().copied() } else { own.first().copied() }
                };
                let by_key = keys.iter().map(|key| match (value(a, key), value(b, key)) {
                    (Some(a), Some(b)) if key.descending => b.order(a),
                    (Some(a), Some(b)) => a.order(b),
                    (None, None) => Ordering::Equal,
                    (None, _) => if key.missing_first { Ordering::Less } else { Ordering::Greater },
                    (_, None) => if key.missing_first { Ordering::Greater } else { Ordering::Less },
                });
                let differs = by_key.into_iter().find(|order| order.is_ne());
                differs.unwrap_or(Ordering::Equal).then(url_hash(a).cmp(&url_hash(b)))
            });
            let wanted: Vec<u64> = order.iter().take(k).map(|url| url_hash(url)).collect();
            let best = best_by_values(&keys, &segments, &bits, k, None).unwrap();
            prop_assert_eq!(best.iter().map(|hit| hit.hit.url_hash).collect::<Vec<_>>(), wanted.clone());
            let parts = [front, back].map(|part| best_by_values(&keys, part, &bits, k, None).unwrap());
            let merged = merge_by_values(&keys, parts.to_vec(), k);
            prop_assert_eq!(merged.iter().map(|hit| hit.hit.url_hash).collect::<Vec<_>>(), wanted);
            // Pages, each after the last hit of the one before, are slices of the order. The last hit may have gone.
            let (mut paged, mut after): (Vec<SortedHit>, _) = (Vec::new(), None);
            loop {
                let page = best_by_values(&keys, &segments, &bits, k.max(1), after.as_ref()).unwrap();
                let parts = [front, back]
                    .map(|part| best_by_values(&keys, part, &bits, k.max(1), after.as_ref()).unwrap());
                prop_assert_eq!(&merge_by_values(&keys, parts.to_vec(), k.max(1)), &page);
                let Some(last) = page.last() else { break };
                after = Some(After {
                    score: 0.0,
                    values: last.values.clone(),
                    url_hash: last.hit.url_hash,
                });
                paged.extend(page);
            }
            let all: Vec<u64> = order.iter().map(|url| url_hash(url)).collect();
            prop_assert_eq!(paged.iter().map(|hit| hit.hit.url_hash).collect::<Vec<_>>(), all);
            if let Some((gone, first)) = paged.split_first().filter(|(_, rest)| !rest.is_empty()) {
                let only = |hit: &SortedHit| (hit.values.clone(), hit.hit.url_hash);
                let mut place = After { score: 0.0, values: gone.values.clone(), url_hash: gone.hit.url_hash };
                // A value that no document may have.
                for value in place.values.iter_mut().flatten() {
                    if let Value::Integer(number) = value {
                        *number = number.saturating_add(1);
                    }
                }
                let later = best_by_values(&keys, &segments, &bits, paged.len(), Some(&place)).unwrap();
                let is_after = |hit: &&SortedHit| {
                    let by_values = SortKey::order_of(&keys, &hit.values, &place.values);
                    by_values.then(hit.hit.url_hash.cmp(&place.url_hash)).is_gt()
                };
                let wanted: Vec<_> = paged.iter().filter(is_after).map(only).collect();
                prop_assert_eq!(later.iter().map(only).collect::<Vec<_>>(), wanted, "{:?}", first.len());
            }
        }
    }
}
