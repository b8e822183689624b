//! Words of values: found without a name, by name, as typed, and shown with the name of their field.

use crate::urls;
use document::Document;
use engine::{Engine, Operator, SearchAnswer, SearchOptions};
use fields::{Declaration, Declarations, FieldType};
use index::{BuildOptions, Writer, check};
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

const PHONES: [(&str, &str); 3] = [
    (
        "s24",
        r#"{"brand":"Samsung","category":["smart phones","Used"],"price":1299,"since":"2024-01-17T10:00:00Z"}"#,
    ),
    (
        "p9",
        r#"{"brand":"Google","category":["phones","used goods"],"price":899.5,"since":"2024-08-22","maker":{"city":"Mountain View"}}"#,
    ),
    ("a1", r#"{"note":"no brand","is":true}"#),
];

/// Builds an index of the documents, each in its own commit if `apart`.
fn built(declared: Declarations, held: Option<usize>, apart: bool) -> Engine {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let options = BuildOptions {
        fields: declared,
        held_documents_max: held,
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options.clone()).unwrap();
    for (name, fields) in PHONES {
        let document = Document {
            url: format!("http://phones.test/{name}"),
            title: format!("The {name}"),
            body: "all that is to say of it".to_owned(),
            fields: json::parse_object(fields).unwrap(),
            ..Document::default()
        };
        writer.add(document).unwrap();
        if apart {
            writer.commit().unwrap();
            writer = Writer::open(storage.clone(), options.clone()).unwrap();
        }
    }
    if !apart {
        writer.commit().unwrap();
    }
    let (_, damages) = check(storage.clone(), 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    Engine::open_in(storage).unwrap()
}

fn search(engine: &Engine, query: &str) -> SearchAnswer {
    let options = SearchOptions {
        operator: Operator::And,
        explain: true,
        ..SearchOptions::default()
    };
    engine.search(query, &options).unwrap()
}

/// Returns the last parts of the URLs found, in order.
fn found(engine: &Engine, query: &str) -> String {
    let answer = search(engine, query);
    let mut names: Vec<String> = (urls(&answer).iter())
        .map(|url| url.rsplit('/').next().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    names.join(" ")
}

#[test]
fn every_string_is_found_however_it_was_committed() {
    for (held, apart) in [(None, false), (Some(1), false), (None, true)] {
        let engine = built(Declarations::default(), held, apart);
        for (query, expected) in [
            ("samsung", "s24"),
            ("phones", "p9 s24"),
            ("sams*", "s24"),
            ("mountain", "p9"),
            ("1299", "s24"),
            ("899.5", "p9"),
            ("2024-01-17", "s24"),
            ("\"smart phones\"", "s24"),
            // No phrase reaches from one value into the next.
            ("\"phones used\"", ""),
            ("\"it samsung\"", ""),
            ("true", ""),
            // By name: words, whatever their case.
            ("brand:samsung", "s24"),
            ("brand:Samsung", "s24"),
            ("category:used", "p9 s24"),
            ("category:\"used goods\"", "p9"),
            ("category:smart*", "s24"),
            ("category:goog*", ""),
            ("maker.city:view", "p9"),
            ("phones -brand:samsung", "p9"),
            ("brand:*", "p9 s24"),
            ("price:1299", "s24"),
            ("since:2024-08", "p9"),
        ] {
            assert_eq!(found(&engine, query), expected, "{query} {held:?} {apart}");
        }
    }
}

#[test]
fn a_field_is_searched_filtered_counted_and_sorted_at_once() {
    let engine = built(Declarations::default(), None, false);
    let options = |filter: &str| SearchOptions {
        filters: vec![filter.to_owned()],
        facets: vec!["brand".to_owned()],
        sort: "brand:desc".to_owned(),
        ..SearchOptions::default()
    };
    // Filters compare values.
    for (filter, expected) in [
        ("category:Used", 1),
        ("category:used", 0),
        ("category:\"smart phones\"", 1),
        ("brand:S*", 1),
    ] {
        let answer = engine.search("used", &options(filter)).unwrap();
        assert_eq!(answer.total.value, expected, "{filter}");
    }
    let answer = engine.search("used", &options("price:>0")).unwrap();
    assert_eq!(
        urls(&answer),
        ["http://phones.test/s24", "http://phones.test/p9"]
    );
    let counted = format!("{:?}", answer.facets);
    assert!(
        counted.contains("Samsung") && counted.contains("Google"),
        "{counted}"
    );
}

#[test]
fn the_field_that_matched_is_shown() {
    let engine = built(Declarations::default(), None, false);
    for (query, summary) in [
        ("samsung", "brand: <mark>Samsung</mark>"),
        (
            "used phones samsung",
            "brand: <mark>Samsung</mark> · category: smart <mark>phones</mark> · category: <mark>Used</mark>",
        ),
        (
            "2024-01-17",
            "since: <mark>2024</mark>-<mark>01</mark>-<mark>17</mark>",
        ),
        ("samsung say", "all that is to <mark>say</mark> of it"),
    ] {
        let answer = search(&engine, query);
        assert_eq!(answer.hits[0].summary, summary, "{query}");
    }
    let answer = search(&engine, "samsung");
    let why = answer.hits[0].explanation.as_ref().unwrap().to_string();
    assert!(
        why.contains("frequency: times in the document (brand)"),
        "{why}"
    );
}

#[test]
fn fields_say_how_they_are_searched() {
    let declared = |kind, weight: Option<f32>| Declaration {
        searchable: weight.is_none().then_some(false),
        weight,
        ..Declaration::of(kind)
    };
    let declared: Declarations = [
        ("brand", declared(FieldType::Keyword, None)),
        ("price", declared(FieldType::Float, None)),
        ("category", declared(FieldType::Keyword, Some(0.0))),
        ("maker.city", declared(FieldType::Keyword, Some(3.0))),
    ]
    .map(|(name, declared)| (name.to_owned(), declared))
    .into_iter()
    .collect();
    let engine = built(declared, None, false);
    for (query, expected) in [
        ("samsung", ""),
        ("brand:samsung", ""),
        ("brand:Samsung", "s24"),
        ("1299", ""),
        ("price:1299", "s24"),
        ("goods", ""),
        ("category:goods", "p9"),
        ("mountain", "p9"),
    ] {
        assert_eq!(found(&engine, query), expected, "{query}");
    }
    let answer = search(&engine, "mountain");
    let why = answer.hits[0].explanation.as_ref().unwrap().to_string();
    assert!(why.contains("maker.city:mountain"), "{why}");
}
