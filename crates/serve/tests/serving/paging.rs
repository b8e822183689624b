//! Independence of the answer from partitions and handlers, and equality of the union of pages with one
//! large page.
use crate::corpus::{Searched, WORDS, document, index};
use proptest::prelude::*;
use search::Operator;
use serve::{SearchOptions, Topology};
use std::collections::{BTreeMap, HashMap};
use wire::{Hit, SearchAnswer};

fn front_end(index: &std::sync::Arc<index::Index>, partitions: usize, handlers: usize) -> Searched {
    let topology = Topology {
        partitions,
        handlers,
        ..Topology::default()
    };
    Searched::start(index.clone(), &topology)
}

/// Returns the parts of an answer that must not depend on how the index is served.
fn comparable(answer: SearchAnswer) -> (u64, Vec<Hit>, bool, Vec<String>) {
    assert!(answer.total.exact && answer.coverage == 1.0 && !answer.timed_out);
    (
        answer.total.value,
        answer.hits,
        answer.more_hits,
        answer.warnings,
    )
}

/// Returns the page by definition: the matches of a class in order, those beyond the limit of their site after the others.
fn by_definition(all: &SearchAnswer, options: &SearchOptions) -> (Vec<Hit>, bool) {
    let mut sites: HashMap<&str, u32> = HashMap::new();
    for hit in &all.hits {
        *sites.entry(&hit.site).or_default() += 1;
    }
    let per_site = options.per_site;
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    let some_from = all.some_words_from.unwrap_or(all.hits.len());
    let mut listed: Vec<(usize, Hit)> = Vec::new();
    for (at, hit) in all.hits.iter().enumerate() {
        let seen = seen.entry(&hit.site).or_default();
        *seen += 1;
        let hit = Hit {
            more_from_site: per_site > 0 && sites[hit.site.as_str()] > per_site,
            held_back: per_site > 0 && *seen > per_site,
            ..hit.clone()
        };
        listed.push((usize::from(at >= some_from), hit));
    }
    listed.sort_by_key(|(class, hit)| (*class, hit.held_back));
    let more = listed.len() > options.start + options.k;
    (
        listed
            .into_iter()
            .map(|(_, hit)| hit)
            .skip(options.start)
            .take(options.k)
            .collect(),
        more,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn pages_are_slices_of_one_ranking(
        documents in prop::collection::vec((0u8..8, 0u8..64), 0..120),
        crowded in 0usize..60,
        chunks in 1u32..7,
        partitions in 1usize..7,
        handlers in 1usize..4,
        per_site in 0u32..4,
        k in 1usize..12,
        operator in prop::sample::select(&Operator::NAMED[..]),
        words in prop::collection::vec(prop::sample::select(&WORDS[..]), 1..4),
    ) {
        // One site holds many of the best matches, so that pages need optimization searches.
        let crowd = (0..crowded).map(|n| document(1_000 + n, 9, 0b111111));
        let documents = documents.iter().enumerate().map(|(n, &(site, words))| document(n, site, words));
        let index = index(documents.chain(crowd), chunks);
        let query = words.join(" ");
        let operator = operator.1;
        let options = SearchOptions { k, per_site, operator, ..Default::default() };

        let one = front_end(&index, 1, 1);
        let several = front_end(&index, partitions.min(chunks as usize), handlers);
        let all = SearchOptions { k: 1_000, per_site: 0, ..options.clone() };
        let all = one.search(&query, &all).unwrap();
        prop_assert!(all.total.value >= all.some_words_from.unwrap_or(all.hits.len()) as u64);

        let mut start = 0;
        loop {
            let options = SearchOptions { start, ..options.clone() };
            let (total, hits, more_hits, warnings) = comparable(several.search(&query, &options).unwrap());
            let (expected, expected_more) = by_definition(&all, &options);
            prop_assert_eq!(total, all.total.value);
            prop_assert_eq!(&hits, &expected);
            prop_assert_eq!(more_hits, expected_more);
            prop_assert!(warnings.is_empty());
            prop_assert_eq!(&comparable(one.search(&query, &options).unwrap()).1, &expected);
            if !more_hits {
                break;
            }
            start += k;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// The law of `auto`: documents with all telling words but those far below one that lacks some, by score, then the others with a telling
    /// one by score, each with the words that it lacks.
    #[test]
    fn good_documents_with_all_words_come_first(
        documents in prop::collection::vec((0u8..8, 0u8..64), 0..90),
        rare in 0usize..4,
        chunks in 1u32..5,
        typed in prop::collection::vec(prop::sample::select(vec!["alpha", "beta", "zeta", "unknown", "-gamma", "+beta"]), 1..5),
    ) {
        let documents = documents.iter().enumerate();
        // `zeta` is rare, so that it is more telling than the others.
        let documents = documents.map(|(n, &(site, words))| match n < rare {
            true => document(n, site, words | 0b100000),
            false => document(n, site, words & 0b011111),
        });
        let index = index(documents, chunks);
        let typed = typed.join(" ");
        let front_end = front_end(&index, chunks as usize, 2);
        let search = |operator| {
            let options = SearchOptions { k: 1_000, per_site: 0, operator, ..Default::default() };
            front_end.search(&typed, &options).unwrap()
        };
        let auto = search(Operator::Auto);
        let urls = |hits: &[Hit]| hits.iter().map(|hit| hit.url.clone()).collect::<Vec<_>>();
        let parsed = search::parse(&typed, index.analyzer(), Operator::Auto);
        let Some(some) = &parsed.some_words else {
            prop_assert_eq!(auto.some_words_from, None);
            prop_assert_eq!(auto.hits, search(Operator::And).hits);
            return Ok(());
        };
        let plan = |query| search::Plan::new(query, search::Ranking::default(), index.statistics()).unwrap();
        let telling = plan(some).telling_words().to_vec();
        let part = engine::Part::new(index.clone(), 0..=chunks - 1);
        let found = |query| {
            let plan = plan(query);
            part.search(&plan.into(), 1_000, false, &search::Stop::default()).unwrap().hits
        };
        let url = |hit: &search::ScoredHit| {
            part.segment(hit.segment).unwrap().details(hit.doc).unwrap().url
        };
        let (all, some) = (found(&parsed.query), found(some));
        let best = some.iter().find(|hit| all.iter().all(|one| url(one) != url(hit)));
        let least = engine::FIRST_SHARE * best.map_or(0.0, |hit| hit.score);
        let first: Vec<String> = all.iter().filter(|hit| hit.score >= least).map(url).collect();
        let rest = some.iter().map(url).filter(|url| !first.contains(url));
        let expected: Vec<String> = first.iter().cloned().chain(rest).collect();
        prop_assert_eq!(urls(&auto.hits), expected);
        prop_assert_eq!(auto.some_words_from, Some(first.len()));
        prop_assert_eq!(auto.total.value, all.len() as u64);
        for hit in &auto.hits {
            let body = front_end.document(&hit.url).body;
            let lacked: Vec<&String> = telling.iter().filter(|word| !body.contains(word.as_str())).collect();
            prop_assert_eq!(hit.lacks.iter().collect::<Vec<_>>(), lacked);
        }
    }
}

#[test]
fn a_crowded_site_needs_optimization_searches_and_is_flagged() {
    let crowd = (0..500).map(|n| document(1_000 + n, 9, 0b000001));
    let few = (0..5).map(|n| document(2 * n, n as u8, 0b111111));
    let index = index(few.chain(crowd), 3);
    let front_end = front_end(&index, 2, 1);
    let answer = front_end
        .search(
            "alpha",
            &SearchOptions {
                per_site: 2,
                ..Default::default()
            },
        )
        .unwrap();
    assert_eq!(answer.total.value, 505);
    let of_limit = answer.hits.iter().take_while(|hit| !hit.held_back);
    assert_eq!(of_limit.count(), 7, "two of the crowded site, five others");
    assert_eq!((answer.hits.len(), answer.more_hits), (10, true));
    assert!(
        answer
            .hits
            .iter()
            .all(|hit| hit.more_from_site == (hit.site == "site9.example"))
    );
}

#[test]
fn what_is_found_is_shown() {
    let index = index([document(7, 3, 0b000011)], 4);
    let front_end = front_end(&index, 4, 1);
    let options = SearchOptions {
        explain: true,
        ..Default::default()
    };
    let answer = front_end.search("beta", &options).unwrap();
    let hit = &answer.hits[0];
    assert_eq!(hit.url, "https://site3.example/7");
    assert_eq!(
        (hit.title.as_str(), hit.site.as_str()),
        ("Title 7", "site3.example")
    );
    assert!(hit.summary.contains("<mark>beta</mark>"), "{}", hit.summary);
    let explained = hit.explanation.as_ref().unwrap()["value"].as_f64().unwrap();
    assert_eq!(explained as f32, hit.score);
}

#[test]
fn odd_pages_are_empty_or_refused() {
    let index = index((0..9).map(|n| document(n, 1, 1)), 2);
    let front_end = front_end(&index, 2, 2);
    let search = |start, k| {
        front_end.search(
            "alpha",
            &SearchOptions {
                start,
                k,
                ..Default::default()
            },
        )
    };
    assert_eq!(search(50, 10).unwrap().hits.len(), 0);
    let none = search(0, 0).unwrap();
    assert_eq!(
        (none.hits.len(), none.total.value, none.more_hits),
        (0, 9, true)
    );
    assert!(search(0, 1_001).is_err());
    assert!(search(9_991, 10).is_err());
    let empty = front_end.search("", &SearchOptions::default()).unwrap();
    assert_eq!((empty.total.value, empty.hits.len()), (0, 0));
}
