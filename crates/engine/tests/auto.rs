//! The law of `auto` through the public API, on any number of partitions, on every page: documents with all telling words, but
//! those far below one that lacks some, by score; after them the others with a telling word, by score. The words in another
//! order find the same.
//!
//! `SHORTTAIL_AUTO_QUERIES=N` tries N queries instead of a few hundred.

use engine::{Engine, FIRST_SHARE, Hit, SearchOptions};
use index::{BuildOptions, Texts, Writer};
use search::Operator;
use std::collections::HashMap;
use std::sync::Arc;
use testkit::MadeUp;
use vfs::{MemoryStorage, SharedStorage};

const DOCUMENTS_COUNT: usize = 120;
/// Least idf of a telling word, as a share of the greatest of the query.
const TELLING_SHARE: f64 = 0.2;

fn engine(partitions: u32) -> Engine {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let options = BuildOptions {
        chunks: Some(8),
        partitions: Some(partitions),
        texts: Some(Texts::None),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for document in MadeUp::default().documents(DOCUMENTS_COUNT) {
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    Engine::open_in(storage).unwrap()
}

fn options(operator: Operator, start: usize, k: usize) -> SearchOptions {
    SearchOptions {
        k,
        start,
        operator,
        per_site: 0,
        ..SearchOptions::default()
    }
}

/// All hits of a query, each with its score.
fn ranking(engine: &Engine, query: &str, operator: Operator) -> Vec<Hit> {
    let options = options(operator, 0, DOCUMENTS_COUNT);
    engine.search(query, &options).unwrap().hits
}

/// URL, bits of the score, and lacked words of a hit.
type Expected = (String, u32, Vec<String>);

/// The law, computed from searches for all and for any of the words.
struct Twin<'a> {
    engine: &'a Engine,
    holders: HashMap<String, Vec<String>>,
}

impl Twin<'_> {
    /// URLs of the documents that hold a word.
    fn holders(&mut self, word: &str) -> &[String] {
        let engine = self.engine;
        self.holders.entry(word.to_owned()).or_insert_with(|| {
            let hits = ranking(engine, word, Operator::And);
            hits.into_iter().map(|hit| hit.url).collect()
        })
    }

    /// Inverse document frequency of BM25; `None` for a word that no document holds.
    fn idf(&mut self, word: &str) -> Option<f64> {
        let held = self.holders(word).len() as f64;
        let idf = (1.0 + (DOCUMENTS_COUNT as f64 - held + 0.5) / (held + 0.5)).ln();
        (held > 0.0).then_some(idf)
    }

    /// Returns every hit, and the numbers of complete ones and of those that stand first.
    fn auto(&mut self, words: &[&str]) -> (Vec<Expected>, [usize; 2]) {
        let query = words.join(" ");
        let idfs: Vec<Option<f64>> = words.iter().map(|word| self.idf(word)).collect();
        let least = TELLING_SHARE * idfs.iter().flatten().fold(0.0, |a: f64, &b| a.max(b));
        let is_telling = |idf: Option<f64>| idf.is_none_or(|idf| idf >= least);
        let telling = words.iter().zip(idfs).filter(|&(_, idf)| is_telling(idf));
        let telling: Vec<&str> = telling.map(|(&word, _)| word).collect();
        let any = ranking(self.engine, &query, Operator::Or);
        let lacked = |twin: &mut Self, words: &[&str], url: &String| -> Vec<String> {
            let lacks = |word: &&&str| !twin.holders(word).contains(url);
            words
                .iter()
                .filter(lacks)
                .map(|&word| word.to_owned())
                .collect()
        };
        let found = any.into_iter().map(|hit| {
            let lacks = lacked(self, &telling, &hit.url);
            (hit.url, hit.score.to_bits(), lacks)
        });
        let found: Vec<Expected> = found.filter(|one| one.2.len() < telling.len()).collect();
        let best = found.iter().find(|one| !one.2.is_empty());
        let least = FIRST_SHARE * best.map_or(0.0, |one| f32::from_bits(one.1));
        let complete_count = found.iter().filter(|one| one.2.is_empty()).count();
        let (mut first, mut others) = (Vec::new(), Vec::new());
        for found in found {
            match found.2.is_empty() && f32::from_bits(found.1) >= least {
                true => first.push(found),
                false => others.push(found),
            }
        }
        let first_count = first.len();
        first.extend(others);
        (first, [complete_count, first_count])
    }
}

#[test]
fn every_page_of_auto_is_that_of_its_twin_on_any_partitions_in_any_order_of_words() {
    let wanted = std::env::var("SHORTTAIL_AUTO_QUERIES").ok();
    let wanted = wanted.map_or(200, |count| count.parse().expect("a number of queries"));
    let engines: Vec<(u32, Engine)> = [1, 2, 4, 8].map(|count| (count, engine(count))).into();
    let mut twin = Twin {
        engine: &engines[0].1,
        holders: HashMap::new(),
    };
    let (mut pages_count, mut has_mixed) = (0, 0);
    for (number, query) in MadeUp::default().queries(wanted).enumerate() {
        let mut words: Vec<&str> = query.split(' ').collect();
        // A word that no document holds.
        if number % 7 == 3 {
            words.insert(number % (words.len() + 1), "nowhere");
        }
        words.sort_unstable();
        words.dedup();
        let (expected, [complete_count, first_count]) = twin.auto(&words);
        let middle = number % words.len();
        words.rotate_left(middle);
        let query = words.join(" ");
        for (partitions, engine) in &engines {
            let k = [10, 7, 25, 100][(number + *partitions as usize) % 4];
            let mut found = Vec::new();
            loop {
                let options = options(Operator::Auto, found.len(), k);
                let answer = engine.search(&query, &options).unwrap();
                assert_eq!(answer.total.value as usize, complete_count, "{query}");
                let is_last = answer.hits.len() < k;
                let page_end = found.len() + k;
                let others_from =
                    (words.len() > 1 && first_count <= page_end).then_some(first_count);
                assert_eq!(answer.some_words_from, others_from, "{query}");
                has_mixed += usize::from(first_count < complete_count);
                let after = found.len() + answer.hits.len();
                assert_eq!(
                    answer.more_hits,
                    after < expected.len(),
                    "{query}, {after} of {}, k {k}, {partitions} partitions",
                    expected.len()
                );
                found.extend(answer.hits.into_iter().map(|mut hit| {
                    hit.lacks.sort_unstable();
                    (hit.url, hit.score.to_bits(), hit.lacks)
                }));
                pages_count += 1;
                if is_last {
                    break;
                }
            }
            assert_eq!(found, expected, "{query} in {partitions} partitions");
        }
    }
    println!(
        "{wanted} queries, {pages_count} pages, {has_mixed} with documents of all words further down"
    );
    assert!(has_mixed > 0);
}

/// An engine of documents with these bodies, read with compounds and stems.
fn engine_of(bodies: &[&str]) -> Engine {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let options = BuildOptions {
        analyzer: Some(text::Analyzer::Standard(text::Languages::default())),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for (number, body) in bodies.iter().enumerate() {
        let document = document::Document {
            url: format!("http://a.test/{number}"),
            body: (*body).to_owned(),
            ..document::Document::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    Engine::open_in(storage).unwrap()
}

#[test]
fn a_compound_in_parts_is_not_lacked_and_each_score_is_explained_by_its_own_query() {
    let engine = engine_of(&[
        "how to put a key into the hash map",
        "put a stone on the map",
        "a HashMap of stones, put in order",
        "a hash of a map",
        "nothing of the kind",
        "a few words more",
        "and other words",
    ]);
    let options = SearchOptions {
        explain: true,
        ..options(Operator::Auto, 0, 10)
    };
    let answer = engine.search("HashMap put", &options).unwrap();
    assert_eq!((answer.hits.len(), answer.some_words_from), (4, Some(2)));
    for (rank, hit) in answer.hits.iter().enumerate() {
        assert_eq!(hit.lacks.is_empty(), rank < 2, "{hit:?}");
        let why = hit.explanation.as_ref().unwrap();
        let value = why["value"].as_f64().unwrap() as f32;
        assert_eq!(value.to_bits(), hit.score.to_bits(), "{why:#}");
    }
}

#[test]
fn a_hidden_document_with_all_words_is_no_rival() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    let filler = "and many other words that stand here ".repeat(8);
    let documents = [
        ("x", "alpha beta alpha beta".to_owned()),
        ("x", "alpha beta alpha beta again".to_owned()),
        ("y", format!("alpha beta {filler}")),
        ("z", format!("alpha {filler}")),
    ];
    let others = (0..40).map(|_| ("w", "nothing of the kind".to_owned()));
    for (number, (group, body)) in documents.into_iter().chain(others).enumerate() {
        let mut fields = json::Map::new();
        fields.insert("group".into(), group.into());
        let document = document::Document {
            url: format!("http://a.test/{number}"),
            body,
            fields,
            ..document::Document::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    let engine = Engine::open_in(storage).unwrap();
    for (k, hides) in [(10, true), (1, true)] {
        let options = SearchOptions {
            collapse: "group".to_owned(),
            ..options(Operator::Auto, 0, k)
        };
        let answer = engine.search("alpha beta", &options).unwrap();
        let urls = answer.hits.iter().map(|hit| hit.url.as_str());
        let expected = ["http://a.test/0", "http://a.test/2", "http://a.test/3"];
        assert_eq!(urls.collect::<Vec<_>>(), expected[..k.min(3)]);
        // The second scores far below the hidden one, and above 0.7 of what lacks a word.
        assert_eq!(answer.some_words_from, (k == 10).then_some(2));
        assert_eq!(answer.hides_some, hides);
    }
}
