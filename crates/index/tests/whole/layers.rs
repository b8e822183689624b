//! Agreement of layered statistics with those written as a whole, after any commits and replacements.

use document::Document;
use index::{BuildOptions, Field, Index, OptimizeOptions, Texts, Writer, check, optimize};
use proptest::prelude::*;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

/// Returns a document with some words that all have, and one word of its own version.
fn document(number: u16, version: usize) -> Document {
    let words =
        (0..12).map(|word| format!("w{} ", (usize::from(number) * 7 + word * version) % 97));
    Document {
        url: format!("http://site-{}.test/{number}", number % 5),
        title: format!("title {number} of{version}"),
        body: words.collect::<String>() + &format!("own{number} "),
        ..Document::default()
    }
}

/// Makes commits in turn; statistics of up to `small_terms_max` terms are written as a whole.
fn committed(commits: &[Vec<u16>], texts: Texts, small_terms_max: u64) -> SharedStorage {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    for (version, numbers) in commits.iter().enumerate() {
        let options = BuildOptions {
            chunks: Some(4),
            partitions: Some(2),
            texts: Some(texts),
            small_terms_max: Some(small_terms_max),
            ..BuildOptions::default()
        };
        let mut writer = Writer::open(storage.clone(), options).unwrap();
        for &number in numbers {
            writer.add(document(number, version + 1)).unwrap();
        }
        writer.commit().unwrap();
    }
    storage
}

/// Whether the newest manifest has layers.
fn has_layers(storage: &SharedStorage) -> bool {
    let generation = Index::newest_generation(storage).unwrap().unwrap();
    let manifest = storage.open(&format!("MANIFEST-{generation}")).unwrap();
    String::from_utf8_lossy(&manifest).contains("\"counted\"")
}

/// Returns, for every word of the documents and an unknown one, the document frequency and the places.
fn counts(index: &Index) -> Vec<(u64, Vec<(u32, u32)>)> {
    let words = (0..97).map(|word| format!("w{word}"));
    let own = (0..320).map(|number| format!("own{number}"));
    let versions = (1..9).map(|version| format!("of{version}"));
    let words: Vec<String> = words
        .chain(own)
        .chain(versions)
        .chain(["none".into()])
        .collect();
    let sites = (0..6).map(|site| (Field::Site, format!("site-{site}.test")));
    let fields = words
        .iter()
        .flat_map(|word| [Field::Text, Field::Title].map(|field| (field, word.clone())));
    fields
        .chain(sites)
        .map(
            |(field, word)| match index.statistics().term(field, &word).unwrap() {
                None => (0, Vec::new()),
                Some(found) => {
                    let places = found.places.iter();
                    let places = places.map(|place| (place.segment, place.record.documents_count));
                    (found.document_frequency, places.collect())
                }
            },
        )
        .collect()
}

fn check_same(layered: &SharedStorage, whole: &SharedStorage) {
    let [layered, whole] = [layered, whole].map(|storage| {
        let (_, damages) = check(storage.clone(), 10).unwrap();
        assert!(damages.is_empty(), "{damages:?}");
        Index::open(storage.clone()).unwrap()
    });
    assert_eq!(counts(&layered), counts(&whole));
    let [one, other] = [&layered, &whole].map(|index| index.statistics());
    assert_eq!(one.documents_count(), other.documents_count());
    for field in [Field::Text, Field::Title] {
        assert_eq!(one.words_count(field), other.words_count(field));
        assert_eq!(one.average_length(field), other.average_length(field));
    }
}

#[test]
fn small_commits_are_layers_and_count_as_a_whole() {
    for texts in [Texts::Stored, Texts::None] {
        // A base, then few documents at a time: new ones, ones of the base, ones of a layer.
        let mut commits = vec![(0..300).collect()];
        commits.extend([vec![300], vec![3], vec![3, 301], vec![], vec![300, 4, 302]]);
        for count in 2..=commits.len() {
            let layered = committed(&commits[..count], texts, 0);
            assert!(has_layers(&layered), "{count}");
            let whole = committed(&commits[..count], texts, u64::MAX);
            assert!(!has_layers(&whole));
            check_same(&layered, &whole);
        }
        // As many documents again cause a new base.
        commits.push((20..310).collect());
        let layered = committed(&commits, texts, 0);
        assert!(!has_layers(&layered));
        check_same(&layered, &committed(&commits, texts, u64::MAX));
    }
}

#[test]
fn many_segments_are_counted_anew_now_and_then() {
    let mut commits: Vec<Vec<u16>> = vec![(0..100).collect()];
    commits.extend((0..36).map(|number| vec![100 + number % 20]));
    let storage = committed(&commits, Texts::Stored, 0);
    check_same(&storage, &committed(&commits, Texts::Stored, u64::MAX));
    // Two partitions, so a commit of one document makes one segment: 2 + 33 exceed the limit.
    let newest = Index::open(storage.clone()).unwrap();
    assert!(newest.segments(..).count() > 32 && has_layers(&storage));
    let entries = storage.list().unwrap();
    let bases = entries
        .iter()
        .filter(|name| name.starts_with("statistics-"));
    assert!((2..8).contains(&bases.count()), "{entries:?}");
    optimize(storage.clone(), &OptimizeOptions::default(), &|_| {}).unwrap();
    assert!(!has_layers(&storage));
    let (_, damages) = check(storage, 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
}

#[test]
fn layers_that_say_something_else_are_found_by_a_check() {
    let commits: [Vec<u16>; 3] = [(0..100).collect(), vec![100], vec![3]];
    let good = committed(&commits, Texts::Stored, 0);
    let other = committed(&[(0..100).collect(), vec![100], vec![4]], Texts::Stored, 0);
    assert!(has_layers(&good) && has_layers(&other));
    let names = good.list().unwrap();
    // Files of another index are refused by their ids before any comparison.
    let deleted = names.iter().find(|name| *name == "statistics-3").unwrap();
    let (disk, bytes) = (MemoryStorage::new(), other.open(deleted).unwrap().to_vec());
    for name in &names {
        let of_good = good.open(name).unwrap().to_vec();
        disk.write_raw(
            name,
            if name == deleted {
                bytes.clone()
            } else {
                of_good
            },
        );
    }
    let (_, damages) = check(Arc::new(disk), 10).unwrap();
    assert!(
        damages[0].to_string().contains("statistics-3"),
        "{damages:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_commits_count_as_a_whole(
        first in prop::collection::vec(0u16..120, 40..120),
        later in prop::collection::vec(prop::collection::vec(0u16..120, 0..4), 1..8),
        has_texts in any::<bool>(),
    ) {
        let texts = if has_texts { Texts::Stored } else { Texts::None };
        let commits: Vec<Vec<u16>> = [first].into_iter().chain(later).collect();
        check_same(&committed(&commits, texts, 0), &committed(&commits, texts, u64::MAX));
    }
}
