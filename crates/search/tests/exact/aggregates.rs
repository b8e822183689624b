//! Tests that facets and sorted hits are those that the values of all matching documents give, whatever the layout.

use crate::ways::all_segments;
use document::{Document, site_of, url_hash};
use fields::facet::Figures;
use fields::{Facet, FacetCounts, Schema, Value};
use index::Segment;
use proptest::prelude::*;
use search::{
    After, Collectors, DocBits, OtherParts, Plan, Query, Ranking, SortKey, SortedHit, Stop,
    best_by_values, collect, count_facet, count_facets, merge_by_values,
};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use testkit::facets::DocumentValues;
use testkit::{
    Oracle, batches, build_index, build_plans, facet_counts, facet_texts, queries, values_of,
};

/// Values of the matches, by URL.
type Matches = BTreeMap<String, Vec<(String, Value)>>;

fn schema() -> Schema {
    testkit::FIELD_TYPES.into_iter().collect()
}

const WITH_BUCKETS: [&str; 26] = [
    "k",
    "k:terms:2",
    "n:terms:3",
    "n:step:3",
    "t:day:America/St_Johns",
    "t:hour:Australia/Lord_Howe",
    "n:step:0.5",
    "f:step:0.5",
    "f:terms:4",
    "t",
    "t:month",
    "t:week",
    "t:day",
    "t:hour",
    "t:step:30d",
    "t:step:7h",
    "b",
    "site",
    "site:terms:2",
    "n:ranges:..2;3..7;>5",
    "k:ranges:a..b;c*",
    "t:ranges:..2024-01;2024-02..",
    "f:ranges:*;<0",
    "k:missing",
    "n:missing",
    "site:missing",
];

const FIGURES: [&str; 8] = [
    "n",
    "n:percentiles:50,99",
    "f:percentiles",
    "k:distinct",
    "t:distinct",
    "site:distinct",
    "f",
    "t:stats",
];

fn facets() -> impl Strategy<Value = Facet> {
    let texts = facet_texts(&WITH_BUCKETS, &FIGURES);
    texts.prop_map(|text| Facet::parse(&text, &schema()).unwrap())
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

fn found(plan: &Plan, segments: &[Arc<Segment>]) -> DocBits {
    let mut top = Collectors::new((), DocBits::default());
    collect(plan, segments, &mut top).unwrap();
    top.matches
}

/// Counts a facet over several parts, of which none knows the others, in as many rounds as it takes.
fn in_rounds(facet: &Facet, parts: &[(&[Arc<Segment>], DocBits)]) -> FacetCounts {
    let facets = std::slice::from_ref(facet);
    let mut known: Option<FacetCounts> = None;
    loop {
        let mut sum = FacetCounts::default();
        for (segments, bits) in parts {
            let others = known.as_ref().map(std::slice::from_ref);
            let others = others.map_or(OtherParts::Unknown, OtherParts::Chosen);
            let counted = count_facets(facets, segments, bits, others, &Stop::default()).unwrap();
            // As between processes.
            let bytes = counted[0].to_bytes();
            sum.join(FacetCounts::of_bytes(facet, &bytes).unwrap());
        }
        let mut counts = match known {
            None => sum,
            Some(mut known) => {
                known.refine(facet, sum);
                known
            }
        };
        counts.choose(facet);
        if counts.is_complete(facet) {
            return counts;
        }
        known = Some(counts);
    }
}

/// Returns flat counts whose sums of floats are rounded: the floats that add up to them depend on the parts.
fn rounded(mut counts: FacetCounts) -> FacetCounts {
    if let Figures::Stats(stats) = &mut counts.figures {
        stats.float_parts = vec![stats.float_sum()];
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(120, 2_000)))]

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
            let documents: Vec<&DocumentValues> = matches.values().map(|own| &own[..]).collect();
            let parts = [back, front].map(|part| (part, found(&plan, part)));
            for facet in &facets {
                let expected = facet_counts(facet, &documents);
                let shown = facet.answer(&expected);
                let whole = count_facet(facet, &segments, &bits, true).unwrap();
                prop_assert_eq!(&facet.answer(&whole), &shown, "{} {:?}", facet, query);
                let rounds = in_rounds(facet, &parts);
                prop_assert_eq!(&facet.answer(&rounds), &shown, "{}", facet);
                let flat = Facet { within: Vec::new(), ..facet.clone() };
                let expected = rounded(FacetCounts { within: Vec::new(), ..expected });
                let whole = count_facet(&flat, &segments, &bits, false).unwrap();
                prop_assert_eq!(&flat.answer(&whole), &flat.answer(&expected), "{}", flat);
                // Without any segment there are no figures.
                if whole.matches_count > 0 {
                    prop_assert_eq!(rounded(whole), expected, "{}", flat);
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
