//! Corrected queries: one answer in process, over gRPC and whatever the partitions; the parameters of the route.

use crate::corpus::{document as numbered, index};
use crate::http::{Running, options};
use crate::processes::{both_ways, end};
use document::Document;
use engine::Engine;
use proptest::prelude::*;
use serve::{SearchOptions, io_runtime};
use std::cell::RefCell;
use std::sync::Arc;
use testkit::{BuildPlan, build_index};
use wire::{PhaseTimes, SearchAnswer};

const WORDS: [&str; 8] = [
    "winter", "winters", "windows", "window", "snow", "show", "saturday", "sturdy",
];

const TYPED: [&str; 9] = [
    "wnter",
    "windwos snwo",
    "sturady",
    "saturdy show",
    "winter",
    "windows saturdy",
    "snow xyz",
    "\"wnter\"",
    "site:site1.test wnter",
];

fn timeless(answer: SearchAnswer) -> SearchAnswer {
    SearchAnswer {
        phases_us: PhaseTimes::default(),
        ..answer
    }
}

#[test]
fn corrections_are_the_same_in_process_over_grpc_and_for_any_partitions() {
    let runtime = io_runtime().unwrap();
    let config = ProptestConfig {
        cases: 8,
        max_shrink_iters: 10,
        ..ProptestConfig::default()
    };
    let running = RefCell::new(Vec::new());
    let word = prop::sample::select(&WORDS[..]);
    let texts = prop::collection::vec(prop::collection::vec(word, 1..4), 1..60);
    proptest!(config, |(texts in texts, correct in any::<bool>(), start in 0usize..4)| {
        let documents: Vec<Document> = (0..).zip(texts).map(|(number, words): (u32, _)| Document {
            url: format!("https://site{}.test/{number}", number % 3),
            body: words.join(" "),
            ..Document::default()
        }).collect();
        let batches: Vec<Vec<Document>> = documents.chunks(20).map(<[_]>::to_vec).collect();
        let built = |chunks| {
            let plan = BuildPlan { chunks, partitions: chunks, ..BuildPlan::PLAIN };
            Arc::new(build_index(&batches, plan).unwrap())
        };
        let (one, index) = (built(1), built(3));
        let (one, engine) = (Engine::from_index(one), Engine::from_index(index.clone()));
        let served = both_ways(&index, &runtime, &mut running.borrow_mut());
        let options = SearchOptions { correct, suggest: true, start, ..SearchOptions::default() };
        for typed in TYPED {
            let local = timeless(engine.search(typed, &options).unwrap());
            prop_assert_eq!(&local, &timeless(one.search(typed, &options).unwrap()), "{}", typed);
            for front_end in &served {
                let answer = runtime.block_on(front_end.search(typed, &options)).unwrap();
                prop_assert_eq!(&local, &timeless(answer), "{}", typed);
            }
        }
    });
    end(running.into_inner());
}

#[test]
fn corrections_over_http() {
    let documents = (0..12).map(|n| numbered(n, (n % 2) as u8, 3));
    let server = Running::start(index(documents, 3), &options(2));
    let answer =
        |target: &str| -> SearchAnswer { serde_json::from_str(&server.get(target).body).unwrap() };
    let corrected = answer("/search?q=aplha&k=5&facet=site");
    assert_eq!(
        (corrected.query.as_str(), corrected.corrected.as_deref()),
        ("aplha", Some("alpha"))
    );
    let direct = answer("/search?q=alpha&k=5&facet=site");
    assert_eq!((direct.total.value, direct.corrected), (12, None));
    assert_eq!(
        (&corrected.hits, &corrected.facets),
        (&direct.hits, &direct.facets)
    );
    let second = answer("/search?q=aplha&k=5&start=5");
    assert_eq!(second.hits, answer("/search?q=alpha&k=5&start=5").hits);
    let phases = corrected.phases_us;
    assert!(phases.spelling > 0, "{phases:?}");
    let body = r#"{"q":"aplha","correct":false}"#;
    let head = format!(
        "POST /search HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let posted = server.raw((head + body).as_bytes());
    let posted: SearchAnswer = serde_json::from_str(&posted.body).unwrap();
    assert_eq!((posted.total.value, posted.corrected), (0, None));
    let offered = answer("/search?q=aplha&correct=0&suggest=1");
    assert_eq!(offered.did_you_mean.unwrap().query, "alpha");
    let traced = answer("/search?q=aplha&trace=1");
    let steps = traced.trace.unwrap();
    assert!(
        steps.iter().any(|step| step.name == "spelling"),
        "{steps:?}"
    );
    let page = server.get("/?q=aplha").body;
    assert!(
        page.contains("Showing results for <b dir=\"auto\">alpha</b>"),
        "{page}"
    );
    assert!(page.contains("href=\"./?q=aplha&#38;correct=0\""), "{page}");
    let page = server.get("/?q=aplha&correct=0").body;
    assert!(
        page.contains("Did you mean <a href=\"./?q=alpha&#38;correct=0\">"),
        "{page}"
    );
}
