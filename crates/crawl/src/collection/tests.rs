//! Tests of the collection: one document for each text, facts after restarts, and independence from order.

use super::*;
use crate::frontier::{WarcPlace, origin_of, url_hash};
use crate::reading::TextShape;
use document::Document;
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
        canonical: None,
        is_contradictory: false,
    }
}

/// The same of a page that states another address as its own. Two texts each are near one another, and far from others.
fn stating(url: &str, text: u128, address: &str) -> PageFacts {
    let mut facts = facts(url, text, &[]);
    facts.canonical = Some(address.to_owned());
    facts.shape.simhash = simhash(text);
    facts
}

fn simhash(text: u128) -> u64 {
    (text as u64 / 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (text as u64 % 2)
}

fn document(url: &str) -> Document {
    Document {
        url: url.to_owned(),
        ..Document::default()
    }
}

/// Index in memory: the fields of each document.
type Documents = BTreeMap<String, json::Map>;

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

#[test]
fn an_address_is_believed_once_the_page_there_was_seen() {
    let (mut collection, _) = Collection::open(Arc::new(MemoryStorage::new()), (0, 0)).unwrap();
    let mut documents = Documents::new();
    let at = |path: &str| format!("http://a.test/{path}");
    let page = |text: u128, path: &str| PageFacts {
        shape: TextShape {
            simhash: simhash(text),
            ..facts("", text, &[]).shape
        },
        ..facts(&at(path), text, &[])
    };
    for (path, text, address) in [
        // The page is seen later, and leads nowhere else.
        ("copy", 2, "good"),
        ("chain", 3, "copy"),
        ("missing", 4, "never-seen"),
        ("hidden-target", 6, "hidden"),
        ("other", 8, "good"),
        ("back", 10, "moved"),
        ("round", 12, "about"),
        ("about", 13, "round"),
    ] {
        add(&mut collection, &stating(&at(path), text, &at(address)));
    }
    collection.alias(&at("moved"), &at("back")).unwrap();
    let hidden = PageFacts {
        may_be_found: false,
        ..page(6, "hidden")
    };
    add(&mut collection, &hidden);
    let mut several = page(14, "several");
    several.is_contradictory = true;
    add(&mut collection, &several);
    commit(&mut collection, &mut documents, true);
    // `chain` states `copy`, which was seen and is near. `round` and `about` are near too, and state each other.
    assert_eq!(documents.len(), 8, "{:?}", documents.keys());
    // Now it is seen, with a text that is near.
    add(&mut collection, &page(2, "good"));
    commit(&mut collection, &mut documents, true);
    let paths: Vec<&str> = documents
        .keys()
        .map(|url| &url["http://a.test/".len()..])
        .collect();
    let expected = [
        "about",
        "back",
        "good",
        "hidden-target",
        "missing",
        "other",
        "round",
        "several",
    ];
    assert_eq!(paths, expected);
    let told = |collection: &mut Collection, path: &str| collection.stated_address(&at(path));
    let url = |path: &str| at(path);
    for (path, expected) in [
        ("copy", Some(StatedAddress::Believed { url: url("good") })),
        ("chain", Some(StatedAddress::Believed { url: url("copy") })),
        (
            "missing",
            Some(StatedAddress::NotSeen {
                url: url("never-seen"),
            }),
        ),
        (
            "hidden-target",
            Some(StatedAddress::NotSeen { url: url("hidden") }),
        ),
        ("other", Some(StatedAddress::OtherText { url: url("good") })),
        ("back", Some(StatedAddress::NotSeen { url: url("moved") })),
        ("round", Some(StatedAddress::Circle { url: url("about") })),
        ("several", Some(StatedAddress::Several)),
        ("good", None),
    ] {
        assert_eq!(told(&mut collection, path), expected, "{path}");
    }
    assert_eq!(collection.represented_by(&at("chain")), Some(&*at("good")));
    // It is gone: who stated it is a document again.
    collection.gone(&at("good")).unwrap();
    commit(&mut collection, &mut documents, true);
    assert!(documents.contains_key(&at("copy")) && !documents.contains_key(&at("chain")));
}

/// Change of a page: its number, its text (0: gone), its links, the page that it states (itself and 12 on: none).
type Step = (u8, u8, Vec<u8>, u8);

fn url(page: u8) -> String {
    format!("http://h{}.test/{page}", page % 3)
}

fn apply(collection: &mut Collection, (page, text, links, stated): &Step) {
    let links: Vec<String> = links.iter().map(|link| url(*link)).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    match text {
        0 => collection.gone(&url(*page)).unwrap(),
        text => {
            let mut facts = facts(&url(*page), u128::from(*text), &links);
            facts.shape.simhash = simhash(u128::from(*text));
            facts.canonical = (stated != page && *stated < 12).then(|| url(*stated));
            add(collection, &facts);
        }
    }
}

proptest! {
    /// Whatever the order, the commits and the restarts: after settling the documents are those of the set of pages.
    #[test]
    fn documents_depend_on_the_set_of_pages_alone(
        steps in prop::collection::vec((0u8..12, 0u8..9, prop::collection::vec(0u8..12, 0..4), 0u8..30), 1..40),
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
        // One document for each text, but for those that state the address of a near one.
        let texts: BTreeSet<u8> = last.values().map(|step| step.1).filter(|text| *text != 0).collect();
        let near: BTreeSet<u8> = texts.iter().map(|text| text / 2).collect();
        prop_assert!((near.len()..=texts.len()).contains(&documents.len()));
        // Nothing is written again.
        let again = fresh.settle().unwrap();
        prop_assert_eq!(again.len(), 0);
    }
}
