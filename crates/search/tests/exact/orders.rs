//! Tests that hits, scores and counts in any order of documents are those of exhaustive evaluation on
//! the index as built.

use index::{Index, Order, PostingsCodec, Segment};
use proptest::prelude::*;
use search::exhaustive::search_segment;
use search::{Operator, Plan, Query, Ranking, count_partition, search_partition};
use std::sync::Arc;
use testkit::{BuildPlan, batches, build_index, build_plans, queries, rankings};

/// URL hash and score of every hit kept, and the count.
type Answer = (Vec<(u64, u32)>, u64);

fn segments(index: &Index) -> Vec<&Arc<Segment>> {
    index.segments(0..index.chunks_count()).collect()
}

fn plan(index: &Index, query: &Query, ranking: Ranking) -> Plan {
    Plan::new(query, ranking, index.statistics()).unwrap()
}

fn bits(hits: &[search::ScoredHit]) -> Vec<(u64, u32)> {
    hits.iter()
        .map(|hit| (hit.url_hash, hit.score.to_bits()))
        .collect()
}

/// Returns the reference answer: every matching document scored, the best kept.
fn judged(index: &Index, query: &Query, ranking: Ranking, k: usize) -> Answer {
    let plan = plan(index, query, ranking);
    let (mut top, mut total) = (plan.top(k), 0);
    for segment in segments(index) {
        total += search_segment(&plan, segment, &mut top).unwrap();
    }
    (bits(&top.into_sorted()), total)
}

/// Returns the answers of the chosen algorithms: with and without counting.
fn chosen(index: &Index, query: &Query, ranking: Ranking, k: usize) -> [Answer; 2] {
    let plan = plan(index, query, ranking);
    let (hits, total) = search_partition(&plan, segments(index), k).unwrap();
    let best = search::top_of_partition(&plan, segments(index), k).unwrap();
    let count = count_partition(&plan, segments(index)).unwrap();
    [(bits(&hits), total), (bits(&best), count)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(60, 1_000)))]

    #[test]
    fn no_order_changes_an_answer(
        batches in batches(3, 40),
        build in build_plans(),
        queries in prop::collection::vec((queries(), rankings()), 1..6),
        k in 0usize..20,
    ) {
        let as_built = build_index(&batches, BuildPlan { order: None, laid_out_for: None, ..build }).unwrap();
        for order in Order::ALL {
            let index = build_index(&batches, BuildPlan { order: Some(order), ..build }).unwrap();
            for segment in segments(&index) {
                prop_assert!(!segment.has_deletions());
            }
            for (query, ranking) in &queries {
                let expected = judged(&as_built, query, *ranking, k);
                prop_assert_eq!(&judged(&index, query, *ranking, k), &expected, "{:?}", order);
                for found in chosen(&index, query, *ranking, k) {
                    prop_assert_eq!(&found, &expected, "{:?} {:?}", order, query);
                }
            }
        }
    }
}

proptest! {
    // Lists have several blocks, so that bounds and skips are those of the new order.
    #![proptest_config(ProptestConfig::with_cases(5))]

    #[test]
    fn no_order_changes_an_answer_from_long_lists(
        mut documents in prop::collection::vec(testkit::documents::document(), 900..1600),
        codec in prop_oneof![Just(PostingsCodec::Packed), Just(PostingsCodec::Vint)],
        replaced in prop::collection::vec(0usize..900, 0..60),
        typed in prop::collection::vec(prop::collection::vec(testkit::documents::words(), 1..5), 12),
        asked in prop::collection::vec(queries(), 4),
        ranking in rankings(),
        k in 1usize..30,
    ) {
        for (number, document) in documents.iter_mut().enumerate() {
            document.url = format!("http://s{}.test/{number}", number % 7);
        }
        let later = replaced.iter().map(|&number| documents[number].clone()).collect();
        let batches = [documents, later];
        let build = BuildPlan { codec, ..BuildPlan::PLAIN };
        let as_built = build_index(&batches, build).unwrap();
        let mut queries = asked;
        for words in typed {
            for operator in [Operator::And, Operator::Or] {
                queries.push(search::bag_of_words(&words.join(" "), as_built.analyzer(), operator));
            }
        }
        for order in Order::ALL {
            let index = build_index(&batches, BuildPlan { order: Some(order), ..build }).unwrap();
            for query in &queries {
                let expected = judged(&as_built, query, ranking, k);
                prop_assert_eq!(&judged(&index, query, ranking, k), &expected, "{:?}", order);
                for found in chosen(&index, query, ranking, k) {
                    prop_assert_eq!(&found, &expected, "{:?} {:?}", order, query);
                }
            }
        }
    }
}
