//! An index of numbered documents in two versions, of which the tests of survival are.

use document::Document;
use index::{
    BuildOptions, DocId, Index, IndexError, OptimizeOptions, Order, Pairs, Writer, optimize,
};
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

pub(crate) fn document(number: usize, version: usize) -> Document {
    Document {
        url: format!("http://site-{}.test/{number}", number % 3),
        title: format!("title {number} version{version}"),
        body: "some words that every document has, and one of its own ".repeat(number % 7)
            + &format!("word{number} version{version}"),
        fields: [
            ("number".to_owned(), number.into()),
            ("lang".to_owned(), ["en", "de"][version % 2].into()),
        ]
        .into_iter()
        .collect(),
        ..Document::default()
    }
}

pub(crate) fn options() -> BuildOptions {
    BuildOptions {
        chunks: Some(2),
        partitions: Some(2),
        // Few documents would have no pairs otherwise.
        pairs: Some(Pairs::All),
        ..BuildOptions::default()
    }
}

/// Commits documents `from..to` of a version to the existing index.
pub(crate) fn commit(
    storage: &SharedStorage,
    documents: std::ops::Range<usize>,
    version: usize,
) -> Result<(), IndexError> {
    commit_in(None, None, storage, documents, version)
}

/// Does the same as `commit`, with an order for the whole index.
pub(crate) fn commit_in(
    order: Option<Order>,
    segments_max: Option<usize>,
    storage: &SharedStorage,
    documents: std::ops::Range<usize>,
    version: usize,
) -> Result<(), IndexError> {
    let options = BuildOptions {
        order,
        segments_max,
        ..options()
    };
    let mut writer = Writer::open(storage.clone(), options)?;
    for number in documents {
        writer.add(document(number, version))?;
    }
    writer.commit().map(drop)
}

/// Returns the numbers of documents, and of those of version 2, by the titles of the store.
pub(crate) fn contents(index: &Index) -> Result<(u64, usize), IndexError> {
    let mut newer = 0;
    for segment in index.segments(0..index.chunks_count()) {
        for doc in (0..segment.documents_count())
            .map(DocId)
            .filter(|&d| !segment.is_deleted(d))
        {
            let details = segment.details(doc)?;
            let stored = index.documents().document(&details.url)?;
            assert_eq!(stored.as_ref().map(|s| &s.title), Some(&details.title));
            newer += usize::from(details.title.ends_with("version2"));
        }
    }
    Ok((index.statistics().documents_count(), newer))
}

/// Bisects the result of two commits: 20 documents, 14 of them newer, and deletions.
pub(crate) fn reorder(storage: &SharedStorage) -> Result<u64, IndexError> {
    let options = OptimizeOptions {
        order: Some(Order::Bisection),
        ..OptimizeOptions::default()
    };
    optimize(storage.clone(), &options, &|_| {}).map(|summary| summary.generation)
}

/// Builds a small index with every kind of file.
pub(crate) fn small_index() -> MemoryStorage {
    let disk = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(disk.clone());
    commit(&shared, 0..9, 1).unwrap();
    commit(&shared, 5..12, 2).unwrap();
    disk
}
