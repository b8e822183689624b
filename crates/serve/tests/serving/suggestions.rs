//! Searches while they are typed: one answer in process and over gRPC, which is the oracle's; the route.

use crate::corpus::{document as numbered, index};
use crate::http::{Running, options};
use crate::processes::{both_ways, end};
use document::Document;
use engine::{Engine, SuggestAnswer, TITLES_K_MAX};
use index::{Field, Index};
use proptest::prelude::*;
use search::parse::words_begun;
use search::{Operator, Query, Ranking, words_as_you_type};
use serve::{SearchOptions, io_runtime};
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;
use testkit::{BuildPlan, Oracle, build_index};
use text::folded_words;

const TITLE_WORDS: [&str; 8] = [
    "winter", "winters", "windows", "how", "to", "make", "snow", "<b>",
];

const TYPED: [&str; 12] = [
    "how to",
    "how to ",
    "wnter",
    "winter",
    "win",
    "w",
    "snow how",
    "mkae snow",
    "makee",
    "to make wimters",
    "<b> snow",
    "?",
];

/// Returns documents, some of the same title.
fn documents() -> impl Strategy<Value = Vec<Document>> {
    let word = prop::sample::select(&TITLE_WORDS[..]);
    let title = prop::collection::vec(word, 0..4).prop_map(|words| words.join(" "));
    prop::collection::vec(title, 1..60).prop_map(|titles| {
        let documents = (0..).zip(titles);
        documents
            .map(|(number, title): (u32, String)| Document {
                url: format!("https://site{}.test/{number}", number % 5),
                title,
                body: "how snow is made in winter".to_owned(),
                ..Document::default()
            })
            .collect()
    })
}

fn timeless(mut answer: SuggestAnswer) -> SuggestAnswer {
    answer.total_us = 0;
    answer
}

/// Titles by the definition, from the rankings of the oracle.
fn expected(oracle: &Oracle, of: &[Document], typed: &str, k: usize, index: &Index) -> Vec<String> {
    let mut start = folded_words(typed);
    let edits = u8::from(start.chars().count() >= 4);
    if !typed.ends_with(char::is_alphanumeric) {
        start.push(' ');
    }
    let words = words_as_you_type(Field::Title, typed, index.analyzer(), Operator::And);
    let start = |edits| Query::TitleStart {
        start: start.clone(),
        edits,
    };
    let queries = [
        start(0),
        words_begun(Field::Title, typed, index.analyzer()),
        start(edits),
        words.some_words.unwrap_or(words.query),
    ];
    // A text without a word has no beginning.
    let skipped = if folded_words(typed).is_empty() {
        queries.len()
    } else {
        0
    };
    let queries = &queries[skipped..];
    let mut known = HashSet::new();
    let ranked = queries
        .iter()
        .flat_map(|query| oracle.rank(query, Ranking::default()));
    let titles = ranked.map(|hit| {
        let document = of.iter().find(|one| one.url == hit.url);
        document.expect("a document of the index").title.clone()
    });
    titles
        .filter(|title| !title.is_empty() && known.insert(title.clone()))
        .take(k)
        .collect()
}

#[test]
fn titles_are_the_same_in_process_and_over_grpc() {
    let runtime = io_runtime().unwrap();
    let config = ProptestConfig {
        cases: 12,
        max_shrink_iters: 10,
        ..ProptestConfig::default()
    };
    let running = RefCell::new(Vec::new());
    proptest!(config, |(documents in documents(), k in 1usize..8)| {
        let plan = BuildPlan { chunks: 3, partitions: 3, ..BuildPlan::PLAIN };
        let batches: Vec<Vec<Document>> = documents.chunks(20).map(<[_]>::to_vec).collect();
        let index = Arc::new(build_index(&batches, plan).unwrap());
        let oracle = Oracle::new(&batches, index.analyzer(), index.fields());
        let engine = Engine::from_index(index.clone());
        let served = both_ways(&index, &runtime, &mut running.borrow_mut());
        for typed in TYPED {
            let local = timeless(engine.titles(typed, k).unwrap());
            for front_end in &served {
                let answer = runtime.block_on(front_end.titles(typed, k, None)).unwrap();
                prop_assert_eq!(&local, &timeless(answer), "{}", typed);
            }
            let titles: Vec<String> = local.titles.iter().map(|one| one.title.clone()).collect();
            let of_oracle = expected(&oracle, &documents, typed, k, &index);
            prop_assert_eq!(titles, of_oracle, "{}", typed);
            let options = SearchOptions { as_you_type: true, ..SearchOptions::default() };
            let scored = |answer: wire::SearchAnswer| -> Vec<(String, u32)> {
                let hits = answer.hits.into_iter();
                hits.map(|hit| (hit.url, hit.score.to_bits())).collect()
            };
            let local = scored(engine.search(typed, &options).unwrap());
            for front_end in &served {
                let answer = runtime.block_on(front_end.search(typed, &options)).unwrap();
                prop_assert_eq!(&local, &scored(answer), "{}", typed);
            }
        }
    });
    end(running.into_inner());
}

#[test]
fn suggestions_over_http() {
    let documents = (0..12).map(|n| Document {
        title: format!("Windows & winters <{}>", n % 6),
        ..numbered(n, 0, 3)
    });
    let server = Running::start(index(documents, 3), &options(2));
    let response = server.get("/suggest?q=windows+%26+wint&k=4");
    let answer: SuggestAnswer = serde_json::from_str(&response.body).unwrap();
    assert_eq!(answer.query, "windows & wint");
    assert_eq!(answer.titles.len(), 4);
    for one in &answer.titles {
        let escaped = one
            .title
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let plain = one.title_html.replace("<mark>", "").replace("</mark>", "");
        assert_eq!(plain, escaped);
        assert!(
            one.title_html
                .starts_with("<mark>Windows</mark> &amp; <mark>winters</mark> ")
        );
        assert!(one.url.starts_with("https://site0.example/"));
    }
    let none: SuggestAnswer = serde_json::from_str(&server.get("/suggest?q=").body).unwrap();
    assert!(none.titles.is_empty());
    for (target, parameter) in [
        ("/suggest", "q: "),
        ("/suggest?q=a&start=3", "start"),
        ("/suggest?q=a&k=many", "k: "),
        (&format!("/suggest?q=a&k={}", TITLES_K_MAX + 1), "k: "),
    ] {
        let refused = server.get(target);
        assert!(refused.head.starts_with("http/1.1 400"), "{}", refused.head);
        assert!(refused.body.contains(parameter), "{}", refused.body);
    }
    let found = server.get("/search?q=tex&as_you_type=1");
    assert!(found.body.contains("<mark>text</mark>"), "{}", found.body);
    let found = server.get("/search?q=tex&as_you_type=0&correct=0");
    assert!(found.body.contains("\"value\":0"), "{}", found.body);
}
