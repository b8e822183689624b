use super::*;
use crate::{BuildOptions, Index, Writer};
use proptest::prelude::*;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

type Texts = (String, Option<String>, String);

/// Returns an index of one segment.
fn index_of(rows: &[Texts]) -> Index {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    let options = BuildOptions {
        chunks: Some(1),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for (url, id, title) in rows {
        let document = document::Document {
            url: url.clone(),
            id: id.clone(),
            title: title.clone(),
            ..Default::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    Index::open(storage).unwrap()
}

fn check(rows: &[Texts]) {
    let index = index_of(rows);
    let Some(segment) = index.segments(0..1).next() else {
        return assert!(rows.is_empty());
    };
    let mut reader = segment.details_reader();
    for (doc, (url, id, title)) in (0..).map(DocId).zip(rows) {
        let id = id.as_ref().unwrap_or(url);
        let details = segment.details(doc).unwrap();
        assert_eq!(
            (&details.url, &details.id, &details.title),
            (url, id, title)
        );
        assert_eq!(details.site, document::site_of(url));
        assert_eq!(reader.url(doc).unwrap(), url);
        assert_eq!(reader.id(doc).unwrap(), id);
        assert_eq!(reader.title(doc).unwrap(), title);
        assert_eq!(reader.read(doc).unwrap(), details);
    }
}

fn row(number: usize) -> Texts {
    (
        format!("http://h{}.test/{}", number % 7, number * number),
        number.is_multiple_of(3).then(|| format!("id-{number}")),
        format!("{number} words"),
    )
}

#[test]
fn rows_of_any_number_and_length_come_back() {
    for count in [0, 1, 40, 4095, 4096, 4097, 9000] {
        check(&(0..count).map(row).collect::<Vec<_>>());
    }
    // A title that takes hardly a byte when compressed, and one that takes all its bytes.
    let long = "a".repeat(3_000_000);
    check(&[("http://u.test/".to_owned(), None, long)]);
    let signs: String = (0..50_000)
        .filter_map(|sign| char::from_u32(0x4e00 + sign * 7 % 20_000))
        .collect();
    check(&[(
        "http://u.test/ü?a=1#b".to_owned(),
        Some("é".to_owned()),
        signs,
    )]);
}

#[test]
fn a_reader_reads_in_any_order_what_single_reads_do() {
    const DOCUMENTS: u32 = 300;
    let index = index_of(&(0..DOCUMENTS as usize).map(row).collect::<Vec<_>>());
    let segment = index.segments(0..1).next().unwrap();
    let mut reader = segment.details_reader();
    for step in [1, 7, 131, DOCUMENTS - 1] {
        for doc in (0..DOCUMENTS).map(|at| DocId(at * step % DOCUMENTS)) {
            assert_eq!(reader.read(doc).unwrap(), segment.details(doc).unwrap());
        }
        // An error leaves nothing behind.
        for beyond in [DOCUMENTS, u32::MAX] {
            let beyond = reader.read(DocId(beyond));
            assert!(matches!(beyond, Err(IndexError::Damaged { .. })));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_texts_come_back(
        texts in prop::collection::vec((prop::option::of(".{1,9}"), ".{0,40}"), 0..300),
    ) {
        let rows = texts.into_iter().enumerate();
        check(&rows.map(|(number, (id, title))| (format!("http://s.test/{number}"), id, title)).collect::<Vec<_>>());
    }
}
