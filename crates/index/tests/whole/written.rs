//! Words as written: the same however a segment came to be, and gone with the last document of their term.

use crate::built::{add, payloads};
use crate::fixture::{SMALL, fixture};
use document::Document;
use index::{BuildOptions, Field, Index, IndexError, OptimizeOptions, Writer, check, optimize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use text::{Closeness, Pattern};
use vfs::{MemoryStorage, SharedStorage};

fn document(number: usize) -> Document {
    let endings = ["s", "ed", "ing", "", "er"];
    let words = (0..number % 30).map(|at| {
        format!(
            "walk{}{} ",
            "abcde".repeat(at % 3),
            endings[(number + at) % 5]
        )
    });
    Document {
        url: format!("http://s{}.test/{number}", number % 5),
        title: "Policies Häuser"
            .split(' ')
            .nth(number % 2)
            .unwrap_or_default()
            .to_owned(),
        body: words.collect(),
        ..Document::default()
    }
}

fn options() -> BuildOptions {
    BuildOptions {
        analyzer: Some("standard2-en".parse().unwrap()),
        chunks: Some(2),
        ..BuildOptions::default()
    }
}

fn terms(index: &Index, field: Field, prefix: &str) -> Vec<(String, String)> {
    let pattern = Pattern::Prefix(prefix.to_owned());
    let found = index
        .statistics()
        .terms_as_written(field, &pattern)
        .unwrap();
    found
        .into_iter()
        .map(|found| (found.written, found.term))
        .collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let pairs = pairs.iter();
    pairs
        .map(|(written, term)| ((*written).to_owned(), (*term).to_owned()))
        .collect()
}

/// The slow twin orders all words that begin so.
#[test]
fn the_best_terms_of_a_beginning_are_those_of_all_its_words() {
    let storage = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(storage.clone());
    for from in (0..90).step_by(17) {
        add(&shared, (from..90.min(from + 17)).map(document), options());
    }
    // A word as written of one segment, whose term only another has in a title.
    for (number, title, body) in [(100, "", "flies"), (101, "Fly", ""), (102, "fly", "fly")] {
        let written = Document {
            title: title.to_owned(),
            body: body.to_owned(),
            ..document(number)
        };
        add(&shared, [written], options());
    }
    let index = Index::open(shared).unwrap();
    let statistics = index.statistics();
    let starts = [
        "w", "walk", "walka", "walking", "walked", "wakl", "p", "policies", "polici", "poilcy",
        "f", "flie", "flies", "flys", "x", "",
    ];
    for field in [Field::Text, Field::Title] {
        let patterns = starts
            .iter()
            .flat_map(|start| (0..=2).map(move |edits| (*start, edits)));
        for (start, edits) in patterns {
            let pattern = Pattern::near_start(start, edits);
            let mut all: BTreeMap<String, (Closeness, String)> = BTreeMap::new();
            for word in statistics
                .near_words(field, std::slice::from_ref(&pattern))
                .unwrap()
            {
                let found = (pattern.closeness(&word.written).unwrap(), word.written);
                let best = all.entry(word.term).or_insert_with(|| found.clone());
                *best = best.clone().min(found);
            }
            let mut expected: Vec<_> = all
                .into_iter()
                .map(|(term, (closeness, written))| {
                    let count = statistics.document_frequency(field, &term).unwrap();
                    (closeness, Reverse(count), term, written)
                })
                .filter(|(_, Reverse(count), ..)| *count > 0)
                .collect();
            expected.sort();
            for most in [1, 2, 3, 7, 50] {
                let nearest = statistics.nearest_terms(field, &pattern, most).unwrap();
                let found: Vec<_> = nearest
                    .into_iter()
                    .map(|one| {
                        (
                            one.closeness,
                            Reverse(one.document_frequency),
                            one.term,
                            one.written,
                        )
                    })
                    .collect();
                assert_eq!(
                    found,
                    expected[..most.min(expected.len())],
                    "{field:?} {start}~{edits} {most}"
                );
            }
        }
    }
}

#[test]
fn merged_segments_have_the_bytes_of_those_built_at_once() {
    let [once, merged] = [(); 2].map(|()| MemoryStorage::new());
    let [in_one, in_many]: [SharedStorage; 2] = [Arc::new(once.clone()), Arc::new(merged.clone())];
    add(&in_one, (0..60).map(document), options());
    for from in (0..60).step_by(9) {
        add(&in_many, (from..60.min(from + 9)).map(document), options());
    }
    optimize(in_many.clone(), &OptimizeOptions::default(), &|_| ()).unwrap();
    assert!(payloads(&once) == payloads(&merged));
    for storage in [in_one, in_many] {
        assert!(check(storage.clone(), 10).unwrap().1.is_empty());
        let index = Index::open(storage).unwrap();
        let expected = pairs(&[("policies", "polici")]);
        for field in [Field::Text, Field::Title] {
            assert_eq!(terms(&index, field, "policies"), expected);
        }
        assert_eq!(terms(&index, Field::Site, "policies"), []);
        // The stem of `walking` begins so itself.
        assert_eq!(terms(&index, Field::Text, "walk"), []);
    }
}

#[test]
fn words_go_with_the_last_document_of_their_term() {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    let of = |url: &str, body: &str| Document {
        url: url.to_owned(),
        body: body.to_owned(),
        ..Document::default()
    };
    // Replaced within the same commit.
    let documents = [
        ("u:1", "ponies"),
        ("u:1", "policies"),
        ("u:2", "policy"),
        ("u:3", "skies"),
    ];
    add(
        &storage,
        documents.map(|(url, body)| of(url, body)),
        options(),
    );
    let index = Index::open(storage.clone()).unwrap();
    assert_eq!(terms(&index, Field::Text, "ponies"), []);
    assert_eq!(
        terms(&index, Field::Text, "policies"),
        pairs(&[("policies", "polici")])
    );
    assert_eq!(
        terms(&index, Field::Text, "skies"),
        pairs(&[("skies", "sky")])
    );
    let mut writer = Writer::open(storage.clone(), options()).unwrap();
    for url in ["u:1", "u:3"] {
        writer.delete(url);
    }
    writer.commit().unwrap();
    optimize(storage.clone(), &OptimizeOptions::default(), &|_| ()).unwrap();
    assert!(check(storage.clone(), 10).unwrap().1.is_empty());
    let index = Index::open(storage).unwrap();
    assert_eq!(terms(&index, Field::Text, "skies"), []);
    // `policy` is left, and is found as `policies` was.
    assert_eq!(
        terms(&index, Field::Text, "policies"),
        pairs(&[("policies", "polici")])
    );
}

#[test]
fn an_index_of_before_has_terms_alone() {
    let index = Index::open(fixture(SMALL)).unwrap();
    assert_eq!(terms(&index, Field::Text, "t"), []);
}

#[test]
fn damage_is_refused_by_name() {
    let disk = MemoryStorage::new();
    let storage: SharedStorage = Arc::new(disk.clone());
    let options = BuildOptions {
        chunks: Some(1),
        ..options()
    };
    add(&storage, (0..9).map(document), options);
    let names = disk.files();
    let name = names.iter().find(|name| name.ends_with(".index")).unwrap();
    let whole = disk.read_raw(name).unwrap();
    let entry = b"policies\x00\x03";
    let at = whole
        .windows(entry.len())
        .position(|bytes| bytes == entry)
        .unwrap();
    for offset in at..at + entry.len() {
        let mut bytes = whole.clone();
        bytes[offset] ^= 1;
        disk.write_raw(name, bytes);
        let refused = Index::open(storage.clone()).and_then(|index| {
            let pattern = Pattern::Prefix("policies".to_owned());
            index.statistics().terms_as_written(Field::Text, &pattern)
        });
        match refused {
            Err(IndexError::Damaged { path, .. }) => assert!(path.ends_with(name), "{path:?}"),
            other => panic!("{other:?}"),
        }
        assert!(!check(storage.clone(), 10).unwrap().1.is_empty());
    }
    disk.write_raw(name, &whole[..whole.len() - 1]);
    assert!(Index::open(storage).is_err());
}
