//! Documents with huge values: every page that holds them is answered, with values cut and marked.

use crate::corpus::{document, index};
use crate::http::{Running, options};
use ::document::Document;
use serde_json::{Value, json};
use serve::{FrontEndOptions, ServeOptions};
use std::time::Duration;

const HUGE: usize = 5 << 20;

/// Ordinary documents, and some whose every part is huge.
fn start() -> Running {
    let huge = |name: &str| Document {
        url: format!("https://site9.example/{name}"),
        title: "alpha".into(),
        body: "alpha omega".into(),
        ..Document::default()
    };
    let fields = |value: Value| match json::Value::from(value) {
        json::Value::Object(fields) => fields,
        other => panic!("{other}"),
    };
    let documents = [
        Document {
            id: Some("i".repeat(HUGE)),
            ..huge("id")
        },
        Document {
            title: "alpha ".repeat(HUGE / 6),
            ..huge("title")
        },
        Document {
            fields: fields(json!({ "blob": "b".repeat(HUGE), "lang": "en" })),
            ..huge("text")
        },
        Document {
            fields: fields(json!({ "blob": vec!["word"; HUGE / 7], "lang": "en" })),
            ..huge("list")
        },
        Document {
            fields: fields(
                json!({ "blob": { "deep": { "x": "\u{1}".repeat(HUGE / 6) } }, "lang": "en" }),
            ),
            ..huge("object")
        },
        Document {
            fields: (0..20_000)
                .map(|n| (format!("f{n}"), "value".into()))
                .chain([("lang".to_owned(), "en".into())])
                .collect(),
            ..huge("many")
        },
    ];
    let ordinary = (0..40).map(|n| document(n, (n % 4) as u8, 0b11));
    let front_end = FrontEndOptions {
        // A busy machine takes its time, and an answer in part would show no values.
        timeout: Duration::from_secs(120),
        ..FrontEndOptions::default()
    };
    let options = ServeOptions {
        front_end,
        ..options(4)
    };
    Running::start(index(ordinary.chain(documents), 4), &options)
}

#[test]
fn pages_that_hold_huge_values_are_answered() {
    let server = start();
    for target in [
        "/search?q=alpha",
        "/search?q=alpha&k=1000&per_site=0",
        "/search?q=alpha&k=1000&per_site=0&fields=*",
        "/search?q=alpha&k=1000&per_site=0&fields=lang",
        "/search?q=omega&k=1&fields=*",
        "/search?q=omega&k=1&start=3",
        "/?q=alpha&k=1000&per_site=0",
        "/?q=omega",
    ] {
        let answered = server.get(target);
        assert_eq!(answered.status, 200, "{target}: {:.300}", answered.body);
        assert!(answered.body.len() < 4 << 20, "{target}");
    }
}

#[test]
fn what_was_cut_is_marked_and_the_rest_is_whole() {
    let server = start();
    let answer = server.get("/search?q=omega&k=100&per_site=0&fields=*").body;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let hit = |name: &str| {
        let hits = answer["hits"].as_array().unwrap().iter();
        let url = format!("https://site9.example/{name}");
        let hit = hits.clone().find(|hit| hit["url"] == url);
        hit.unwrap_or_else(|| panic!("{name}: {:.1000}", answer.to_string()))
            .clone()
    };
    let id = hit("id");
    assert_eq!(id["cut"], json!(["id"]));
    let shown = id["id"].as_str().unwrap();
    assert!(
        shown.ends_with("ii…") && shown.len() < 2_100,
        "{}",
        shown.len()
    );
    assert_eq!(hit("title")["cut"], json!(["title"]));
    for (name, end) in [("text", "b…"), ("list", ""), ("object", "")] {
        let hit = hit(name);
        assert_eq!(
            (&hit["cut"], &hit["fields"]["lang"]),
            (&json!(["blob"]), &json!("en")),
            "{name}"
        );
        let blob = &hit["fields"]["blob"];
        assert!(
            blob.to_string().contains('…') && blob.to_string().len() < 300_000,
            "{name}"
        );
        assert!(blob.as_str().is_none_or(|text| text.ends_with(end)));
    }
    assert_eq!(hit("many")["fields"]["lang"], "en");
    // What is not asked for is not told as cut.
    let few = server
        .get("/search?q=omega&k=100&per_site=0&fields=lang")
        .body;
    let few: Value = serde_json::from_str(&few).unwrap();
    for hit in few["hits"].as_array().unwrap() {
        let cut = hit["cut"].as_array().map_or(0, Vec::len);
        let url = hit["url"].as_str().unwrap();
        assert_eq!(
            cut,
            usize::from(url.ends_with("/id") || url.ends_with("/title")),
            "{url}"
        );
    }
    // The document itself is whole.
    let whole = server
        .get("/document?url=https://site9.example/text&format=json")
        .body;
    assert!(whole.len() > HUGE);
}
