//! Tests that stored pairs agree with the positions of their words and stay within their size limit.

use document::Document;
use index::{
    BuildOptions, DocId, Field, Index, OptimizeOptions, Order, Pairs, PostingsCodec, Segment,
    TermRecord, Writer, check, optimize,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use testkit::{MadeUp, batches};
use vfs::{MemoryStorage, SharedStorage};

fn build(batches: &[Vec<Document>], options: &BuildOptions) -> MemoryStorage {
    let storage = MemoryStorage::new();
    for batch in batches {
        let shared: SharedStorage = Arc::new(storage.clone());
        let mut writer = Writer::open(shared, options.clone()).unwrap();
        for document in batch {
            writer.add(document.clone()).unwrap();
        }
        writer.commit().unwrap();
    }
    storage
}

fn open(storage: &MemoryStorage) -> Index {
    Index::open(Arc::new(storage.clone())).unwrap()
}

fn pairs_file(storage: &MemoryStorage) -> Option<Vec<u8>> {
    let name = storage
        .files()
        .into_iter()
        .find(|name| name.ends_with(".pairs"))?;
    storage.read_raw(&name)
}

/// Returns the words of the default field at each position of each document.
fn texts(segment: &Segment) -> Vec<BTreeMap<u32, String>> {
    let mut texts = vec![BTreeMap::new(); segment.documents_count() as usize];
    let mut words = Vec::new();
    let note = |word: &str, record| words.push((word.to_owned(), record));
    segment.terms_with_prefix(Field::Text, "", note).unwrap();
    let mut positions = Vec::new();
    for (word, record) in words {
        let mut postings = segment.postings(&record).unwrap();
        while postings.doc() != DocId::END {
            postings.positions(&mut positions);
            let text = &mut texts[postings.doc().0 as usize];
            text.extend(positions.iter().map(|&at| (at, word.clone())));
            postings.next();
        }
    }
    texts
}

/// Returns, by document, the number of places where one word follows another.
fn follows(texts: &[BTreeMap<u32, String>], first: &str, second: &str) -> Vec<(u32, u32)> {
    let count = |text: &BTreeMap<u32, String>| {
        let is_pair = |(at, word): (&u32, &String)| {
            word == first && text.get(&(at + 1)).is_some_and(|next| next == second)
        };
        text.iter().filter(|&one| is_pair(one)).count() as u32
    };
    let counts = (0..).zip(texts.iter().map(count));
    counts.filter(|&(_, count)| count > 0).collect()
}

/// Compares every pair of the words; returns the numbers of possible and of stored pairs.
fn compare(index: &Index, words: &[&str]) -> (usize, usize) {
    let (mut known, mut stored) = (0, 0);
    for segment in index.segments(0..index.chunks_count()) {
        let texts = texts(segment);
        let record = |word: &str| segment.term(Field::Text, word).unwrap();
        for first in words {
            for second in words {
                let (Some(one), Some(other)) = (record(first), record(second)) else {
                    continue;
                };
                known += 1;
                let Some(pair) = segment.pair(&one, &other) else {
                    continue;
                };
                stored += 1;
                let mut blocks = segment.pair_blocks(&pair).unwrap();
                let mut found = Vec::new();
                for block in 0..blocks.blocks_count() {
                    blocks.load(block);
                    let (docs, frequencies) = blocks.postings();
                    found.extend(docs.iter().copied().zip(frequencies.iter().copied()));
                }
                assert!(blocks.take_error().is_none());
                assert_eq!(found, follows(&texts, first, second), "{first} {second}");
                assert_eq!(pair.documents_count() as usize, found.len());
            }
        }
    }
    (known, stored)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn pairs_are_what_positions_say(
        batches in batches(3, 30),
        chunks in 1u32..4,
        codec in prop_oneof![Just(PostingsCodec::Packed), Just(PostingsCodec::Vint)],
        order in testkit::orders(),
    ) {
        let options = BuildOptions {
            chunks: Some(chunks),
            partitions: Some(chunks),
            codec: Some(codec),
            pairs: Some(Pairs::All),
            ..BuildOptions::default()
        };
        let words = [&["e"][..], &testkit::documents::VOCABULARY].concat();
        let storage = build(&batches, &options);
        let (known, stored) = compare(&open(&storage), &words);
        prop_assert!(stored > 0 || known == 0);
        let shared: SharedStorage = Arc::new(storage.clone());
        prop_assert_eq!(check(shared.clone(), 10).unwrap().1.len(), 0);
        let options = OptimizeOptions { order: Some(order), ..OptimizeOptions::default() };
        optimize(shared.clone(), &options, &|_| {}).unwrap();
        compare(&open(&storage), &words);
        prop_assert_eq!(check(shared, 10).unwrap().1.len(), 0);
    }
}

fn made_up(documents: usize) -> Vec<Vec<Document>> {
    vec![MadeUp::default().documents(documents).collect()]
}

fn one_chunk(pairs: Option<Pairs>, threads: usize) -> BuildOptions {
    BuildOptions {
        chunks: Some(1),
        pairs,
        threads,
        ..BuildOptions::default()
    }
}

/// Returns the 24 most frequent words of the default field.
fn most_frequent(index: &Index) -> Vec<String> {
    let mut words = Vec::new();
    for segment in index.segments(0..1) {
        let note = |word: &str, record: TermRecord| {
            words.push((record.documents_count, word.to_owned()));
        };
        segment.terms_with_prefix(Field::Text, "", note).unwrap();
    }
    words.sort_by(|one, other| other.cmp(one));
    words.truncate(24);
    words.into_iter().map(|(_, word)| word).collect()
}

#[test]
fn the_pairs_kept_are_few_and_the_same_on_any_number_of_threads() {
    let documents = made_up(9_000);
    let [one, three] = [1, 3].map(|threads| build(&documents, &one_chunk(None, threads)));
    let [file, same] = [&one, &three].map(|storage| pairs_file(storage).unwrap());
    // Ids of indexes differ, and therefore their checksums.
    assert!(file.len() == same.len() && file[64..file.len() - 64] == same[64..same.len() - 64]);
    let all = open(&one).index_bytes();
    assert!(
        file.len() as u64 * 200 < all,
        "{} of {all} bytes",
        file.len()
    );
    let index = open(&one);
    let words = most_frequent(&index);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert!(compare(&index, &words).1 > 3);
    assert_eq!(check(Arc::new(one), 10).unwrap().1.len(), 0);
}

#[test]
fn an_index_may_have_no_pairs_and_says_so() {
    let storage = build(&made_up(9_000), &one_chunk(Some(Pairs::None), 1));
    assert!(pairs_file(&storage).is_none());
    let manifest = storage.read_raw("MANIFEST-1").unwrap();
    assert!(String::from_utf8_lossy(&manifest).contains("\"pairs\": \"none\""));
    let shared: SharedStorage = Arc::new(storage.clone());
    let error = Writer::open(shared.clone(), one_chunk(Some(Pairs::All), 1));
    let message = error.map(drop).unwrap_err().to_string();
    assert!(message.contains("--pairs none, not all"), "{message}");
    let by_url = OptimizeOptions {
        order: Some(Order::Url),
        ..OptimizeOptions::default()
    };
    optimize(shared, &by_url, &|_| {}).unwrap();
    assert!(pairs_file(&storage).is_none());
}
