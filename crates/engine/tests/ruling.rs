//! Pinned and hidden documents through the public API, on any number of partitions, in pages by number and by cursor, with filters,
//! facets, limits of sites and collapsed hits: the list is the pinned documents that pass the filters, in the order of the rule, and
//! then the hits without rules but those that are pinned or hidden.

use engine::{Engine, SearchAnswer, SearchOptions};
use fields::Rules;
use index::{BuildOptions, Writer};
use search::Operator;
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;
use testkit::MadeUp;
use vfs::{MemoryStorage, SharedStorage};

const DOCUMENTS_COUNT: usize = 150;
const QUERIES: usize = 60;

/// A query with its pinned and hidden documents.
struct Case {
    query: String,
    first: Vec<String>,
    hidden: Vec<String>,
}

fn cases() -> Vec<Case> {
    let made_up = MadeUp::default();
    let urls: Vec<String> = made_up
        .documents(DOCUMENTS_COUNT)
        .map(|one| one.url)
        .collect();
    let queries: HashSet<String> = made_up.queries(QUERIES).collect();
    let mut queries: Vec<String> = queries.into_iter().collect();
    queries.sort_unstable();
    let case = |(number, query): (usize, String)| {
        let url = |step: usize| urls[(number * 37 + step * 11) % urls.len()].clone();
        let mut first: Vec<String> = (0..number % 5).map(url).collect();
        if number % 3 == 0 {
            first.insert(
                number % (first.len() + 1),
                "http://nowhere.test/".to_owned(),
            );
        }
        let hidden = (0..1 + number % 4).map(|step| url(60 + step));
        let hidden = hidden.filter(|url| !first.contains(url)).collect();
        Case {
            query,
            first,
            hidden,
        }
    };
    queries.into_iter().enumerate().map(case).collect()
}

/// An index whose last commit deletes some documents, pinned ones among them.
fn engine(partitions: u32, cases: &[Case]) -> Engine {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let pins = cases.iter().map(|case| {
        // Signs, case and blanks make no other query.
        let query = format!(" {}! ", case.query.to_uppercase());
        json!({"queries": [query], "first": case.first, "hidden": case.hidden})
    });
    let rules = json!({ "pins": pins.collect::<Vec<_>>() });
    let options = BuildOptions {
        chunks: Some(8),
        partitions: Some(partitions),
        rules: Some(Arc::new(
            Rules::of_json(rules.to_string().as_bytes()).unwrap(),
        )),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options.clone()).unwrap();
    let made_up = MadeUp::default();
    for (number, mut document) in made_up.documents(DOCUMENTS_COUNT).enumerate() {
        let (n, m) = (json!(number % 4), json!(number % 7));
        document.fields.insert("n".to_owned(), n.into());
        document.fields.insert("m".to_owned(), m.into());
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for case in cases.iter().step_by(7) {
        if let Some(url) = case.first.first() {
            writer.delete(url);
        }
    }
    writer.commit().unwrap();
    Engine::open_in(storage).unwrap()
}

fn urls(answer: &SearchAnswer) -> Vec<String> {
    answer.hits.iter().map(|hit| hit.url.clone()).collect()
}

fn with(options: &SearchOptions, start: usize, k: usize) -> SearchOptions {
    SearchOptions {
        start,
        k,
        ..options.clone()
    }
}

/// Returns the pages of a search one after another, by number or by cursor.
fn paged(
    engine: &Engine,
    query: &str,
    options: &SearchOptions,
    k: usize,
    by_cursor: bool,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut after = by_cursor.then(|| "*".to_owned());
    loop {
        let mut page = with(options, if by_cursor { 0 } else { found.len() }, k);
        page.after = after.clone();
        let answer = engine.search(query, &page).unwrap();
        assert!(!answer.more_hits || answer.hits.len() == k);
        found.extend(urls(&answer));
        after = by_cursor.then(|| answer.after.clone()).flatten();
        if !answer.more_hits {
            return found;
        }
    }
}

#[test]
fn pinned_documents_stand_first_and_hidden_ones_nowhere_on_any_partitions_and_pages() {
    let cases = cases();
    let engines: Vec<Engine> = [1, 3, 8]
        .map(|partitions| engine(partitions, &cases))
        .into();
    let (mut pinned_count, mut left_out) = (0, 0);
    for (number, case) in cases.iter().enumerate() {
        let one = &engines[0];
        let options = SearchOptions {
            operator: [Operator::And, Operator::Or][number % 2],
            filters: match number % 4 {
                3 => vec!["n:>0".to_owned()],
                _ => Vec::new(),
            },
            facets: vec!["m".to_owned()],
            correct: false,
            ..SearchOptions::default()
        };
        let without = SearchOptions {
            rules: false,
            ..with(&options, 0, DOCUMENTS_COUNT)
        };
        let (first, hidden) = (&case.first, &case.hidden);
        // All documents that pass the filters.
        let passing = SearchOptions {
            filters: options.filters.clone(),
            ..with(&without, 0, DOCUMENTS_COUNT)
        };
        let passing: HashSet<String> = urls(&one.search("*", &passing).unwrap())
            .into_iter()
            .collect();
        let pinned = first.iter().filter(|url| passing.contains(*url));
        let mut expected: Vec<String> = pinned.cloned().collect();
        pinned_count += expected.len();
        let plain = one.search(&case.query, &without).unwrap();
        let others = urls(&plain).into_iter();
        let before = expected.len();
        expected.extend(others.filter(|url| !first.contains(url) && !hidden.contains(url)));
        left_out += plain.hits.len() + before - expected.len();
        for engine in &engines {
            let whole = engine
                .search(&case.query, &with(&options, 0, DOCUMENTS_COUNT))
                .unwrap();
            assert_eq!(urls(&whole), expected, "{}", case.query);
            assert_eq!(whole.total.value, expected.len() as u64, "{}", case.query);
            let is_pinned = whole.hits.iter().map(|hit| hit.pinned);
            assert!(is_pinned.eq((0..expected.len()).map(|at| at < before)));
            assert!(whole.hits.iter().all(|hit| hit.score < 1e6));
            let counted = whole.facets[0].documents;
            assert_eq!(counted, expected.len() as u64, "{}", case.query);
            let counts = engine.search(&case.query, &with(&options, 0, 0)).unwrap();
            assert_eq!(counts.total.value, expected.len() as u64);
            for (k, by_cursor) in [(1 + number % 3, false), (1 + number % 4, true)] {
                let found = paged(engine, &case.query, &options, k, by_cursor);
                assert_eq!(found, expected, "{} by {k}", case.query);
            }
        }
        // What has no naive list here is the same on any partitions and pages.
        for options in [
            SearchOptions {
                operator: Operator::Auto,
                ..options.clone()
            },
            SearchOptions {
                per_site: 2,
                ..options.clone()
            },
            SearchOptions {
                collapse: "n".to_owned(),
                ..options.clone()
            },
        ] {
            let whole = one
                .search(&case.query, &with(&options, 0, DOCUMENTS_COUNT))
                .unwrap();
            let stands_first = whole.hits.iter().take_while(|hit| hit.pinned).count();
            assert!(
                whole.hits[stands_first..]
                    .iter()
                    .all(|hit| !hit.pinned || hit.held_back)
            );
            assert!(urls(&whole).iter().all(|url| !hidden.contains(url)));
            if !options.collapse.is_empty() {
                let of_groups = whole.hits.iter().map(|hit| 1 + hit.hidden);
                assert_eq!(of_groups.sum::<u64>(), whole.total.value, "{}", case.query);
            }
            for engine in &engines {
                let found = paged(engine, &case.query, &options, 3, number % 2 == 0);
                assert_eq!(found, urls(&whole), "{}", case.query);
            }
        }
    }
    assert!(
        pinned_count > 40 && left_out > 20,
        "{pinned_count} {left_out}"
    );
}

#[test]
fn an_order_by_fields_pins_nothing_and_hides_all_the_same() {
    let cases = cases();
    let engine = engine(2, &cases);
    for case in &cases {
        let sorted = SearchOptions {
            sort: "n".to_owned(),
            operator: Operator::Or,
            correct: false,
            ..with(&SearchOptions::default(), 0, DOCUMENTS_COUNT)
        };
        let without = SearchOptions {
            rules: false,
            ..sorted.clone()
        };
        let found = engine.search(&case.query, &sorted).unwrap();
        assert!(found.hits.iter().all(|hit| !hit.pinned));
        let mut expected = urls(&engine.search(&case.query, &without).unwrap());
        expected.retain(|url| !case.hidden.contains(url));
        assert_eq!(urls(&found), expected, "{}", case.query);
    }
}

#[test]
fn a_pinned_hit_says_so_in_place_of_its_score() {
    let cases = cases();
    let engine = engine(2, &cases);
    let case = &cases[4];
    let options = SearchOptions {
        explain: true,
        ..SearchOptions::default()
    };
    let answer = engine.search(&case.query, &options).unwrap();
    let explained = answer.hits[0].explanation.as_ref().unwrap();
    assert_eq!(explained["description"], "pinned by a rule, in place 1");
    assert!(
        answer.rules.contains(&format!("pinned: {}", case.first[0])),
        "{:?}",
        answer.rules
    );
    assert!(
        answer
            .rules
            .contains(&format!("hidden: {}", case.hidden[0])),
        "{:?}",
        answer.rules
    );
}
