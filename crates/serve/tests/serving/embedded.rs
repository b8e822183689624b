//! Equality of the answers of the embedded engine and of a front-end with servers.
use crate::corpus::{Searched, document, index, refined};
use engine::{Engine, Returned};
use proptest::prelude::*;
use search::Operator;
use serve::{SearchOptions, Topology};
use wire::{PhaseTimes, SearchAnswer};

/// Returns an answer without its times.
fn timeless(mut answer: SearchAnswer) -> SearchAnswer {
    answer.phases_us = PhaseTimes::default();
    answer
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_engine_answers_as_the_servers_do(
        documents in prop::collection::vec((0u8..6, 1u8..64), 2..80),
        chunks in 1u32..4,
        (start, k, per_site) in (0usize..12, 1usize..12, 0u32..4),
        (explain, counted, suggest, correct) in any::<(bool, bool, bool, bool)>(),
        operator in prop::sample::select(&Operator::NAMED[..]),
        (filters, facets, sort) in refined(),
    ) {
        let documents = documents.into_iter().enumerate();
        let index = index(documents.map(|(n, (site, words))| document(n, site, words)), chunks);
        let several = Topology {
            partitions: chunks as usize,
            handlers: 1,
            ..Topology::default()
        };
        let several = Searched::start(index.clone(), &several);
        let topology = Topology {
            partitions: 1,
            handlers: 1,
            ..Topology::default()
        };
        let servers = Searched::start(index.clone(), &topology);
        let engine = Engine::from_index(index);
        let options = SearchOptions {
            start,
            k,
            per_site,
            explain,
            returned: Returned { counted, ..Returned::default() },
            suggest,
            correct,
            operator: operator.1,
            filters,
            facets,
            sort,
            ..SearchOptions::default()
        };
        for query in ["alpha", "alpha beta", "gamma -delta", "\"alpha beta\"", "om* zeta", "nothing", "(", "alpha nothing", "alpha beta gamma delta", "+zeta alpha beta -omega", "site:site1.example alpha"] {
            let served = timeless(servers.search(query, &options).unwrap());
            let answer = timeless(engine.search(query, &options).unwrap());
            prop_assert_eq!(&answer, &served, "{}", query);
            // The layout of an index is in no facet and no order.
            let served = several.search(query, &options).unwrap();
            prop_assert_eq!(&answer.facets, &served.facets, "{}", query);
            let hits = |answer: &SearchAnswer| -> Vec<_> {
                answer.hits.iter().map(|hit| (hit.url.clone(), hit.sort.clone())).collect()
            };
            prop_assert_eq!(hits(&answer), hits(&served), "{}", query);
        }
    }

    #[test]
    fn corrections_find_something_wherever_the_words_are(
        documents in prop::collection::vec((0u8..6, 1u8..64), 1..60),
        chunks in 1u32..5,
        partitions in 1u32..5,
        operator in prop::sample::select(&Operator::NAMED[..]),
        correct in any::<bool>(),
    ) {
        let documents = documents.into_iter().enumerate();
        let index = index(documents.map(|(n, (site, words))| document(n, site, words)), chunks);
        let topology = Topology {
            partitions: partitions.min(chunks) as usize,
            ..Topology::default()
        };
        let servers = Searched::start(index.clone(), &topology);
        let engine = Engine::from_index(index);
        let options = SearchOptions {
            suggest: true,
            correct,
            operator: operator.1,
            ..SearchOptions::default()
        };
        for query in ["aplha", "gama delta", "alpah betta", "omgea  zetta text", "alpha beta gamma delta", "xylophone", "Zeta", "zeta -alpha"] {
            let answer = engine.search(query, &options).unwrap();
            prop_assert_eq!(&timeless(servers.search(query, &options).unwrap()), &timeless(answer.clone()), "{}", query);
            let as_typed = SearchOptions { correct: false, suggest: false, ..options.clone() };
            if answer.corrected.is_some() {
                prop_assert!(!answer.hits.is_empty());
                prop_assert!(engine.search(query, &as_typed).unwrap().hits.is_empty());
            }
            let Some(better) = answer.did_you_mean else { continue };
            prop_assert!(!engine.search(&better.query, &as_typed).unwrap().hits.is_empty());
            let all = SearchOptions { operator: Operator::And, ..as_typed };
            let found = engine.search(&better.query, &all).unwrap();
            prop_assert_eq!(found.total, better.total, "{} for {}", better.query, query);
        }
    }
}

#[test]
fn too_many_buckets_within_buckets_are_refused_by_name() {
    let documents = (0..350).map(|n| {
        let tags = (0..300).map(|tag| json::Value::from(format!("t{tag}")));
        let mut fields = json::Map::new();
        fields.insert("tags".into(), tags.collect::<Vec<_>>().into());
        document::Document {
            url: format!("https://site{n}.example/"),
            body: "alpha".into(),
            fields,
            ..Default::default()
        }
    });
    let index = index(documents, 3);
    let several = Topology {
        partitions: 3,
        handlers: 1,
        ..Topology::default()
    };
    let (servers, engine) = (
        Searched::start(index.clone(), &several),
        Engine::from_index(index),
    );
    let options = |facet: &str| SearchOptions {
        facets: vec![facet.into()],
        ..SearchOptions::default()
    };
    let few = options("site:terms:300{tags:terms:2}");
    let answer = engine.search("alpha", &few).unwrap();
    let [first, .., last] = &answer.facets[0].buckets[..] else {
        panic!("several sites");
    };
    assert_eq!((answer.facets[0].others, first.count), (50, 1));
    assert_eq!(last.facets[0].distinct, Some(300));
    assert_eq!(servers.search("alpha", &few).unwrap().facets, answer.facets);
    for many in ["site:terms:350{tags:terms:2}", "tags:terms:300{site,tags}"] {
        let refused = [
            engine
                .search("alpha", &options(many))
                .unwrap_err()
                .to_string(),
            servers
                .search("alpha", &options(many))
                .unwrap_err()
                .to_string(),
        ];
        for refused in refused {
            let said = "facet: more than 100,000 buckets within buckets, the limit of one request; ask for fewer values";
            assert!(refused.starts_with(said), "{refused}");
        }
    }
}
