//! Equality of an index without texts in all but the texts, after any replacements.

use document::Document;
use index::{BuildOptions, Field, Index, OptimizeOptions, Order, Texts, Writer, check, optimize};
use std::sync::Arc;
use text::{Analyzer, Languages};
use vfs::{MemoryStorage, SharedStorage};

fn document(number: usize, version: usize) -> Document {
    Document {
        url: format!("http://s{}.test/{number}", number % 3),
        title: format!("title {version}"),
        body: format!(
            "version {version} w{} w{} w{} Re-read FooBar-v{version}.{number}",
            number % 4,
            number,
            number * version,
        ),
        ..Document::default()
    }
}

/// Makes three commits, of which the later ones replace some documents of all earlier ones.
fn build(texts: Texts, analyzer: Analyzer) -> SharedStorage {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    let options = BuildOptions {
        texts: Some(texts),
        analyzer: Some(analyzer),
        ..BuildOptions::default()
    };
    for (version, step) in [(1, 1), (2, 3), (3, 5)] {
        let mut writer = Writer::open(storage.clone(), options.clone()).unwrap();
        for number in (0..60).step_by(step) {
            writer.add(document(number, version)).unwrap();
        }
        let summary = writer.commit().unwrap();
        assert_eq!(summary.store_bytes == 0, texts == Texts::None);
    }
    assert!(check(storage.clone(), 10).unwrap().1.is_empty());
    storage
}

#[test]
fn statistics_need_no_texts() {
    statistics_are_the_same(Analyzer::Plain);
}

#[test]
fn statistics_of_several_terms_a_place_need_no_texts() {
    statistics_are_the_same(Analyzer::Standard(Languages::default()));
}

fn statistics_are_the_same(analyzer: Analyzer) {
    let (stored, none) = (build(Texts::Stored, analyzer), build(Texts::None, analyzer));
    compare(&stored, &none);
    for storage in [&stored, &none] {
        let options = OptimizeOptions {
            order: Some(Order::Url),
            ..OptimizeOptions::default()
        };
        optimize(storage.clone(), &options, &|_| {}).unwrap();
        assert!(check(storage.clone(), 10).unwrap().1.is_empty());
    }
    compare(&stored, &none);
}

fn compare(stored: &SharedStorage, none: &SharedStorage) {
    let open = |storage: &SharedStorage| Index::open(storage.clone()).unwrap();
    let (stored, none) = (open(stored), open(none));
    let url = "http://s1.test/1";
    assert!(stored.documents().document(url).unwrap().is_some());
    assert!(none.documents().document(url).unwrap().is_none());
    assert_eq!(none.documents().texts(), Texts::None);
    let (stored, none) = (stored.statistics(), none.statistics());
    assert_eq!(stored.documents_count(), none.documents_count());
    for field in Field::WITH_LENGTHS {
        assert_eq!(stored.average_length(field), none.average_length(field));
    }
    let words = (0..200).map(|number| format!("w{number}"));
    let others = [
        "version", "title", "1", "2", "3", "read", "foobar", "reread",
    ];
    let words = words.chain(others.map(str::to_owned));
    let mut found = 0;
    for word in words {
        for field in Field::WITH_LENGTHS {
            let frequency = stored.document_frequency(field, &word).unwrap();
            assert_eq!(
                frequency,
                none.document_frequency(field, &word).unwrap(),
                "{word}"
            );
            found += frequency;
        }
    }
    assert!(found > 0);
}
