//! Tests of the collection: one document for each text, facts after restarts, and independence from order.

use super::*;
use crate::frontier::{WarcPlace, origin_of, url_hash};
use crate::reading::TextShape;
use corpus::Document;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

fn facts(url: &str, text: u128, links: &[&str]) -> PageFacts {
    PageFacts {
        url: url.to_owned(),
        text_hash: text,
        shape: TextShape {
            simhash: text as u64,
            words_count: 100,
            blocks: vec![7, text as u64 + 100],
        },
        may_be_found: text != 0,
        place: WarcPlace::default(),
        links: links
            .iter()
            .map(|link| (url_hash(link), format!("to {link}")))
            .collect(),
    }
}

fn document(url: &str) -> Document {
    Document {
        url: url.to_owned(),
        ..Document::default()
    }
}

/// Index in memory: the fields of each document.
type Documents = BTreeMap<String, serde_json::Map<String, serde_json::Value>>;

fn write(collection: &mut Collection, documents: &mut Documents) {
    for write in collection.take_writes() {
        match write {
            Write::Add(document) => {
                let document = document.unpacked();
                documents.insert(document.url, document.fields);
            }
            Write::Delete(url) => {
                documents.remove(&url);
            }
        }
    }
    collection.committed().unwrap();
}

fn commit(collection: &mut Collection, documents: &mut Documents, settles: bool) {
    let again = match settles {
        true => collection.settle().unwrap(),
        false => collection.take_awaiting().unwrap(),
    };
    for hash in again {
        let facts = collection.facts(hash).unwrap();
        let origin = origin_of(&facts.url).unwrap();
        let templates = collection.templates_of(origin);
        let digest = templates_digest(&facts.shape.blocks, templates.as_deref());
        collection.read_again(hash, document(&facts.url), digest);
    }
    write(collection, documents);
}

fn add(collection: &mut Collection, page: &PageFacts) {
    let document = page.may_be_found.then(|| document(&page.url));
    collection.page(page, document, 0).unwrap();
}

#[test]
fn one_page_stands_for_a_text_and_the_next_when_it_is_gone() {
    let (mut collection, _) = Collection::open(Arc::new(MemoryStorage::new()), (0, 0)).unwrap();
    let mut documents = Documents::new();
    let urls = [
        "http://a.test/long",
        "http://a.test/x",
        "http://b.test/other",
    ];
    add(&mut collection, &facts(urls[0], 5, &[]));
    commit(&mut collection, &mut documents, false);
    add(&mut collection, &facts(urls[1], 5, &[]));
    add(&mut collection, &facts(urls[2], 6, &[urls[0]]));
    commit(&mut collection, &mut documents, true);
    assert_eq!(documents.keys().collect::<Vec<_>>(), [urls[1], urls[2]]);
    // A link to a duplicate is one to the page that stands for it.
    assert_eq!(documents[urls[1]]["anchors"], format!("to {}", urls[0]));
    assert_eq!(collection.represented_by(urls[0]), Some(urls[1]));
    collection.gone(urls[1]).unwrap();
    commit(&mut collection, &mut documents, false);
    assert_eq!(documents.keys().collect::<Vec<_>>(), [urls[0], urls[2]]);
    // Another text: both are documents again.
    add(&mut collection, &facts(urls[1], 5, &[]));
    commit(&mut collection, &mut documents, false);
    add(&mut collection, &facts(urls[1], 8, &[]));
    commit(&mut collection, &mut documents, false);
    assert_eq!(documents.len(), 3);
}

#[test]
fn near_texts_share_a_group() {
    let (mut collection, _) = Collection::open(Arc::new(MemoryStorage::new()), (0, 0)).unwrap();
    let mut documents = Documents::new();
    for (url, text) in [
        ("http://a.test/1", 0xff00),
        ("http://a.test/2", 0xff03),
        ("http://a.test/3", 1 << 40),
    ] {
        add(&mut collection, &facts(url, text, &[]));
    }
    commit(&mut collection, &mut documents, true);
    let group = |url: &str| documents[url].get("group").cloned();
    assert!(group("http://a.test/1").is_some());
    assert_eq!(group("http://a.test/1"), group("http://a.test/2"));
    assert_eq!(group("http://a.test/3"), None);
}

#[test]
fn pages_after_templates_were_learnt_are_read_once() {
    let (mut collection, _) = Collection::open(Arc::new(MemoryStorage::new()), (0, 0)).unwrap();
    let pages: Vec<PageFacts> = (1..=200)
        .map(|page| facts(&format!("http://a.test/{page}"), page, &[]))
        .collect();
    let mut learnt_at = Vec::new();
    for (number, page) in pages.iter().enumerate() {
        let templates = collection.templates_of("http://a.test");
        let digest = templates_digest(&page.shape.blocks, templates.as_deref());
        let document = Document {
            body: format!("word {number} ").repeat(100),
            ..document(&page.url)
        };
        collection.page(page, Some(document), digest).unwrap();
        if collection.is_learning_due() {
            collection.learn_templates().unwrap();
            learnt_at.push(number + 1);
        }
    }
    assert_eq!(learnt_at, [64, 128]);
    assert_eq!(collection.settle().unwrap().len(), 64);
    let bodies = collection
        .take_writes()
        .into_iter()
        .filter_map(|write| match write {
            Write::Add(document) => {
                let document = document.unpacked();
                Some((document.url, document.body))
            }
            Write::Delete(_) => None,
        });
    let bodies: BTreeMap<String, String> = bodies.collect();
    assert_eq!(bodies.len(), 200);
    assert_eq!(bodies["http://a.test/8"], "word 7 ".repeat(100));
}

#[test]
fn documents_that_take_too_much_memory_are_read_again() {
    let (mut collection, _) = Collection::open(Arc::new(MemoryStorage::new()), (0, 0)).unwrap();
    let mut documents = Documents::new();
    let urls = ["http://a.test/1", "http://a.test/2"];
    add(&mut collection, &facts(urls[0], 5, &[]));
    commit(&mut collection, &mut documents, true);
    // One that the index has, and one that it does not have.
    add(&mut collection, &facts(urls[0], 6, &[]));
    add(&mut collection, &facts(urls[1], 7, &[]));
    collection.drop_new_documents();
    let waiting = collection.take_writes();
    let [Write::Add(waiting)] = <[Write; 1]>::try_from(waiting).ok().unwrap() else {
        panic!("an addition");
    };
    assert_eq!(waiting.unpacked().url, urls[0]);
    assert_eq!(collection.take_awaiting().unwrap(), [url_hash(urls[1])]);
}

/// Change of a page: its number, its text (0: gone), its links.
type Step = (u8, u8, Vec<u8>);

fn url(page: u8) -> String {
    format!("http://h{}.test/{page}", page % 3)
}

fn apply(collection: &mut Collection, (page, text, links): &Step) {
    let links: Vec<String> = links.iter().map(|link| url(*link)).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    match text {
        0 => collection.gone(&url(*page)).unwrap(),
        text => add(collection, &facts(&url(*page), u128::from(*text), &links)),
    }
}

proptest! {
    /// Whatever the order, the commits and the restarts: after settling the documents are those of the set of pages.
    #[test]
    fn documents_depend_on_the_set_of_pages_alone(
        steps in prop::collection::vec((0u8..12, 0u8..9, prop::collection::vec(0u8..12, 0..4)), 1..40),
        breaks in prop::collection::vec((0usize..40, 0u8..5), 0..6),
    ) {
        let storage: SharedStorage = Arc::new(MemoryStorage::new());
        let (mut collection, _) = Collection::open(storage.clone(), (0, 0)).unwrap();
        let (mut documents, mut last) = (Documents::new(), BTreeMap::new());
        for (at, step) in steps.iter().enumerate() {
            apply(&mut collection, step);
            last.insert(step.0, step.clone());
            match breaks.iter().find(|(when, _)| *when == at) {
                Some((_, 0)) => write(&mut collection, &mut documents),
                Some((_, 1)) => commit(&mut collection, &mut documents, false),
                Some((_, 2)) => commit(&mut collection, &mut documents, true),
                Some((_, 3)) => collection.drop_new_documents(),
                Some(_) => {
                    commit(&mut collection, &mut documents, false);
                    collection.close().unwrap();
                    collection = Collection::open(storage.clone(), (0, 0)).unwrap().0;
                    collection.unsettle();
                }
                None => {}
            }
        }
        commit(&mut collection, &mut documents, true);

        let (mut fresh, _) = Collection::open(Arc::new(MemoryStorage::new()), (0, 0)).unwrap();
        let mut expected = Documents::new();
        last.values().rev().filter(|step| step.1 != 0).for_each(|step| apply(&mut fresh, step));
        commit(&mut fresh, &mut expected, true);
        prop_assert_eq!(&documents, &expected);
        // One document for each text.
        let texts: BTreeSet<u8> = last.values().map(|step| step.1).filter(|text| *text != 0).collect();
        prop_assert_eq!(documents.len(), texts.len());
        // Nothing is written again.
        let again = fresh.settle().unwrap();
        prop_assert_eq!(again.len(), 0);
    }
}
