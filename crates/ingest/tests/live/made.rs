//! Documents, changes and random histories, and what of an index answers depend on.

use document::Document;
use index::{BuildOptions, Field, Index, Writer};
use ingest::{Change, ConditionalChange, LiveOptions};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use vfs::{MemoryStorage, SharedStorage};

/// Versions by document.
pub(crate) type Versions = BTreeMap<usize, u64>;

/// Returns what is in an index of `started`.
pub(crate) fn first() -> Versions {
    (0..5).map(|number| (number, 1)).collect()
}

pub(crate) fn document(number: usize, version: u64) -> Document {
    Document {
        url: format!("http://site-{}.test/{number}", number % 3),
        title: format!("title {number}"),
        body: format!("word{number} and version{version}, which {version} words tell"),
        fields: [("version".to_owned(), version.into())]
            .into_iter()
            .collect(),
        ..Document::default()
    }
}

pub(crate) fn url(number: usize) -> String {
    document(number, 0).url
}

pub(crate) fn put(number: usize, version: u64) -> ConditionalChange {
    Change::Put(document(number, version)).into()
}

pub(crate) fn delete(number: usize) -> ConditionalChange {
    Change::Delete { url: url(number) }.into()
}

pub(crate) fn build(storage: &SharedStorage, documents: impl Iterator<Item = Document>) {
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    documents.for_each(|document| writer.add(document).unwrap());
    writer.commit().unwrap();
}

pub(crate) fn index_of(storage: &SharedStorage) -> Index {
    Index::open(storage.clone()).unwrap()
}

/// Versions of documents 0 to 40.
pub(crate) fn contents(index: &Index) -> Versions {
    let stored = |number| index.document(&url(number)).unwrap();
    (0..40)
        .filter_map(|number| Some((number, stored(number)?.fields["version"].as_u64()?)))
        .collect()
}

/// What of an index answers depend on.
pub(crate) fn figures(index: &Index) -> Vec<(String, u64)> {
    let statistics = index.statistics();
    let mut figures = vec![("documents".to_owned(), statistics.documents_count())];
    let words = (0..40).map(|number| format!("word{number}"));
    let words = words.chain((0..210).map(|version| format!("version{version}")));
    for word in words.chain(["and", "words"].map(String::from)) {
        let frequency = statistics.document_frequency(Field::Text, &word).unwrap();
        figures.push((word, frequency));
    }
    let live: u32 = index
        .segments(..index.chunks_count())
        .map(|one| one.live_documents_count())
        .sum();
    figures.push(("live".to_owned(), live.into()));
    figures
}

pub(crate) fn slow_refresh() -> LiveOptions {
    LiveOptions {
        refresh: Duration::from_secs(3600),
        ..LiveOptions::default()
    }
}

pub(crate) fn started() -> SharedStorage {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    build(&storage, (0..5).map(|number| document(number, 1)));
    storage
}

/// Batches of changes, and what is there after each.
pub(crate) type History = Vec<(Vec<ConditionalChange>, Versions)>;

/// Returns the changes of a seed to the index of `started`.
pub(crate) fn history(seed: u64, batches: usize) -> History {
    history_after(first(), 1, seed, batches)
}

/// Returns the changes of a seed to an index of `state`. Documents get the versions after `version`.
pub(crate) fn history_after(
    mut state: Versions,
    mut version: u64,
    seed: u64,
    batches: usize,
) -> History {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = move |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut batch = || {
        let mut changes = Vec::new();
        for _ in 0..=next(4) {
            let number = next(30) as usize;
            version += 1;
            match next(4) {
                0 => {
                    state.remove(&number);
                    changes.push(delete(number));
                }
                1 if state.contains_key(&number) => {
                    state.insert(number, version);
                    let whole = document(number, version);
                    let patch = [
                        ("body".to_owned(), whole.body.into()),
                        ("version".to_owned(), version.into()),
                    ];
                    let patch = patch.into_iter().collect();
                    changes.push(
                        Change::Patch {
                            url: whole.url,
                            patch,
                            absent: None,
                        }
                        .into(),
                    );
                }
                _ => {
                    state.insert(number, version);
                    changes.push(put(number, version));
                }
            }
        }
        (changes, state.clone())
    };
    (0..batches).map(|_| batch()).collect()
}
