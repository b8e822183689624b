//! Positions in a built index against the slow twin, a map of maps.

use document::{Document, site_of};
use fields::{Declaration, Declarations, FieldType};
use index::{BuildOptions, DocId, Field, Index, Segment, Writer};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use text::Analyzer;
use vfs::{MemoryStorage, SharedStorage};

/// Positions by field and term, and by URL.
type Lists = BTreeMap<(u8, String), BTreeMap<String, Vec<u32>>>;

/// All fields: those of every index, `p` and `q`, which belong to the text, `r`, which does not, `s`, which does, and
/// has an analyzer of its own for the words of its name, and `t`, whose values stand apart. `u` has values without words of
/// their own, which stand apart, too.
const FIELDS: [Field; 8] = [
    Field::Text,
    Field::Title,
    Field::Site,
    Field::Further(3),
    Field::Further(4),
    Field::Further(5),
    Field::Further(6),
    Field::Further(7),
];

/// Further fields in the order of their numbers.
const FURTHER: [&str; 5] = ["p", "q", "r", "s", "t"];
/// Field of numbers.
const NUMBERS: &str = "u";
const OWN: Analyzer = Analyzer::English;

fn slow(documents: &[Document]) -> Lists {
    let newest: BTreeMap<&str, &Document> = documents
        .iter()
        .map(|document| (document.url.as_str(), document))
        .collect();
    let mut lists = Lists::new();
    for (url, document) in newest {
        let mut add = |field: Field, term: String, position: u32| {
            let list = lists.entry((field.number(), term)).or_default();
            list.entry(url.to_owned()).or_default().push(position);
        };
        let title = Analyzer::Plain.terms(&document.title);
        let body = Analyzer::Plain.terms(&document.body);
        let [p, q, r, s, _] = FURTHER.map(|name| terms_of(document, name, Analyzer::Plain));
        let own = terms_of(document, "s", OWN);
        let text = title.iter().chain(&body).chain(&p).chain(&q).chain(&s);
        for (position, term) in (0..).zip(text) {
            add(Field::Text, term.clone(), position);
        }
        let mut position = (title.len() + body.len()) as u32;
        for (number, terms) in [(3, &p), (4, &q), (0, &s)] {
            for term in terms {
                // In the text alone, the words of `s` are those of the index's analyzer.
                if number > 0 {
                    add(Field::Further(number), term.clone(), position);
                }
                position += 1;
            }
        }
        for (name, own) in [("t", Some(7)), (NUMBERS, None)] {
            for value in values_of(document, name) {
                let terms = Analyzer::Plain.terms(&value);
                position += u32::from(!terms.is_empty());
                for term in terms {
                    let own = own.map(Field::Further);
                    for field in [Field::Text].into_iter().chain(own) {
                        add(field, term.clone(), position);
                    }
                    position += 1;
                }
            }
        }
        for (number, terms) in [(5, &r), (6, &own)] {
            for term in terms {
                add(Field::Further(number), term.clone(), position);
                position += 1;
            }
        }
        for (position, term) in (0..).zip(title) {
            add(Field::Title, term, position);
        }
        add(Field::Site, site_of(url), 0);
    }
    lists
}

/// Returns the terms of the texts of a field.
fn terms_of(document: &Document, name: &str, analyzer: Analyzer) -> Vec<String> {
    let values = elements_of(document, name);
    let texts = values.iter().filter_map(json::Value::as_str);
    texts.flat_map(|text| analyzer.terms(text)).collect()
}

/// Returns texts and numbers of a field, as they were written.
fn values_of(document: &Document, name: &str) -> Vec<String> {
    let values = elements_of(document, name);
    let value = |value: &json::Value| match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    };
    values.iter().map(value).collect()
}

fn elements_of(document: &Document, name: &str) -> Vec<json::Value> {
    match document.fields.get(name).cloned() {
        Some(json::Value::Array(values)) => values,
        value => value.into_iter().collect(),
    }
}

fn built(documents: &[Document], options: BuildOptions) -> Lists {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for document in documents {
        writer.add(document.clone()).unwrap();
    }
    writer.commit().unwrap();
    let (_, damages) = index::check(storage.clone(), 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    let index = Index::open(storage).unwrap();
    let mut lists = Lists::new();
    for segment in index.segments(0..index.chunks_count()) {
        for field in FIELDS {
            add_lists(segment, field, &mut lists);
        }
    }
    lists
}

fn add_lists(segment: &Segment, field: Field, lists: &mut Lists) {
    let mut records = Vec::new();
    let add = |term: &str, record| records.push((term.to_owned(), record));
    segment.terms_with_prefix(field, "", add).unwrap();
    for (term, record) in records {
        let list = lists.entry((field.number(), term)).or_default();
        let mut postings = segment.postings(&record).unwrap();
        let mut positions = Vec::new();
        while postings.doc() != DocId::END {
            postings.positions(&mut positions);
            if field == Field::Site {
                positions.push(0);
            }
            assert_eq!(postings.frequency() as usize, positions.len());
            let url = segment.details(postings.doc()).unwrap().url;
            assert!(list.insert(url, positions.clone()).is_none());
            postings.next();
        }
        assert!(postings.take_error().is_none());
    }
}

/// Generates words of every length around the limit of short keys, and some that are not ASCII.
fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => "[ab]{1,2}",
        2 => "(ab|ba)(s|ing|ed)",
        2 => "[a-c]{7,9}",
        1 => "[ab]{15,18}",
        1 => "[äßЖ東]{1,7}",
        1 => "[A-Z]{1,5}",
    ];
    prop::collection::vec(word, 0..70).prop_map(|words| words.join(" "))
}

fn document() -> impl Strategy<Value = Document> {
    let title = "[ab]{0,2}( [ab]{1,20})?";
    let fields = prop::collection::vec((0..FURTHER.len(), words()), 0..4);
    let numbers = prop::collection::vec(-9..30i32, 0..3);
    let all = (0..3u32, 0..40u32, title, words(), fields, numbers);
    all.prop_map(|(host, page, title, body, texts, numbers)| {
        let mut fields = json::Map::new();
        if !numbers.is_empty() {
            fields.insert(NUMBERS.to_owned(), json::Value::from(numbers));
        }
        for (name, text) in texts {
            let texts: &mut json::Value = fields
                .entry(FURTHER[name].to_owned())
                .or_insert_with(|| json::Value::from(vec![7]));
            texts.as_array_mut().unwrap().push(text.into());
        }
        Document {
            url: format!("http://host{}.test/{page}", "x".repeat(host as usize * 6)),
            title,
            body,
            fields,
            ..Document::default()
        }
    })
}

/// Returns declarations of the further fields.
fn declarations() -> Declarations {
    let text = |name: &str| {
        let weight = (name == "r").then_some(0.0);
        let declared = Declaration {
            weight,
            analyzer: (name == "s").then_some(OWN),
            ..Declaration::of(match name {
                "t" => FieldType::Keyword,
                NUMBERS => FieldType::Integer,
                _ => FieldType::Text,
            })
        };
        (name.to_owned(), declared)
    };
    let names = FURTHER.into_iter().chain([NUMBERS]);
    names.map(text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn every_word_is_found_where_it_stands(
        documents in prop::collection::vec(document(), 0..60),
        chunks in 1..4u32,
        threads in 1..5usize,
        run_documents_max in prop::option::of(1..20u32),
    ) {
        let options = BuildOptions {
            chunks: Some(chunks),
            partitions: Some(chunks),
            threads,
            run_documents_max,
            fields: declarations(),
            ..BuildOptions::default()
        };
        prop_assert_eq!(built(&documents, options), slow(&documents));
    }
}
