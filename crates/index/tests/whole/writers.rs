//! Writers that exclude each other, leave nothing behind, and refuse options that do not fit the index.

use crate::versions::{commit, contents, document, options, reorder, small_index};
use index::{BuildOptions, Index, IndexError, Pairs, Writer, check};
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage, StorageError};

#[test]
fn a_second_writer_is_told_at_once_and_the_lock_ends_with_the_first() {
    let disk: SharedStorage = Arc::new(MemoryStorage::new());
    let first = Writer::open(disk.clone(), options()).unwrap();
    let second = Writer::open(disk.clone(), options());
    assert!(matches!(
        second,
        Err(IndexError::Storage(StorageError::Locked { .. }))
    ));
    drop(first);
    commit(&disk, 0..12, 1).unwrap();
    commit(&disk, 6..20, 2).unwrap();
    let writer = Writer::open(disk.clone(), options()).unwrap();
    assert!(matches!(
        reorder(&disk),
        Err(IndexError::Storage(StorageError::Locked { .. }))
    ));
    drop(writer);
    assert!(reorder(&disk).is_ok());
}

#[test]
fn a_writer_that_is_dropped_leaves_the_index_as_it_was() {
    let disk = small_index();
    let shared: SharedStorage = Arc::new(disk.clone());
    let before = contents(&Index::open(shared.clone()).unwrap()).unwrap();
    let mut writer = Writer::open(shared.clone(), BuildOptions::default()).unwrap();
    writer.add(document(1, 2)).unwrap();
    drop(writer);
    assert_eq!(
        contents(&Index::open(shared.clone()).unwrap()).unwrap(),
        before
    );
    // The next writer removes leftovers.
    commit(&shared, 30..31, 2).unwrap();
    assert!(
        disk.files().iter().all(|name| !name.starts_with("tmp-")),
        "{:?}",
        disk.files()
    );
}

#[test]
fn a_directory_without_an_index_is_told() {
    let disk: SharedStorage = Arc::new(MemoryStorage::new());
    assert!(matches!(
        Index::open(disk.clone()),
        Err(IndexError::NoIndex { .. })
    ));
    assert!(matches!(check(disk, 1), Err(IndexError::NoIndex { .. })));
}

#[test]
fn options_that_do_not_fit_the_index_are_told() {
    let shared: SharedStorage = Arc::new(small_index());
    let wrong = [
        BuildOptions {
            chunks: Some(3),
            ..BuildOptions::default()
        },
        BuildOptions {
            codec: Some(index::PostingsCodec::Vint),
            ..BuildOptions::default()
        },
        BuildOptions {
            analyzer: Some(text::Analyzer::English),
            ..BuildOptions::default()
        },
        BuildOptions {
            pairs: Some(Pairs::None),
            ..BuildOptions::default()
        },
    ];
    for options in wrong {
        let outcome = Writer::open(shared.clone(), options);
        assert!(matches!(outcome, Err(IndexError::Mismatch { .. })));
    }
}
