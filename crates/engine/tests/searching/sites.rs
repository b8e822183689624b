//! Limits of hits a site: pages stay full, and list every match once.

use super::{engine_of, urls};
use engine::{Engine, SearchAnswer, SearchOptions};
use index::{BuildOptions, Writer};
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

/// Returns a page of the documents with the word that all have.
fn page_of(engine: &Engine, per_site: u32, start: usize, k: usize) -> SearchAnswer {
    let options = SearchOptions {
        k,
        start,
        per_site,
        ..SearchOptions::default()
    };
    engine.search("alpha", &options).unwrap()
}

#[test]
fn a_query_that_names_a_site_has_no_limit_of_hits_a_site() {
    let (engine, _) = engine_of(60);
    let options = SearchOptions {
        per_site: 2,
        ..SearchOptions::default()
    };
    let found = |query: &str| engine.search(query, &options).unwrap();
    let one = found("alpha site:site3.example");
    assert_eq!(
        (one.total.value, one.hits.len(), one.more_hits),
        (12, 10, true)
    );
    assert!(one.hits.iter().all(|hit| !hit.more_from_site));
    // Of several sites, or without one, each has its limit.
    let first_held_back = |query: &str| {
        let answer = found(query);
        assert_eq!((answer.hits.len(), answer.more_hits), (10, true));
        answer.hits.iter().position(|hit| hit.held_back)
    };
    let several = "alpha (site:site3.example OR site:site4.example)";
    assert_eq!(first_held_back(several), Some(4));
    assert_eq!(first_held_back("alpha -site:site3.example"), Some(8));
}

#[test]
fn pages_in_this_process_have_any_size_and_depth() {
    let (engine, storage) = engine_of(2_500);
    let found = |start, k| page_of(&engine, 0, start, k);
    let all = found(0, usize::MAX);
    assert_eq!((all.hits.len(), all.more_hits), (2_500, false));
    assert_eq!(urls(&found(2_400, 2_000)), urls(&all)[2_400..]);
    assert_eq!(urls(&found(1_200, 1_100)), urls(&all)[1_200..2_300]);
    assert!(found(usize::MAX, usize::MAX).hits.is_empty());
    // With a limit for each site, too: five sites have their share among the best, and the others follow.
    let limited = |start, k| page_of(&engine, 3, start, k);
    let listed = limited(0, usize::MAX);
    let is_held_back: Vec<bool> = listed.hits.iter().map(|hit| hit.held_back).collect();
    let window = engine::SITE_LIMIT_WINDOW;
    assert_eq!(is_held_back[..15], [false; 15]);
    assert!(is_held_back[15..window].iter().all(|&is_held| is_held));
    assert_eq!(urls(&listed)[window..], urls(&all)[window..]);
    let pages: Vec<_> = (0..2_500)
        .step_by(300)
        .map(|start| limited(start, 300))
        .collect();
    assert!(
        pages[..8]
            .iter()
            .all(|page| page.more_hits && page.hits.len() == 300)
    );
    let paged: Vec<&str> = pages.iter().flat_map(urls).collect();
    assert_eq!(paged, urls(&listed));
    drop(storage);
}

#[test]
fn a_site_has_its_subdomains() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    for host in [
        "wikinews.org",
        "en.wikinews.org",
        "de.m.wikinews.org",
        "notwikinews.org",
        "wikinews.org.test",
        "a.test",
    ] {
        for page in 0..5 {
            let document = document::Document {
                url: format!("https://{host}/{page}"),
                body: "moon".to_owned(),
                ..document::Document::default()
            };
            writer.add(document).unwrap();
        }
    }
    writer.commit().unwrap();
    let engine = Engine::open_in(storage).unwrap();
    let found = |query: &str| {
        let answer = engine.search(query, &SearchOptions::default()).unwrap();
        (answer.total.value, answer.hits.len())
    };
    assert_eq!(found("moon site:wikinews.org"), (15, 10));
    assert_eq!(found("site:wikinews.org"), (15, 10));
    assert_eq!(found("moon site:*.wikinews.org"), (15, 10));
    assert_eq!(found("moon site:https://EN.wikinews.org/page"), (5, 5));
    assert_eq!(found("moon site:m.wikinews.org"), (5, 5));
    assert_eq!(found("moon site:\"wikinews.org\""), (5, 5));
    assert_eq!(found("moon -site:wikinews.org"), (15, 10));
    assert_eq!(found("moon site:news.org").0, 0);
    // Any number of sites, each with its subdomains.
    let many: Vec<String> = (0..40).map(|site| format!("site:{site}x.test")).collect();
    let many = format!("moon ({} OR site:a.test)", many.join(" OR "));
    assert_eq!(found(&many).0, 5);
}

#[test]
fn the_only_site_of_an_index_has_no_limit_of_hits() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let add = |site: &str, numbers: std::ops::Range<usize>| {
        let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
        for number in numbers {
            let document = document::Document {
                url: format!("https://{site}/{number}"),
                body: "alpha".to_owned(),
                ..Default::default()
            };
            writer.add(document).unwrap();
        }
        writer.commit().unwrap();
    };
    let hits_count = |per_site| {
        let engine = Engine::open_in(storage.clone()).unwrap();
        let options = SearchOptions {
            per_site,
            ..SearchOptions::default()
        };
        let answer = engine.search("alpha", &options).unwrap();
        let held_back = answer.hits.iter().filter(|hit| hit.held_back).count();
        (answer.hits.len(), held_back)
    };
    add("one.example", 0..20);
    add("one.example", 10..30);
    assert_eq!((hits_count(0), hits_count(2)), ((10, 0), (10, 8)));
    // A document of a second site shortens no page.
    add("two.example", 0..1);
    assert_eq!((hits_count(0), hits_count(2)), ((10, 0), (10, 7)));
}

#[test]
fn pages_follow_each_other_under_the_per_site_limit() {
    let (engine, _) = engine_of(60);
    let page = |start, k| page_of(&engine, 2, start, k);
    let whole = page(0, 60);
    assert_eq!((whole.total.value, whole.total.exact), (60, true));
    let of_limit = whole.hits.iter().take_while(|hit| !hit.held_back);
    assert_eq!(of_limit.count(), 10, "two hits of each of five sites");
    assert_eq!(whole.hits.len(), 60);
    assert!(!whole.more_hits && whole.degraded.is_empty());
    assert!(whole.hits.iter().all(|hit| hit.more_from_site));
    assert!(
        whole
            .hits
            .iter()
            .all(|hit| hit.summary.contains("<mark>alpha</mark>"))
    );
    let (first, second) = (page(0, 4), page(4, 56));
    assert!(first.more_hits && !second.more_hits);
    assert_eq!([urls(&first), urls(&second)].concat(), urls(&whole));
}
