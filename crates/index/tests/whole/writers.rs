//! Writers that exclude each other, leave nothing behind, and refuse options that do not fit the index.

use crate::versions::{commit, contents, document, options, reorder, small_index};
use index::{BuildOptions, Index, IndexError, Pairs, Writer, check};
use proptest::prelude::*;
use std::collections::BTreeMap;
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

/// Number of a document, and whether it is added or else deleted.
type Step = (usize, bool);

fn check_withdrawals(commits: &[Vec<Step>], held: usize, threads: usize) {
    let disk: SharedStorage = Arc::new(MemoryStorage::new());
    let url = |number: usize| format!("http://a.test/{number}");
    let mut expected = BTreeMap::new();
    for steps in commits {
        let before = expected.len() as u64;
        let options = BuildOptions {
            threads,
            held_documents_max: Some(held),
            run_documents_max: Some(2),
            ..options()
        };
        let mut writer = Writer::open(disk.clone(), options).unwrap();
        for (step, &(number, is_added)) in steps.iter().enumerate() {
            if !is_added {
                writer.delete(&url(number));
                writer.withdraw(&url(number));
                expected.remove(&number);
                continue;
            }
            let mut added = document(number, 2);
            added.url = url(number);
            added.body = format!("body {step}");
            // A field of text that the first documents lack: segments are built a second time.
            if step > 6 {
                let late = json::Value::from("words ".repeat(200));
                added.fields.insert("late".to_owned(), late);
            }
            expected.insert(number, added.body.clone());
            writer.add(added).unwrap();
        }
        let summary = writer.commit().unwrap();
        let gone = summary.documents_replaced + summary.documents_deleted;
        assert_eq!(
            (before + summary.documents_added).checked_sub(gone),
            Some(summary.documents_count)
        );
        assert_eq!(summary.documents_count, expected.len() as u64);
    }
    let index = Index::open(disk.clone()).unwrap();
    for number in 0..5 {
        let found = index.document(&url(number)).unwrap();
        assert_eq!(
            found.map(|found| found.body).as_ref(),
            expected.get(&number)
        );
    }
    let (_, damages) = check(disk, 1).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn withdrawn_documents_are_as_if_never_added(
        commits in prop::collection::vec(prop::collection::vec((0..5usize, any::<bool>()), 0..16), 1..3),
        held in prop::sample::select(vec![1, 3, 4096]),
        threads in 1..3usize,
    ) {
        check_withdrawals(&commits, held, threads);
    }
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
