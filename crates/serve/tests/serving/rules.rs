//! Rules of relevance over HTTP: set without indexing, searched with at once, refused with reasons, kept.

use crate::corpus::Searched;
use crate::http::Running;
use crate::processes::{Served, connect, file};
use crate::writing::{send, sent, total, writing};
use document::Document;
use fields::Rules;
use index::{BuildOptions, Index, Texts, Writer};
use serde_json::{Value, json};
use serve::{SearchOptions, Topology, io_runtime};
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

fn answer(server: &Running, parameters: &str) -> Value {
    serde_json::from_str(&server.get(&format!("/search?{parameters}")).body).unwrap()
}

#[test]
fn rules_are_replaced_and_obeyed_without_indexing() {
    for partitions in [1, 2] {
        let (storage, server) = writing(partitions, Texts::Stored);
        let document = |url, body| json!({ "url": url, "title": "t", "body": body }).to_string();
        let bodies = [
            document("u:tv", "a television set"),
            document("u:tube", "an old telly of new york"),
        ];
        sent(
            &server,
            "POST",
            "/documents?refresh=now",
            &bodies.join("\n"),
            200,
        );
        assert_eq!(sent(&server, "GET", "/rules", "", 200), json!({}));
        assert_eq!(total(&server, "telly"), 1);

        let rules = json!({ "synonyms": ["telly, television"], "stop_words": ["the"] });
        let set = sent(&server, "PUT", "/rules", &rules.to_string(), 200);
        assert_eq!(set["generation"], 3);
        assert_eq!(sent(&server, "GET", "/rules", "", 200), rules);
        assert_eq!(total(&server, "telly"), 2);
        assert_eq!(total(&server, "the+telly"), 2);
        assert_eq!(total(&server, "telly&rules=0"), 1);
        assert_eq!(total(&server, "%22telly%22"), 1);
        // The word as typed comes first, and synonyms are marked.
        let found = answer(&server, "q=telly&explain=1");
        assert_eq!(found["rules"], json!(["synonym: telly -> television"]));
        let hits: Vec<&str> = (found["hits"].as_array().unwrap().iter())
            .map(|hit| hit["url"].as_str().unwrap())
            .collect();
        assert_eq!(hits, ["u:tube", "u:tv"]);
        let summary = found["hits"][1]["summary"].as_str().unwrap();
        assert!(summary.contains("<mark>television</mark>"), "{summary}");
        let explanation = found["hits"][1]["explanation"].to_string();
        assert!(explanation.contains("telly -> television"), "{explanation}");
        assert_eq!(answer(&server, "q=telly").get("rules"), None);

        // Documents and merges keep them; other rules take their place.
        sent(
            &server,
            "POST",
            "/documents?refresh=now",
            &document("u:3", "television"),
            200,
        );
        assert_eq!(total(&server, "telly"), 3);
        sent(
            &server,
            "PUT",
            "/rules",
            "{\"synonyms\": [\"x -> new york\"]}",
            200,
        );
        assert_eq!((total(&server, "telly"), total(&server, "x")), (1, 1));
        assert_eq!(
            Index::open(storage.clone()).unwrap().rules().synonyms.len(),
            1
        );
        sent(&server, "PUT", "/rules", "{}", 200);
        assert_eq!(total(&server, "x"), 0);

        // A deletion by query deletes what it names.
        sent(&server, "PUT", "/rules", &rules.to_string(), 200);
        let deleted = sent(&server, "POST", "/delete-by-query?q=telly", "", 200);
        assert_eq!(deleted["deleted"], 1);

        drop(server);
        Writer::open(storage.clone(), Default::default())
            .unwrap()
            .commit()
            .unwrap();
        let kept = Index::open(storage).unwrap();
        assert_eq!(json!(**kept.rules()), rules);
    }
}

#[test]
fn rules_that_are_none_are_refused_with_their_place() {
    let (storage, server) = writing(1, Texts::Stored);
    let before = Index::open(storage.clone()).unwrap().generation();
    for (body, status, part) in [
        ("", 400, "no JSON object"),
        ("[]", 400, "body is no rules"),
        ("{\"synonyms\": [\"tv\"]}", 400, "names no synonym"),
        ("{\"pin\": []}", 400, "unknown field `pin`"),
        (&"x".repeat((1 << 19) + 1), 413, "262144"),
    ] {
        let refused = send(&server, "PUT", "/rules", "", body.as_bytes());
        assert_eq!(refused.status, status, "{}", refused.body);
        assert!(refused.body.contains(part), "{}", refused.body);
    }
    assert_eq!(Index::open(storage).unwrap().generation(), before);
    // Not at the public address.
    assert_eq!(server.get("/rules").status, 404);
}

#[test]
fn writers_at_once_get_one_set_of_rules_each() {
    let (storage, server) = writing(2, Texts::Stored);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let server = &server;
            scope.spawn(move || {
                let rules = json!({ "synonyms": [format!("w{number}, v{number}")] }).to_string();
                sent(server, "PUT", "/rules", &rules, 200);
                let document = json!({ "url": format!("u:w{number}"), "body": "w" }).to_string();
                sent(server, "POST", "/documents?refresh=now", &document, 200);
            });
        }
    });
    let index = Index::open(storage).unwrap();
    assert_eq!(index.rules().synonyms.len(), 1);
    assert_eq!(index.statistics().documents_count(), 16);
    assert_eq!(
        sent(&server, "GET", "/rules", "", 200),
        json!(**index.rules())
    );
}

#[test]
fn answers_of_processes_are_read_with_the_same_rules() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let page = |number: u8| format!("http://s{}.test/{number}", number % 5);
    let rules = json!({
        "stop_words": ["of"],
        "synonyms": ["tv, telly", "big apple -> new york"],
        "priors": [
            { "filter": "n:>2", "weight": 0.3 },
            { "site": "s1.test", "weight": 0.2 },
            { "field": "day", "half_days": 400, "weight": 1.5 },
            { "filter": "nofield:1", "weight": 1 },
        ],
        "pins": [{ "queries": ["TV!"], "first": [page(7), page(21), page(99)], "hidden": [page(14)] }],
    });
    let options = BuildOptions {
        chunks: Some(4),
        partitions: Some(2),
        rules: Some(Arc::new(
            Rules::of_json(rules.to_string().as_bytes()).unwrap(),
        )),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    let words = ["tv", "telly", "big", "apple", "new york", "of"];
    for number in 0..40 {
        let word = |at: usize| words[number * at % 7 % words.len()];
        let document = Document {
            url: format!("http://s{}.test/{number}", number % 5),
            title: format!("title {number}"),
            body: format!("{} {} {}", word(1), word(3), word(5)),
            fields: [
                ("n".to_owned(), (number % 6).into()),
                (
                    "day".to_owned(),
                    format!("20{:02}-01-01", number % 26).into(),
                ),
            ]
            .into_iter()
            .collect(),
            ..Document::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    let index = Arc::new(Index::open(storage).unwrap());
    let (first, second) = (
        Served::index_server(&index, 0..=1),
        Served::index_server(&index, 2..=3),
    );
    let texts = Served::document_server(&index, 0..=3);
    let file = file(
        4,
        vec![(0..=1, &first), (2..=3, &second)],
        vec![(0..=3, &texts)],
    );
    let runtime = io_runtime().unwrap();
    let apart = connect(&file, "rules", &runtime).unwrap();
    let together = Searched::start(index, &Topology::default());
    let options = SearchOptions {
        explain: true,
        k: 8,
        facets: vec!["n:terms".to_owned()],
        ..SearchOptions::default()
    };
    let several = [
        SearchOptions {
            per_site: 1,
            ..options.clone()
        },
        SearchOptions {
            collapse: "n".to_owned(),
            ..options.clone()
        },
        SearchOptions {
            filters: vec!["n:>1".to_owned()],
            start: 1,
            ..options.clone()
        },
        SearchOptions {
            rules: false,
            ..options.clone()
        },
        SearchOptions {
            sort: "n:desc".to_owned(),
            ..options.clone()
        },
        options,
    ];
    let mut pinned_count = 0;
    for query in ["tv", "\"tv\"", "of big apple", "nowhere", "telly new"] {
        for options in &several {
            let mut one = together.search(query, options).unwrap();
            let mut other = runtime.block_on(apart.search(query, options)).unwrap();
            (one.phases_us, other.phases_us) = Default::default();
            assert_eq!(one, other, "{query}");
            let told = one.rules.iter().filter(|rule| rule.starts_with("prior: "));
            assert_eq!(told.count(), if options.rules { 3 } else { 0 });
            let ignored = one
                .warnings
                .iter()
                .any(|text| text.contains("number 4 was ignored"));
            assert_eq!(ignored, options.rules, "{:?}", one.warnings);
            if query == "nowhere" {
                assert_eq!(one.total.value, 0);
            }
            pinned_count += one.hits.iter().filter(|hit| hit.pinned).count();
        }
    }
    // Two queries; one order pins nothing, and one search is without rules.
    assert!(pinned_count >= 10, "{pinned_count}");
}

#[test]
fn rules_that_name_no_field_are_told_and_ignored() {
    let (_, server) = writing(1, Texts::Stored);
    let rules = json!({ "priors": [{ "field": "published", "half_days": 3, "weight": 1 }] });
    let set = sent(&server, "PUT", "/rules", &rules.to_string(), 200);
    let told = set["warnings"][0].as_str().unwrap();
    assert!(told.contains("no field \"published\""), "{told}");
    let document = json!({ "url": "u:new", "body": "zebra", "published": "2026-01-01" });
    sent(
        &server,
        "POST",
        "/documents?refresh=now",
        &document.to_string(),
        200,
    );
    let found = answer(&server, "q=zebra&explain=1");
    assert_eq!(found["warnings"], json!([]));
    assert!(
        found["hits"][0]["explanation"]
            .to_string()
            .contains("prior of published")
    );
    let set = sent(&server, "PUT", "/rules", &rules.to_string(), 200);
    assert_eq!(set.get("warnings"), None);
}

#[test]
fn a_cursor_is_of_the_query_as_it_was_read() {
    let (_, server) = writing(1, Texts::Stored);
    let rules = json!({ "synonyms": ["alpha, beta"] }).to_string();
    sent(&server, "PUT", "/rules", &rules, 200);
    let first = answer(&server, "q=alpha&k=1&words=all&after=*");
    let after = first["after"].as_str().unwrap();
    let next = |more: &str| {
        server.get(&format!(
            "/search?q=alpha&k=1&words=all&after={after}{more}"
        ))
    };
    assert_eq!(next("").status, 200);
    assert_eq!(next("&rules=0").status, 400);
}
