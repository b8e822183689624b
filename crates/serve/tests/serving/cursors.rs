//! Pages by cursors: slices of one order, while its generation is served and after that.
use crate::corpus::{RUNTIME, Searched, WORDS, commit, document, index};
use proptest::prelude::*;
use search::Operator;
use serve::{
    Cluster, FrontEnd, FrontEndOptions, Generations, HandlerOptions, SearchOptions, Topology,
};
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};
use wire::{Hit, SearchAnswer};

/// Returns the hits of all pages, one after another, and the number of pages.
fn paged(options: &SearchOptions, search: impl Fn(&SearchOptions) -> SearchAnswer) -> Vec<Hit> {
    let mut all = Vec::new();
    let mut after = Some("*".to_owned());
    while after.is_some() {
        let answer = search(&SearchOptions {
            after,
            ..options.clone()
        });
        assert!(!answer.moved && answer.coverage == 1.0);
        assert_eq!(answer.after.is_some(), !answer.hits.is_empty());
        all.extend(answer.hits);
        after = answer.after.filter(|_| answer.more_hits);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pages_by_cursor_are_slices_of_one_order(
        documents in prop::collection::vec((0u8..8, 0u8..64), 2..100),
        chunks in 1u32..5,
        handlers in 1usize..3,
        per_site in 0u32..3,
        k in 1usize..9,
        operator in prop::sample::select(&Operator::NAMED[..]),
        words in prop::collection::vec(prop::sample::select(&WORDS[..]), 1..4),
        sort in prop::sample::select(vec!["", "rank:desc", "day,site:desc", "lang:desc,price:first", "site"]),
        counted in any::<bool>(),
    ) {
        let documents = documents.iter().enumerate().map(|(n, &(site, words))| document(n, site, words));
        let index = index(documents, chunks);
        let topology = |partitions| Topology { partitions, handlers, ..Topology::default() };
        let servers = [1, chunks as usize].map(|partitions| Searched::start(index.clone(), &topology(partitions)));
        let engine = engine::Engine::from_index(index.clone());
        let query = words.join(" ");
        let options = SearchOptions { k, per_site, operator: operator.1, sort: sort.to_owned(), returned: engine::Returned { counted, ..Default::default() }, ..Default::default() };
        let whole = SearchOptions { k: 1_000, ..options.clone() };
        let whole = servers[0].search(&query, &whole).unwrap().hits;
        for server in &servers {
            let hits = paged(&options, |options| server.search(&query, options).unwrap());
            let key = |hit: &Hit| (hit.url.clone(), hit.score.to_bits(), hit.sort.clone(), hit.more_from_site);
            prop_assert_eq!(hits.iter().map(key).collect::<Vec<_>>(), whole.iter().map(key).collect::<Vec<_>>());
        }
        let hits = paged(&options, |options| engine.search(&query, options).unwrap());
        prop_assert_eq!(hits, whole);
    }
}

#[test]
fn a_page_goes_on_in_its_generation_while_that_is_served() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    commit(&storage, 0..60);
    let generations = Generations::open(storage.clone()).unwrap();
    let topology = Topology {
        partitions: 3,
        handlers: 1,
        ..Topology::default()
    };
    let cluster =
        Cluster::in_process(&generations, &topology, &[], &HandlerOptions::default()).unwrap();
    let front_end = FrontEnd::new(cluster, FrontEndOptions::default());
    let options = |sort: &str, per_site, after: Option<String>| SearchOptions {
        k: 7,
        per_site,
        sort: sort.to_owned(),
        after,
        ..SearchOptions::default()
    };
    let search = |options: &SearchOptions| {
        RUNTIME
            .block_on(front_end.search("alpha", options))
            .unwrap()
    };
    let orders = [("", 0), ("", 2), ("rank", 0), ("rank", 2)];
    let start = |(sort, per_site)| search(&options(sort, per_site, Some("*".to_owned())));
    let first: Vec<SearchAnswer> = orders.into_iter().map(start).collect();
    let next = |at: usize| {
        let (sort, per_site) = orders[at];
        search(&options(sort, per_site, first[at].after.clone()))
    };
    let expected: Vec<Vec<Hit>> = (0..orders.len()).map(|at| next(at).hits).collect();
    let reload = || RUNTIME.block_on(front_end.reload()).unwrap();
    commit(&storage, 60..90);
    reload();
    for (at, expected) in expected.iter().enumerate() {
        let page = next(at);
        assert!(!page.moved, "{:?}", orders[at]);
        assert_eq!(&page.hits, expected, "{:?}", orders[at]);
        assert_eq!(page.hits.len(), 7);
        assert_eq!(page.total.value, 60);
    }
    // The generation is closed: an order by values goes on after the same place, any other says so.
    commit(&storage, 90..120);
    reload();
    for (at, order) in orders.into_iter().enumerate() {
        let page = next(at);
        assert_eq!(page.moved, order != ("rank", 0), "{order:?}");
        assert_eq!(page.total.value, 120, "{order:?}");
    }
    let all = search(&SearchOptions {
        k: 1_000,
        ..options("rank", 0, None)
    });
    let last = first[2].hits.last().unwrap();
    let place = all.hits.iter().position(|hit| hit.url == last.url).unwrap();
    assert_eq!(next(2).hits[..], all.hits[place + 1..place + 8]);
    let other = SearchOptions {
        after: first[2].after.clone(),
        ..options("rank:desc", 0, None)
    };
    let refused = RUNTIME.block_on(front_end.search("alpha", &other));
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("after: this is no cursor"), "{error}");
}
