//! Tiny documents in which rare cases are common: one-letter words, repeated words, empty bodies, the same address
//! twice.
use document::{Document, PART_NAMES};
use fields::each_leaf;
use json::{Map, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

/// Words of documents and queries. Some share a start, so that a prefix covers several.
pub const VOCABULARY: [&str; 10] = ["a", "b", "c", "d", "ab", "abc", "ba", "ca", "é", "1"];

/// Returns a word; early words of the vocabulary are more frequent.
pub fn words() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => (0usize..2).prop_map(|word| VOCABULARY[word]),
        3 => (0usize..5).prop_map(|word| VOCABULARY[word]),
        2 => (0usize..VOCABULARY.len()).prop_map(|word| VOCABULARY[word]),
    ]
}

fn texts(words_max: usize) -> impl Strategy<Value = String> {
    let separators = prop_oneof![
        8 => Just(" "),
        1 => Just(", "),
        1 => Just("-"),
        1 => Just("\n"),
    ];
    vec((words(), separators, any::<bool>()), 0..words_max).prop_map(|words| {
        let mut text = String::new();
        for (word, separator, upper) in words {
            if upper {
                text.push_str(&word.to_uppercase());
            } else {
                text.push_str(word);
            }
            text.push_str(separator);
        }
        text
    })
}

/// Addresses: few enough that some come twice, on few sites.
pub fn urls() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => (0u8..4, 0u8..12).prop_map(|(site, page)| format!("http://s{site}.test/{page}")),
        1 => (0u8..3).prop_map(|page| format!("file:///Folder/{page}.txt")),
        1 => (0u8..3).prop_map(|page| format!("note-{page}")),
    ]
}

/// One document.
pub fn document() -> impl Strategy<Value = Document> {
    // Mostly short; now and then long enough for lengths that a byte cannot hold exactly.
    let body = prop_oneof![6 => texts(12), 1 => texts(90)];
    let document = (urls(), texts(4), body, further_fields());
    (document, 0u8..6).prop_map(|((url, title, body, fields), part)| {
        let document = Document {
            url,
            title,
            body,
            fields,
            ..Document::default()
        };
        match part {
            0 => with_part("title", json!("x"), document),
            1 => with_part("body", json!(["x"]), document),
            2 => with_part("body", json!(["x", "y.z"]), document),
            _ => document,
        }
    })
}

/// Makes fields a part of the document, under their own names.
fn with_part(part: &str, names: serde_json::Value, mut document: Document) -> Document {
    let mut texts = Vec::new();
    each_leaf(&document.fields, &mut |path, value| {
        let is_part = names == path
            || names
                .as_array()
                .is_some_and(|all| all.contains(&path.into()));
        texts.extend(value.as_str().filter(|_| is_part).map(str::to_owned));
    });
    if !texts.is_empty() {
        match part {
            "title" => document.title = texts.join("\n"),
            _ => document.body = texts.join("\n"),
        }
        let names = Value::from(json!({ part: names }));
        document.fields.insert(PART_NAMES.to_owned(), names);
    }
    document
}

/// Fields of every type: `n` integers, `f` floats, `k` keywords, `t` dates, `b` truth values, `x` and `y.z` texts, now
/// and then several of one field, or none.
pub fn further_fields() -> impl Strategy<Value = Map<String, Value>> {
    let one = prop_oneof![
        3 => prop_oneof![8 => -2i64..12, 1 => Just(i64::MAX), 1 => Just(i64::MIN)]
            .prop_map(|number| ("n", json!(number))),
        2 => (-5i32..9).prop_map(|quarters| ("f", json!(f64::from(quarters) / 4.0))),
        // Without the numeral, which is the last: a field that has hardly anything else is one of numbers.
        3 => (0usize..VOCABULARY.len() - 1).prop_map(|word| ("k", json!(VOCABULARY[word]))),
        2 => (1u8..4, 1u8..4, 0u8..3).prop_map(|(month, day, hour)| {
            let day = format!("2024-{month:02}-{day:02}");
            ("t", json!(if hour == 0 { day } else { format!("{day}T{hour:02}:00:00Z") }))
        }),
        1 => any::<bool>().prop_map(|truth| ("b", json!(truth))),
        2 => texts(9).prop_map(|text| ("x", json!(text))),
        1 => texts(40).prop_map(|text| ("y", json!({ "z": text }))),
    ];
    vec(one, 0..6).prop_map(|all| {
        let mut fields = Map::new();
        for (name, value) in all {
            let value = Value::from(value);
            match fields.get_mut(name) {
                None => {
                    fields.insert(name.to_owned(), value);
                }
                Some(Value::Array(values)) => values.push(value),
                Some(first) => *first = Value::Array(vec![std::mem::take(first), value]),
            }
        }
        fields
    })
}

/// Returns a pile of documents, possibly empty.
pub fn documents(count_max: usize) -> impl Strategy<Value = Vec<Document>> {
    vec(document(), 0..count_max)
}

/// Documents as commits add them: some batches, possibly empty ones.
pub fn batches(commits_max: usize, count_max: usize) -> impl Strategy<Value = Vec<Vec<Document>>> {
    vec(documents(count_max), 1..=commits_max)
}
