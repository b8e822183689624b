//! Hits collapsed by a field: the best of each value, and the number of those that it hides.

use engine::{Engine, SearchOptions};
use index::{BuildOptions, Writer};
use serde_json::json;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

/// Returns an engine over `count` documents of the word `alpha`, the later the less: every third has no `maker`, the others one
/// of `makers`.
fn products(count: usize, makers: usize) -> (Engine, SharedStorage) {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    for number in 0..count {
        let filling = "filling ".repeat(2 * number);
        let mut document = document::Document {
            url: format!("https://shop.example/{number}"),
            // As long as with a maker.
            body: match number % 3 {
                0 => format!("alpha as long {filling}"),
                _ => format!("alpha {filling}"),
            },
            ..document::Document::default()
        };
        if number % 3 > 0 {
            let maker = json!(format!("maker {}", number % makers));
            document.fields.insert("maker".into(), maker.into());
        }
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    (Engine::open_in(storage.clone()).unwrap(), storage)
}

fn by_maker(start: usize, k: usize) -> SearchOptions {
    SearchOptions {
        start,
        k,
        collapse: "maker".to_owned(),
        ..SearchOptions::default()
    }
}

#[test]
fn the_best_of_each_value_is_listed_with_the_number_that_it_hides() {
    let (engine, _storage) = products(60, 2);
    let answer = engine.search("alpha", &by_maker(0, 10)).unwrap();
    let shown: Vec<(&str, u64)> = (answer.hits.iter())
        .map(|hit| (hit.url.rsplit('/').next().unwrap(), hit.hidden))
        .collect();
    // Documents without a value hide nothing, and are not hidden.
    assert_eq!(
        shown,
        [
            ("0", 0),
            ("1", 19),
            ("2", 19),
            ("3", 0),
            ("6", 0),
            ("9", 0),
            ("12", 0),
            ("15", 0),
            ("18", 0),
            ("21", 0)
        ]
    );
    assert_eq!((answer.total.value, answer.more_hits), (60, true));
    let last = engine.search("alpha", &by_maker(20, 10)).unwrap();
    assert_eq!((last.hits.len(), last.more_hits), (2, false));
    assert_eq!(last.hits[1].url, "https://shop.example/57");
}

#[test]
fn pages_of_any_size_are_slices_of_one_list() {
    let (engine, _storage) = products(90, 7);
    let urls = |start, k| -> Vec<String> {
        let answer = engine.search("alpha", &by_maker(start, k)).unwrap();
        answer.hits.into_iter().map(|hit| hit.url).collect()
    };
    let all = urls(0, 1_000);
    assert_eq!(all.len(), 30 + 7);
    for k in [1, 2, 5, 36] {
        let pages = (0..all.len()).step_by(k).flat_map(|start| urls(start, k));
        assert_eq!(pages.collect::<Vec<_>>(), all, "k {k}");
    }
}

#[test]
fn hits_of_another_order_are_collapsed_in_it() {
    let (engine, _storage) = products(60, 2);
    let options = SearchOptions {
        sort: "maker:desc:first".to_owned(),
        ..by_maker(0, 100)
    };
    let answer = engine.search("alpha", &options).unwrap();
    assert_eq!(answer.hits.len(), 22);
    let values: Vec<_> = answer.hits[20..]
        .iter()
        .map(|hit| hit.sort[0].clone())
        .collect();
    assert_eq!(values, [json!("maker 1"), json!("maker 0")]);
    assert!(answer.hits[20..].iter().all(|hit| hit.hidden == 19));
}

#[test]
fn a_field_that_no_document_has_is_refused_with_those_that_there_are() {
    let (engine, _storage) = products(4, 2);
    let options = SearchOptions {
        collapse: "brand".to_owned(),
        ..SearchOptions::default()
    };
    let error = engine.search("alpha", &options).unwrap_err().to_string();
    assert!(
        error.contains("no field `brand`") && error.contains("maker, site, text"),
        "{error}"
    );
}

#[test]
fn equal_texts_are_one_whatever_segments_they_are_in() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let commit = |from: usize| {
        let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
        for number in from..from + 6 {
            let mut add = |path: &str, title: &str, body: &str| {
                let document = document::Document {
                    url: format!("https://docs.example/{path}/{number}"),
                    title: title.to_owned(),
                    body: body.to_owned(),
                    ..document::Document::default()
                };
                writer.add(document).unwrap();
            };
            // One text under many addresses, texts of their own, and titles alone.
            add("copy", "Install", "alpha beta gamma");
            add("own", "Install", &format!("alpha beta number{number}"));
            add("name", "alpha", "");
        }
        writer.commit().unwrap();
    };
    commit(0);
    commit(6);
    let options = SearchOptions {
        k: 100,
        collapse: "text".to_owned(),
        ..SearchOptions::default()
    };
    let found = || {
        let engine = Engine::open_in(storage.clone()).unwrap();
        let answer = engine.search("alpha", &options).unwrap();
        let hits = answer.hits.into_iter().map(|hit| (hit.url, hit.hidden));
        (
            hits.collect::<Vec<_>>(),
            answer.total.value,
            answer.hides_some,
        )
    };
    let (hits, total, hides_some) = found();
    assert_eq!((hits.len(), total, hides_some), (1 + 12 + 12, 36, true));
    let hidden: Vec<&(String, u64)> = hits.iter().filter(|(_, hidden)| *hidden > 0).collect();
    assert!(
        matches!(hidden[..], [(url, 11)] if url.contains("/copy/")),
        "{hidden:?}"
    );
    index::optimize(storage.clone(), &index::OptimizeOptions::default(), &|_| {}).unwrap();
    assert_eq!(found(), (hits, total, hides_some));
}
