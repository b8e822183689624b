//! Tests of the result cache: queries that mean the same share an answer, and only these.

use super::facet_bytes;
use crate::api::options::SearchOptions;
use crate::cluster::Cluster;
use crate::front_end::{FrontEnd, FrontEndOptions};
use crate::handlers::options::HandlerOptions;
use crate::in_process::partitioning::Topology;
use engine::{Generations, Returned};
use search::Operator;
use std::sync::Arc;
use vfs::MemoryStorage;
use wire::{FacetAnswer, FacetBucket, PhaseTimes, SearchAnswer};

fn front_end() -> FrontEnd {
    let storage = Arc::new(MemoryStorage::new());
    let mut writer = index::Writer::open(storage.clone(), Default::default()).unwrap();
    for (number, body) in ["moon landing", "moon", "the landing of a moon", "landing"]
        .iter()
        .enumerate()
    {
        let document = document::Document {
            url: format!("http://s{number}.example/"),
            body: (*body).to_owned(),
            ..Default::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    let generations = Generations::fixed(Arc::new(index::Index::open(storage).unwrap()));
    let handlers = HandlerOptions::default();
    let cluster = Cluster::in_process(&generations, &Topology::default(), &[], &handlers);
    let options = FrontEndOptions {
        cache_bytes: 1 << 20,
        ..FrontEndOptions::default()
    };
    FrontEnd::new(cluster.unwrap(), options)
}

fn options() -> SearchOptions {
    SearchOptions {
        operator: Operator::And,
        ..SearchOptions::default()
    }
}

/// Answers a query; returns the answer, and whether it came from the cache.
async fn answered(
    front_end: &FrontEnd,
    text: &str,
    options: &SearchOptions,
) -> (SearchAnswer, bool) {
    let hits = || front_end.cache_figures().unwrap().hits;
    let before = hits();
    let answer = front_end.search(text, options).await.unwrap();
    (answer, hits() > before)
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_that_parse_alike_share_an_answer() {
    let front_end = front_end();
    let (first, is_cached) = answered(&front_end, "moon landing", &options()).await;
    assert!(!is_cached && first.hits.len() == 2, "{first:?}");
    for text in [
        "moon landing",
        "  Moon   LANDING ",
        "+moon +landing",
        "moon AND landing",
    ] {
        let (answer, is_cached) = answered(&front_end, text, &options()).await;
        assert!(is_cached, "{text}");
        let expected = SearchAnswer {
            query: text.to_owned(),
            phases_us: answer.phases_us,
            ..first.clone()
        };
        assert_eq!(answer, expected);
        assert_eq!(
            answer.phases_us.index_search,
            PhaseTimes::default().index_search
        );
    }
    // An operator that makes the same query of the words.
    let any = SearchOptions {
        operator: Operator::Or,
        ..options()
    };
    let (_, is_cached) = answered(&front_end, "+moon +landing", &any).await;
    assert!(is_cached);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_answer_depends_on_is_in_the_key() {
    let front_end = front_end();
    answered(&front_end, "moon landing", &options()).await;
    let others: [(&str, SearchOptions); 9] = [
        ("landing moon", options()),
        ("\"moon landing\"", options()),
        ("moon landing \"", options()),
        ("moon landing", SearchOptions { k: 1, ..options() }),
        (
            "moon landing",
            SearchOptions {
                start: 1,
                ..options()
            },
        ),
        (
            "moon landing",
            SearchOptions {
                returned: Returned {
                    counted: false,
                    ..Returned::default()
                },
                ..options()
            },
        ),
        (
            "moon landing",
            SearchOptions {
                explain: true,
                ..options()
            },
        ),
        (
            "moon landing",
            SearchOptions {
                filters: vec!["site:s0.example".into()],
                ..options()
            },
        ),
        (
            "moon landing",
            SearchOptions {
                facets: vec!["site".into()],
                ..options()
            },
        ),
    ];
    for (text, options) in &others {
        let (fresh, is_cached) = answered(&front_end, text, options).await;
        assert!(!is_cached, "{text} {options:?}");
        let (again, is_cached) = answered(&front_end, text, options).await;
        assert!(is_cached, "{text} {options:?}");
        let expected = SearchAnswer {
            phases_us: again.phases_us,
            ..fresh
        };
        assert_eq!(again, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_shows_the_text_is_given_to_this_text_alone() {
    let front_end = front_end();
    let some = SearchOptions {
        operator: Operator::Auto,
        ..SearchOptions::default()
    };
    let (typed, _) = answered(&front_end, "moon landing", &some).await;
    assert!(
        typed.hits.iter().any(|hit| hit.lacks == ["landing"]),
        "{typed:?}"
    );
    let (other, is_cached) = answered(&front_end, "moon LANDING", &some).await;
    assert!(!is_cached && other.hits.iter().any(|hit| hit.lacks == ["LANDING"]));
    assert!(answered(&front_end, "moon LANDING", &some).await.1);
    // So is a correction.
    let suggest = SearchOptions {
        suggest: true,
        ..options()
    };
    assert!(!answered(&front_end, "lnding", &suggest).await.1);
    assert!(!answered(&front_end, "LNDING", &suggest).await.1);
    assert!(answered(&front_end, "LNDING", &suggest).await.1);
}

#[test]
fn facets_count_towards_the_memory_of_an_answer() {
    let facet = |facets: Vec<FacetAnswer>, filter: usize| FacetAnswer {
        buckets: vec![FacetBucket {
            filter: "x".repeat(filter),
            facets,
            ..FacetBucket::default()
        }],
        ..FacetAnswer::default()
    };
    let (flat, long) = (facet(Vec::new(), 0), facet(Vec::new(), 1_000));
    let within = facet(vec![flat.clone(), long.clone()], 0);
    assert_eq!(facet_bytes(&long), facet_bytes(&flat) + 1_000);
    assert_eq!(facet_bytes(&within), 3 * facet_bytes(&flat) + 1_000);
}
