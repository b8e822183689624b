//! Independence of answers from the history of an index: after any adds, replacements, deletions, restarts and
//! optimizations they are those of a fresh index of the live documents.

use document::Document;
use engine::{Engine, Operator, SearchOptions};
use fields::{Declaration, FieldType};
use index::{BuildOptions, Field, Index, OptimizeOptions, Order, Texts, Writer, check, optimize};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use text::{Analyzer, Languages};
use vfs::{MemoryStorage, SharedStorage};

/// A commit, or a rewrite of the whole index.
#[derive(Debug, Clone)]
enum Step {
    Commit {
        added: Vec<(u8, u8)>,
        deleted: Vec<u8>,
    },
    DeleteBy(&'static str),
    Optimize(Order),
}

const QUERIES: [&str; 25] = [
    "w1",
    "w3 w5",
    "w2 OR w7 OR w11",
    "\"w4 w4\"",
    "\"w1 w2\"~3",
    "title:w6",
    "w1*",
    "w9 -w4",
    "site:site-2.test w8",
    "well-known w1",
    "w1 k:(a OR c) n:<100",
    "w3 OR w5 d:2024-02",
    "k:b* -n:50..70",
    "s:w3",
    "s:\"w2 w7\" OR w1",
    "w4 -s:w4",
    "s:\"goes on\" s:going w2",
    "s:(w5 w6) title:w1",
    "q.r:w8 OR s:w1*",
    "bc",
    "w1 -c k:b",
    "\"bc c\" OR \"bc b\"",
    "2024-02-03 OR 0.7",
    "-5 b*",
    "k:(a bc) w2",
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let commit = (
        prop::collection::vec((0u8..60, any::<u8>()), 0..12),
        prop::collection::vec(0u8..70, 0..8),
    )
        .prop_map(|(added, deleted)| Step::Commit { added, deleted });
    let by = prop::sample::select(vec!["w3", "w5 w6", "site:site-1.test", "nothing"]);
    let order = prop::sample::select(Order::ALL.to_vec());
    let step = prop_oneof![
        6 => commit,
        1 => by.prop_map(Step::DeleteBy),
        1 => order.prop_map(Step::Optimize),
    ];
    prop::collection::vec(step, 1..testkit::size(9, 17))
}

/// Returns a document whose words depend on its number and version.
fn document(number: u8, version: u8) -> Document {
    let mut state = u32::from(number) * 257 + u32::from(version) + 1;
    let mut word = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("w{}", (state >> 24) % 13)
    };
    let keywords = [
        ["a", "b", "bc"][usize::from(number % 3)],
        ["c", "b"][usize::from(version % 2)],
    ];
    let words: Vec<String> = (0..5 + version % 20).map(|_| word()).collect();
    // Long enough to be inferred as texts.
    let mut text = |count: u8| {
        let words: Vec<String> = (0..count).map(|_| word()).collect();
        format!("{} {}", words.join(" "), "and going on ".repeat(6))
    };
    let said = if number.is_multiple_of(5) {
        0
    } else {
        version % 7
    };
    let texts = (text(said), [text(2), text(number % 3)]);
    Document {
        url: format!("http://site-{}.test/{number}", number % 4),
        title: format!("{} {}", word(), word()),
        body: format!("{} well-known own{number}v{version}", words.join(" ")),
        fields: serde_json::from_value(serde_json::json!({
            "n": i64::from(version) - i64::from(number),
            "k": keywords,
            "d": format!("2024-{:02}-{:02}", number % 4 + 1, version % 28 + 1),
            "f": f64::from(version) / 10.0,
            "s": texts.0,
            "q": { "r": texts.1 },
        }))
        .unwrap(),
        ..Document::default()
    }
}

fn options(texts: Texts, analyzer: Analyzer, segments_max: Option<usize>) -> BuildOptions {
    BuildOptions {
        segments_max,
        chunks: Some(4),
        partitions: Some(2),
        texts: Some(texts),
        analyzer: Some(analyzer),
        small_terms_max: Some(0),
        ..BuildOptions::default()
    }
}

fn apply(storage: &SharedStorage, step: &Step, options: &BuildOptions, live: &mut Live) {
    match step {
        Step::Commit { added, deleted } => {
            let mut writer = Writer::open(storage.clone(), options.clone()).unwrap();
            let is_live = |number: &u8| live.contains_key(number);
            let is_added = |number: &u8| added.iter().any(|(one, _)| one == number);
            let mut named: Vec<u8> = deleted.clone();
            named.sort_unstable();
            named.dedup();
            let lone = named
                .iter()
                .filter(|number| is_live(number) && !is_added(number));
            let lone = lone.count() as u64;
            for number in deleted {
                writer.delete(&document(*number, 0).url);
                live.remove(number);
            }
            for &(number, version) in added {
                writer.add(document(number, version)).unwrap();
                live.insert(number, version);
            }
            let summary = writer.commit().unwrap();
            assert_eq!(summary.documents_deleted, lone);
            assert_eq!(summary.documents_count, live.len() as u64);
        }
        Step::DeleteBy(query) => {
            let engine = Engine::open_in(storage.clone()).unwrap();
            let matches = engine.matches(query, Operator::And).unwrap();
            let mut writer = Writer::open(storage.clone(), options.clone()).unwrap();
            for url in &matches.urls {
                writer.delete(url);
                let number = url.rsplit('/').next().unwrap().parse().unwrap();
                assert!(live.remove(&number).is_some(), "{url} is not live");
            }
            let summary = writer.commit().unwrap();
            assert_eq!(summary.documents_deleted, matches.urls.len() as u64);
            let engine = Engine::open_in(storage.clone()).unwrap();
            let left = engine.matches(query, Operator::And).unwrap();
            assert_eq!(left.urls, Vec::<String>::new());
        }
        Step::Optimize(order) => {
            let options = OptimizeOptions {
                order: Some(*order),
                ..OptimizeOptions::default()
            };
            optimize(storage.clone(), &options, &|_| {}).unwrap();
        }
    }
}

/// Live documents: number and version.
type Live = BTreeMap<u8, u8>;

/// Returns everything of an answer that a user sees.
fn answers(engine: &Engine) -> Vec<String> {
    let mut answers = Vec::new();
    // Without texts there are no columns; where no document is left, there may be no field.
    let index = engine.index();
    let has_columns = index.fields().columnar().next().is_some();
    let has_fields = has_columns && index.statistics().documents_count() > 0;
    let facets = [
        "k",
        "k:terms:1",
        "n:stats",
        "n:step:7",
        "f:stats",
        "d:month",
        "site",
        "k:terms:2{d:month{n:stats},n:missing}",
    ];
    for (query, sort) in [
        ("w1", "d:desc,n"),
        ("w3 OR w5", "k,site:desc"),
        ("k:*", "f:desc"),
    ] {
        if !has_fields {
            break;
        }
        let options = SearchOptions {
            sort: sort.to_owned(),
            facets: facets.map(String::from).to_vec(),
            filters: vec!["-k:bc".to_owned() + " n:*"],
            ..SearchOptions::default()
        };
        let answer = engine.search(query, &options).unwrap();
        let hits = answer
            .hits
            .iter()
            .map(|hit| format!("{} {:?}", hit.url, hit.sort));
        let hits: Vec<String> = hits.collect();
        answers.push(format!(
            "{query} by {sort}: {hits:?} {:#?} {:?}",
            answer.facets, answer.total
        ));
    }
    for query in QUERIES {
        for operator in [Operator::And, Operator::Or, Operator::Auto] {
            let options = SearchOptions {
                k: 100,
                operator,
                explain: true,
                ..SearchOptions::default()
            };
            let answer = engine.search(query, &options).unwrap();
            let hits = answer.hits.iter().map(|hit| {
                format!(
                    "{} {:?} {} {:?} {:?}",
                    hit.url, hit.score, hit.summary, hit.explanation, hit.lacks
                )
            });
            answers.push(format!(
                "{query}: {:?} {} {:#?}",
                answer.total,
                answer.more_hits,
                hits.collect::<Vec<_>>()
            ));
        }
    }
    answers
}

/// Returns the counts of every term and of the index.
fn counts(index: &Index) -> Vec<(String, u64)> {
    let statistics = index.statistics();
    let terms = (0..13).map(|word| format!("w{word}"));
    let owns = (0..60).map(|number| format!("own{number}"));
    let fixed = ["well", "known", "wellknown"].map(String::from);
    let fields = [Field::Text, Field::Title];
    let searched = ["k", "s", "q.r"].map(|name| index.fields().searched(name));
    let further = searched
        .iter()
        .flatten()
        .map(|searched| Field::of_number(searched.number));
    let fields: Vec<Field> = fields.into_iter().chain(further).collect();
    // Numbers of fields depend on the order in which they came.
    let name = |field: Field| match index.statistics().text_fields().name_of(field.number()) {
        Some(name) => name.to_owned(),
        None => format!("{field:?}"),
    };
    let mut counts: Vec<(String, u64)> = terms
        .chain(owns)
        .chain(fixed)
        .chain(["", "on", "bc", "2024", "5"].map(String::from))
        .flat_map(|term| fields.iter().map(move |&field| (field, term.clone())))
        .map(|(field, term)| {
            let found = statistics.term(field, &term).unwrap();
            let count = found.map_or(0, |found| found.document_frequency);
            (format!("{} {term}", name(field)), count)
        })
        .collect();
    counts.push(("documents".into(), statistics.documents_count()));
    for field in fields {
        let words = statistics.average_length(field);
        counts.push((format!("{} length", name(field)), words.to_bits()));
    }
    // A field without a live word is as good as none.
    counts.retain(|(_, count)| *count > 0);
    counts.sort();
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(400, 5_000)))]

    #[test]
    fn answers_depend_on_the_live_documents_alone(
        steps in steps(),
        has_texts in prop::bool::weighted(0.8),
        is_standard in any::<bool>(),
        segments_max in prop_oneof![Just(None), (1usize..4).prop_map(Some)],
        declared in prop::option::of((10u8..90, prop::option::of(0u8..=10))),
        held_documents_max in prop_oneof![Just(None), Just(Some(1)), Just(Some(3))],
        own in prop::option::of(Just(Analyzer::English)),
    ) {
        let texts = if has_texts { Texts::Stored } else { Texts::None };
        let analyzer = match is_standard {
            true => Analyzer::Standard(Languages::default()),
            false => Analyzer::Plain,
        };
        let text = declared.map(|(weight, b)| Declaration {
            weight: Some(f32::from(weight) / 10.0),
            b: b.map(|tenths| f32::from(tenths) / 10.0),
            ..Declaration::of(FieldType::Text)
        });
        let named = |name: &str| text.map(|text| (name.to_owned(), text));
        let own = own.map(|analyzer| Declaration {
            weight: None,
            analyzer: Some(analyzer),
            ..text.unwrap_or(Declaration::of(FieldType::Text))
        });
        let s = own.map(|own| ("s".to_owned(), own)).or(named("s"));
        let options = BuildOptions {
            fields: s.into_iter().chain(named("title")).collect(),
            held_documents_max,
            ..options(texts, analyzer, segments_max)
        };
        let storage: SharedStorage = Arc::new(MemoryStorage::new());
        let mut live = Live::new();
        for step in &steps {
            if matches!(step, Step::Commit { .. }) || Index::newest_generation(&storage).unwrap().is_some() {
                apply(&storage, step, &options, &mut live);
            }
        }
        prop_assume!(Index::newest_generation(&storage).unwrap().is_some());
        let fresh: SharedStorage = Arc::new(MemoryStorage::new());
        let mut writer = Writer::open(fresh.clone(), options.clone()).unwrap();
        for (&number, &version) in &live {
            writer.add(document(number, version)).unwrap();
        }
        writer.commit().unwrap();
        let (_, damages) = check(storage.clone(), 10).unwrap();
        prop_assert!(damages.is_empty(), "{damages:?}");
        let [lived, fresh] = [storage, fresh].map(|storage| Engine::open_in(storage).unwrap());
        prop_assert_eq!(counts(&lived.index()), counts(&fresh.index()));
        prop_assert_eq!(answers(&lived), answers(&fresh));
    }
}
