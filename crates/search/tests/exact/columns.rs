//! Columns of typed fields: the values of documents come back, whatever the layout and the history.

use document::Document;
use fields::{FieldType, Test, Value};
use index::{BuildOptions, DocId, Index, IndexError, Writer, check, optimize};
use proptest::prelude::*;
use std::sync::Arc;
use testkit::building::{BuildPlan, build_index, build_plans};
use testkit::documents::batches;
use vfs::{MemoryStorage, SharedStorage};

fn document(number: usize, fields: &str) -> Document {
    Document {
        url: format!("http://a.test/{number}"),
        title: "t".into(),
        fields: serde_json::from_str(fields).unwrap(),
        ..Document::default()
    }
}

/// Returns the values of a field by URL, of live documents.
fn values(index: &Index, name: &str) -> Vec<(String, Vec<Value>)> {
    let mut all = Vec::new();
    for segment in index.segments(..) {
        for doc in (0..segment.documents_count()).map(DocId) {
            if segment.is_deleted(doc) {
                continue;
            }
            let mut values = Vec::new();
            if let Some(column) = segment.column(name).unwrap() {
                column.each_code(doc, |code| values.push(column.value(code).unwrap()));
            }
            all.push((segment.details(doc).unwrap().url, values));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn build(documents: &[Document]) -> Index {
    build_index(&[documents.to_vec()], BuildPlan::PLAIN).unwrap()
}

#[test]
fn every_type_and_coding_comes_back() {
    let lists: [(&str, &[&str], FieldType); 9] = [
        (
            "days",
            &["\"2024-01-01\"", "\"1969-07-20\"", "\"2024-01-03\""],
            FieldType::Date,
        ),
        (
            "times",
            &["\"2024-01-01T00:00:00.000001Z\"", "\"0001-01-01\""],
            FieldType::Date,
        ),
        (
            "far",
            &["-9223372036854775808", "9223372036854775807", "0"],
            FieldType::Integer,
        ),
        (
            "near",
            &["1000000", "1000002", "1000010"],
            FieldType::Integer,
        ),
        ("cents", &["1.25", "-3.1", "0.0"], FieldType::Float),
        (
            "odd",
            &["0.1234567891", "1e308", "-5e-324"],
            FieldType::Float,
        ),
        ("truth", &["true", "false"], FieldType::Bool),
        (
            "word",
            &["\"b\"", "\"a\"", "\"\"", "\"é\""],
            FieldType::Keyword,
        ),
        ("same", &["7", "7", "7"], FieldType::Integer),
    ];
    for (name, list, kind) in lists {
        let of = |value: &str| Value::of(kind, &serde_json::from_str(value).unwrap()).unwrap();
        // One value each, and a document without.
        let mut documents: Vec<Document> = (0..)
            .zip(list)
            .map(|(number, value)| document(number, &format!("{{\"{name}\":{value}}}")))
            .collect();
        let all = build(&documents);
        assert_eq!(all.fields().get(name), Some(kind));
        let expected: Vec<_> = list.iter().map(|value| vec![of(value)]).collect();
        assert_eq!(
            values(&all, name)
                .into_iter()
                .map(|(_, v)| v)
                .collect::<Vec<_>>(),
            expected
        );
        documents.push(document(list.len(), "{}"));
        // All of them in one document.
        let joined = format!("{{\"{name}\":[{}]}}", list.join(","));
        documents.push(document(list.len() + 1, &joined));
        let mut sorted: Vec<Value> = list.iter().map(|value| of(value)).collect();
        sorted.sort_by(Value::order);
        let index = build(&documents);
        let found = values(&index, name);
        assert_eq!(found[list.len()].1, []);
        assert_eq!(found[list.len() + 1].1, sorted, "{name}");
        let segment = index.segments(..).next().unwrap();
        let column = segment.column(name).unwrap().unwrap();
        let passing: Vec<bool> = sorted
            .iter()
            .map(|value| {
                let range = column.range(&Test::equals(value.clone())).unwrap();
                column.passes(DocId(list.len() as u32 + 1), range)
            })
            .collect();
        assert!(passing.iter().all(|passes| *passes), "{name}");
    }
}

#[test]
fn values_that_do_not_fit_are_counted_and_the_document_stays() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let commit = |documents: &[Document]| {
        let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
        documents
            .iter()
            .for_each(|one| writer.add(one.clone()).unwrap());
        writer.commit().unwrap()
    };
    let first = commit(&[
        document(1, r#"{"n":1}"#),
        document(2, r#"{"n":"many"}"#),
        document(3, r#"{"n":3}"#),
    ]);
    assert_eq!(first.misfits.get("n"), Some(&1));
    // The type stays, and a new field is no rebuild.
    let second = commit(&[document(4, r#"{"n":"x","new":true}"#)]);
    assert_eq!(second.misfits.get("n"), Some(&1));
    assert_eq!(second.fields.get("n"), Some(FieldType::Integer));
    let index = Index::open(storage.clone()).unwrap();
    assert_eq!(index.fields().get("new"), Some(FieldType::Bool));
    let found: Vec<_> = values(&index, "n")
        .into_iter()
        .map(|(_, values)| values.len())
        .collect();
    assert_eq!(found, [1, 0, 1, 0]);
    let stored = index
        .documents()
        .document("http://a.test/2")
        .unwrap()
        .unwrap();
    assert_eq!(stored.fields["n"], "many");
    let summary = &index.field_summaries().unwrap()[0];
    assert_eq!((summary.documents_count, summary.distinct_count), (2, 2));
    assert_eq!(
        (&summary.least, &summary.greatest),
        (&Some(Value::Integer(1)), &Some(Value::Integer(3)))
    );
}

#[test]
fn damage_of_columns_is_an_error() {
    let documents: Vec<Document> = (0..50)
        .map(|number| {
            document(
                number,
                &format!(r#"{{"n":{number},"k":["k{}","x"]}}"#, number % 7),
            )
        })
        .collect();
    let memory = MemoryStorage::new();
    let storage: SharedStorage = Arc::new(memory.clone());
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    documents
        .iter()
        .for_each(|one| writer.add(one.clone()).unwrap());
    writer.commit().unwrap();
    let name = "segment-00000001.columns";
    let bytes = memory.read_raw(name).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        memory.write_raw(name, damaged);
        let other = storage.clone();
        let read = || -> Result<Vec<Option<Value>>, IndexError> {
            let index = Index::open(other.clone())?;
            let mut found = Vec::new();
            for segment in index.segments(..) {
                for name in ["n", "k"] {
                    let column = segment.column(name)?.expect("a column");
                    for doc in (0..segment.documents_count()).map(DocId) {
                        column.each_code(doc, |code| found.push(column.value(code)));
                    }
                }
            }
            Ok(found)
        };
        let outcome = read();
        assert!(
            matches!(outcome, Err(IndexError::Damaged { .. })),
            "byte {at}: {outcome:?}"
        );
        let (_, damages) = check(other, 10).unwrap();
        assert!(!damages.is_empty(), "byte {at}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(60, 1_000)))]

    /// The columns of any layout and history hold the values of the live documents, and pass the check.
    #[test]
    fn columns_are_those_of_the_documents(batches in batches(4, 12), plan in build_plans()) {
        let index = build_index(&batches, plan).unwrap();
        let mut live = std::collections::BTreeMap::new();
        for document in batches.iter().flatten() {
            live.insert(document.url.clone(), document.clone());
        }
        for (name, kind) in index.fields().columnar() {
            let expected: Vec<_> = live
                .values()
                .map(|document| {
                    let mut values = Vec::new();
                    fields::each_leaf(&document.fields, &mut |path, json| {
                        if path == name {
                            values.extend(Value::of(kind, json));
                        }
                    });
                    values.sort_by(Value::order);
                    if kind == FieldType::Keyword {
                        values.dedup();
                    }
                    (document.url.clone(), values)
                })
                .collect();
            prop_assert_eq!(values(&index, name), expected, "{}", name);
        }
    }

    /// Marks of a range are what its documents pass one by one, and what their values pass.
    #[test]
    fn ranges_select_the_documents_whose_values_pass(
        batches in batches(2, 40),
        test in prop_oneof![
            Just(("n", "3..7")), Just(("n", ">5")), Just(("n", "<=2")), Just(("k", "a*")), Just(("k", "b")),
            Just(("k", "b..c")), Just(("t", "2024-02")), Just(("t", "<2024-02")), Just(("f", "0.5..1")), Just(("b", "true")),
            Just(("n", "*")), Just(("f", ">=-1"))],
    ) {
        let index = build_index(&batches, BuildPlan::PLAIN).unwrap();
        let (name, text) = test;
        let Some(kind) = index.fields().get(name) else { return Ok(()) };
        let Ok(test) = Test::parse(kind, text) else { return Ok(()) };
        for segment in index.segments(..) {
            let Some(column) = segment.column(name).unwrap() else { continue };
            let mut words = vec![u64::MAX; segment.documents_count().div_ceil(64) as usize + 1];
            let range = column.range(&test);
            match range {
                Some(range) => column.mark(0, &mut words, range),
                None => words.fill(0),
            }
            for doc in 0..segment.documents_count() {
                let mut passes = false;
                column.each_code(DocId(doc), |code| passes |= test.passes(&column.value(code).unwrap()));
                prop_assert_eq!(words[doc as usize / 64] >> (doc % 64) & 1 == 1, passes);
                prop_assert_eq!(range.is_some_and(|range| column.passes(DocId(doc), range)), passes);
                if let (true, Some(range)) = (passes, range) {
                    prop_assert_eq!(column.skip_blocks(DocId(doc), range), DocId(doc));
                }
            }
            prop_assert_eq!(words[segment.documents_count().div_ceil(64) as usize], 0);
        }
    }
}

#[test]
fn an_index_without_fields_has_no_columns_and_optimize_keeps_them() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let commit = |documents: &[Document]| {
        let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
        documents
            .iter()
            .for_each(|one| writer.add(one.clone()).unwrap());
        writer.commit().unwrap();
    };
    commit(&[document(1, "{}")]);
    assert!(Index::open(storage.clone()).unwrap().fields().is_empty());
    commit(&[document(2, r#"{"a":{"b":[3,1]}}"#)]);
    commit(&[document(3, r#"{"a":{"b":2}}"#)]);
    let before = values(&Index::open(storage.clone()).unwrap(), "a.b");
    assert_eq!(before[1].1, [Value::Integer(1), Value::Integer(3)]);
    optimize(storage.clone(), &Default::default(), &|_| {}).unwrap();
    let index = Index::open(storage.clone()).unwrap();
    assert_eq!(index.segments(..).count(), 1);
    assert_eq!(values(&index, "a.b"), before);
    assert_eq!(check(storage, 10).unwrap().1.len(), 0);
}
