//! Tests that priors raise the scores of the documents with their values, and that what is skipped could not have entered.

use crate::ways::{Everything, all_segments, check_all_ways, many_documents, on_handlers, parsed};
use document::{Document, url_hash};
use fields::Prior;
use index::DocId;
use proptest::prelude::*;
use search::{
    After, Collectors, Plan, Ranking, SearchTask, Stop, collect, profile, search_partition,
    top_of_partition,
};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use testkit::{BuildPlan, DeclaredPriors, build_index, floats};

/// The value of a document, by its number: most have a small one, few a great one, some a list or none.
fn value(number: usize) -> serde_json::Value {
    let great = 1i64 << (number as u32).wrapping_mul(2_654_435_761).leading_zeros();
    match number % 11 {
        0 => json!(null),
        1 => json!([-great, great, 1]),
        2 => json!(-great),
        _ => json!(great),
    }
}

fn documents(seed: u64) -> Vec<Document> {
    let mut documents = many_documents(seed);
    for (number, document) in documents.iter_mut().enumerate() {
        document.fields.insert("n".to_owned(), value(number).into());
    }
    documents
}

fn with_prior(weight: f32, pivot: f64) -> BuildPlan {
    BuildPlan {
        priors: DeclaredPriors {
            n: Some(Prior { weight, pivot }),
            f: None,
        },
        ..BuildPlan::PLAIN
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn the_best_with_priors_are_the_best_of_all_matches(
        seed in any::<u64>(),
        weight in prop_oneof![floats(0.01, 1.0), floats(1.0, 30.0)],
        pivot in prop_oneof![Just(1.0), Just(1000.0)],
        deleted in prop_oneof![Just(0usize), 1usize..4000],
        queries in prop::collection::vec(
            (testkit::typed((3u32..13).prop_map(|word| format!("w{word}"))), any::<bool>(),
             prop_oneof![Just(1usize), Just(10), 1usize..90]), 30),
    ) {
        let documents = documents(seed);
        let later = documents[..deleted].to_vec();
        let build = with_prior(weight, pivot);
        let numbers: HashMap<u64, usize> =
            (0..).zip(&documents).map(|(number, one)| (url_hash(&one.url), number)).collect();
        let index = build_index(&[documents, later], build).unwrap();
        let segments = all_segments(&index);
        for (typed, any, k) in queries {
            let query = parsed(&typed, any, &index);
            let plan = Arc::new(Plan::new(&query, Ranking::default(), index.statistics()).unwrap());
            let (all, total) = search_partition(&plan, segments.iter().copied(), usize::MAX).unwrap();
            prop_assert_eq!(all.len() as u64, total);
            let mut of_clauses = Collectors::new(Everything::default(), ());
            collect(&plan, segments.iter().copied(), &mut of_clauses).unwrap();
            let of_clauses: HashMap<(u32, DocId), f32> = (of_clauses.hits.found.iter())
                .map(|&(segment, doc, bits)| ((segment, doc), f32::from_bits(bits)))
                .collect();
            for hit in all.iter().step_by(1 + all.len() / 50) {
                let greatest = match &value(numbers[&hit.url_hash]) {
                    serde_json::Value::Array(values) => values[1].as_f64(),
                    value => value.as_f64(),
                };
                let greatest = greatest.unwrap_or(0.0).max(0.0);
                let prior = f64::from(weight) * greatest / (greatest + pivot);
                let of_clauses = of_clauses[&(hit.segment, hit.doc)];
                let added = f64::from(hit.score) - f64::from(of_clauses);
                // A grid has at most steps of 2^-22 of the greatest score, and two roundings.
                prop_assert!((added - prior).abs() <= 1e-4, "{added} {prior}");
            }
            let expected = &all[..k.min(all.len())];
            let best = top_of_partition(&plan, segments.iter().copied(), k).unwrap();
            prop_assert_eq!(&best, expected, "{} of {}", k, typed);
            let (shared, _) = on_handlers(&plan, &index, k, false, 1 + k % 7, 2);
            prop_assert_eq!(shared, expected, "{} of {}", k, typed);
            if let Some(last) = best.last() {
                let after = After { score: last.score, values: Vec::new(), url_hash: last.url_hash };
                let all_of_them = segments.iter().map(|&segment| Arc::clone(segment));
                let next = SearchTask::new(Arc::clone(&plan), all_of_them, k, false).after(Some(after));
                let next = next.run(&Stop::default()).unwrap().hits;
                prop_assert_eq!(next, &all[best.len()..all.len().min(2 * best.len())], "{} of {}", k, typed);
            }
            check_all_ways(&index, &query, Ranking::TfIdf, k, 1 + k % 5);
        }
    }
}

/// Returns how many of the postings of a query were scored.
fn scored(build: BuildPlan, typed: &str) -> u64 {
    let index = build_index(&[documents(7)], build).unwrap();
    let query = parsed(typed, true, &index);
    let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
    let segments = all_segments(&index);
    let search = || top_of_partition(&plan, segments.iter().copied(), 10);
    let (_, profile) = profile(&plan, segments.iter().copied(), search).unwrap();
    profile.scored_count
}

#[test]
fn a_prior_leaves_postings_unscored() {
    let without = scored(BuildPlan::PLAIN, "w2 w5 w12");
    let small = scored(with_prior(0.05, 1.0), "w2 w5 w12");
    let great = scored(with_prior(50.0, 1.0), "w2 w5 w12");
    assert!(
        without <= small && small < great,
        "{without} {small} {great}"
    );
}
