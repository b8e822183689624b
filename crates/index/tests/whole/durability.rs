//! Survival of an index: power loss and disk failure at every operation, flipped and missing bytes, two writers at
//! once. With `SHORTTAIL_FULL=1` at the sizes of docs/reliability.md.

use corpus::Document;
use index::{
    BuildOptions, DocId, Index, IndexError, OptimizeOptions, Order, Pairs, Writer, check, optimize,
};
use std::sync::Arc;
use testkit::size;
use vfs::{Fault, FaultKind, FaultyStorage, MemoryStorage, SharedStorage, Storage, StorageError};

fn document(number: usize, version: usize) -> Document {
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

fn options() -> BuildOptions {
    BuildOptions {
        chunks: Some(2),
        partitions: Some(2),
        // Few documents would have no pairs otherwise.
        pairs: Some(Pairs::All),
        ..BuildOptions::default()
    }
}

/// Commits documents `from..to` of a version to the existing index.
fn commit(
    storage: &SharedStorage,
    documents: std::ops::Range<usize>,
    version: usize,
) -> Result<(), IndexError> {
    commit_in(None, None, storage, documents, version)
}

/// Does the same as `commit`, with an order for the whole index.
fn commit_in(
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
fn contents(index: &Index) -> Result<(u64, usize), IndexError> {
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

#[test]
fn a_power_loss_leaves_the_commit_before_or_the_whole_new_one() {
    // As it is, in an order, and with a merge of all segments.
    for (order, segments_max) in [
        (None, None),
        (Some(Order::Bisection), None),
        (None, Some(1)),
    ] {
        lose_power_while_committing(order, segments_max);
    }
}

#[test]
fn a_power_loss_leaves_layers_of_statistics_or_the_base() {
    let commit = |storage: &SharedStorage, numbers: std::ops::Range<usize>, version| {
        let options = BuildOptions {
            small_terms_max: Some(0),
            ..options()
        };
        let mut writer = Writer::open(storage.clone(), options).unwrap();
        for number in numbers {
            writer.add(document(number, version)).unwrap();
        }
        writer.commit().unwrap();
    };
    let disk = MemoryStorage::recording();
    let shared: SharedStorage = Arc::new(disk.clone());
    commit(&shared, 0..160, 1);
    // Documents, and those of the second version.
    let expected = [(160, 0), (161, 2), (162, 3)];
    let mut acknowledged = vec![disk.operations()];
    for number in [159..161, 160..162] {
        commit(&shared, number, 2);
        acknowledged.push(disk.operations());
    }
    let manifest = String::from_utf8_lossy(&disk.read_raw("MANIFEST-3").unwrap()).into_owned();
    assert!(manifest.contains("\"counted\""), "{manifest}");
    let contents = |storage: &SharedStorage| {
        let index = Index::open(storage.clone()).unwrap();
        let versions = index
            .statistics()
            .document_frequency(index::Field::Title, "version2");
        (index.statistics().documents_count(), versions.unwrap())
    };
    for operation in acknowledged[0]..=disk.operations() {
        for seed in 0..size(2, 25) {
            let found: SharedStorage = Arc::new(disk.power_loss_after(operation, seed));
            let state = contents(&found);
            let durable = acknowledged.iter().filter(|&&at| at <= operation).count();
            let at = expected.iter().position(|&expected| expected == state);
            let at = at.unwrap_or_else(|| panic!("after {operation}, seed {seed}: {state:?}"));
            assert!(
                at + 1 >= durable && at <= durable,
                "after {operation}: {state:?}"
            );
            let (_, damages) = check(found.clone(), 10).unwrap();
            assert!(
                damages.is_empty(),
                "after {operation}, seed {seed}: {damages:?}"
            );
        }
    }
}

fn lose_power_while_committing(order: Option<Order>, segments_max: Option<usize>) {
    let disk = MemoryStorage::recording();
    let shared: SharedStorage = Arc::new(disk.clone());
    commit(&shared, 0..12, 1).unwrap();
    let acknowledged = disk.operations();
    commit_in(order, segments_max, &shared, 6..20, 2).unwrap();
    let (mut old, mut new) = (0, 0);
    for operation in acknowledged..=disk.operations() {
        for seed in 0..size(12, 25) {
            let found: SharedStorage = Arc::new(disk.power_loss_after(operation, seed));
            let index = Index::open(found.clone())
                .unwrap_or_else(|error| panic!("after {operation}, seed {seed}: {error}"));
            match contents(&index).unwrap() {
                (12, 0) => old += 1,
                (20, 14) => new += 1,
                other => panic!("after {operation}, seed {seed}: {other:?}"),
            }
            let (_, damages) = check(found.clone(), 10).unwrap();
            assert!(
                damages.is_empty(),
                "after {operation}, seed {seed}: {damages:?}"
            );
            // The next commit works on any leftovers.
            if seed < 2 {
                commit(&found, 20..22, 2).unwrap();
                assert!(Index::open(found).is_ok());
            }
        }
    }
    assert!(
        old > 0 && new >= 12,
        "old {old}, new {new}: the last state must be durable"
    );
    let last: SharedStorage = Arc::new(disk.power_loss(0));
    assert_eq!(contents(&Index::open(last).unwrap()).unwrap(), (20, 14));
}

#[test]
fn a_failing_disk_fails_the_commit_and_keeps_the_index() {
    let count = {
        let disk: SharedStorage = Arc::new(MemoryStorage::new());
        commit(&disk, 0..12, 1).unwrap();
        let counting = FaultyStorage::new(disk, Fault::never());
        commit(&(Arc::new(counting.clone()) as SharedStorage), 6..20, 2).unwrap();
        counting.operations()
    };
    assert!(count > 20);
    for operation in 0..count {
        for kind in FaultKind::ALL {
            for fault in [
                Fault::once(operation, kind),
                Fault::from_then_on(operation, kind),
            ] {
                let disk: SharedStorage = Arc::new(MemoryStorage::new());
                commit(&disk, 0..12, 1).unwrap();
                let faulty = FaultyStorage::new(disk.clone(), fault);
                let outcome = commit(&(Arc::new(faulty.clone()) as SharedStorage), 6..20, 2);
                let index = Index::open(disk.clone()).unwrap();
                let found = contents(&index).unwrap();
                // After the rename the new generation may be seen although its commit was not
                // acknowledged; an acknowledged one must be there.
                assert!(
                    found == (12, 0) || found == (20, 14),
                    "{fault:?}: {found:?}"
                );
                assert!(outcome.is_err() || found == (20, 14), "{fault:?}");
                commit(&disk, 6..20, 2).unwrap();
                assert_eq!(contents(&Index::open(disk).unwrap()).unwrap(), (20, 14));
            }
        }
    }
}

/// Bisects the result of two commits: 20 documents, 14 of them newer, and deletions.
fn reorder(storage: &SharedStorage) -> Result<u64, IndexError> {
    let options = OptimizeOptions {
        order: Some(Order::Bisection),
        ..OptimizeOptions::default()
    };
    optimize(storage.clone(), &options, &|_| {}).map(|summary| summary.generation)
}

/// Returns the number of segments, and whether any document in them is deleted.
fn segments(index: &Index) -> (usize, bool) {
    let mut segments = index.segments(0..index.chunks_count());
    let deleted = segments.any(|segment| segment.has_deletions());
    (index.segments(0..index.chunks_count()).count(), deleted)
}

#[test]
fn a_power_loss_while_optimizing_leaves_the_old_segments_or_the_new_ones() {
    let disk = MemoryStorage::recording();
    let shared: SharedStorage = Arc::new(disk.clone());
    commit(&shared, 0..12, 1).unwrap();
    commit(&shared, 6..20, 2).unwrap();
    let reader = Index::open(shared.clone()).unwrap();
    let before = disk.operations();
    assert_eq!(reorder(&shared).unwrap(), 3);
    let (mut old, mut new) = (0, 0);
    for operation in before..=disk.operations() {
        for seed in 0..size(12, 25) {
            let found: SharedStorage = Arc::new(disk.power_loss_after(operation, seed));
            let index = Index::open(found.clone())
                .unwrap_or_else(|error| panic!("after {operation}, seed {seed}: {error}"));
            assert_eq!(
                contents(&index).unwrap(),
                (20, 14),
                "after {operation}, seed {seed}"
            );
            match segments(&index) {
                (4, true) => old += 1,
                (2, false) => new += 1,
                other => panic!("after {operation}, seed {seed}: {other:?}"),
            }
            let (_, damages) = check(found.clone(), 10).unwrap();
            assert!(
                damages.is_empty(),
                "after {operation}, seed {seed}: {damages:?}"
            );
            // The next optimization works on any leftovers, and so does the next commit.
            if seed < 2 {
                assert_eq!(reorder(&found).unwrap(), 3);
                commit(&found, 20..22, 2).unwrap();
                assert_eq!(contents(&Index::open(found).unwrap()).unwrap(), (22, 16));
            }
        }
    }
    assert!(
        old > 0 && new >= 12,
        "old {old}, new {new}: the last state must be durable"
    );
    // An index opened before reads on: a snapshot does not change.
    assert_eq!(contents(&reader).unwrap(), (20, 14));
    assert_eq!(segments(&reader), (4, true));
}

#[test]
fn a_failing_disk_fails_optimizing_and_keeps_the_index() {
    let start = || -> SharedStorage {
        let disk: SharedStorage = Arc::new(MemoryStorage::new());
        commit(&disk, 0..12, 1).unwrap();
        commit(&disk, 6..20, 2).unwrap();
        disk
    };
    let counting = FaultyStorage::new(start(), Fault::never());
    reorder(&(Arc::new(counting.clone()) as SharedStorage)).unwrap();
    let count = counting.operations();
    assert!(count > 20);
    for operation in 0..count {
        for kind in FaultKind::ALL {
            for fault in [
                Fault::once(operation, kind),
                Fault::from_then_on(operation, kind),
            ] {
                let disk = start();
                let faulty = FaultyStorage::new(disk.clone(), fault);
                let outcome = reorder(&(Arc::new(faulty.clone()) as SharedStorage));
                let index = Index::open(disk.clone()).unwrap();
                assert_eq!(contents(&index).unwrap(), (20, 14), "{fault:?}");
                // After the rename the new segments may be visible although the commit was not acknowledged.
                let found = segments(&index);
                assert!(
                    [(4, true), (2, false)].contains(&found),
                    "{fault:?}: {found:?}"
                );
                assert!(outcome.is_err() || found == (2, false), "{fault:?}");
                assert_eq!(reorder(&disk).unwrap(), 3);
                let index = Index::open(disk.clone()).unwrap();
                assert_eq!(
                    (contents(&index).unwrap(), segments(&index)),
                    ((20, 14), (2, false))
                );
                assert!(check(disk, 10).unwrap().1.is_empty());
            }
        }
    }
}

/// Builds a small index with every kind of file.
fn small_index() -> MemoryStorage {
    let disk = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(disk.clone());
    commit(&shared, 0..9, 1).unwrap();
    commit(&shared, 5..12, 2).unwrap();
    disk
}

fn refused(disk: &MemoryStorage, name: &str, what: &str) {
    let shared: SharedStorage = Arc::new(disk.clone());
    match Index::open(shared.clone()) {
        Err(IndexError::Damaged { path, offset, .. }) => {
            let length = disk.read_raw(name).map_or(0, |bytes| bytes.len() as u64);
            assert!(
                path.ends_with(name) && offset <= length,
                "{what}: {} {offset}",
                path.display()
            );
        }
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what}: opened"),
    }
    let (_, damages) = check(shared, 10).unwrap();
    assert!(!damages.is_empty(), "{what}: check found nothing");
}

#[test]
fn every_flipped_byte_is_refused_by_name_and_offset() {
    let disk = small_index();
    let newest = Index::open(Arc::new(disk.clone())).unwrap().generation();
    let mut flipped = 0;
    for name in live_files(&disk, newest) {
        let good = disk.read_raw(&name).unwrap();
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << (at % 8);
            disk.write_raw(&name, bytes);
            // `check` runs only now and then, because it shares the verification that refuses.
            if at % size(101, 1) == 0 {
                refused(&disk, &name, &format!("{name}: byte {at} flipped"));
            } else {
                let opened = Index::open(Arc::new(disk.clone()));
                let found = matches!(&opened, Err(IndexError::Damaged { path, .. })
                    if path.ends_with(&name));
                assert!(found, "{name}: byte {at} flipped: {:?}", opened.err());
            }
        }
        flipped += good.len();
        disk.write_raw(&name, good);
    }
    println!("{flipped} bytes flipped");
    assert!(Index::open(Arc::new(disk)).is_ok());
}

#[test]
fn every_truncation_missing_file_and_swap_is_refused() {
    let disk = small_index();
    let newest = Index::open(Arc::new(disk.clone())).unwrap().generation();
    let names = live_files(&disk, newest);
    let (mut lengths, mut swaps) = (0, 0);
    for name in &names {
        let good = disk.read_raw(name).unwrap();
        let is_tried =
            |length: &usize| length.is_multiple_of(size(7, 1)) || good.len() - length < 40;
        for length in (0..good.len()).filter(is_tried) {
            disk.write_raw(name, &good[..length]);
            refused(&disk, name, &format!("{name}: cut to {length} bytes"));
            lengths += 1;
        }
        disk.write_raw(name, [&good[..], b"junk"].concat());
        refused(&disk, name, &format!("{name}: junk at the end"));
        // Files of this generation, of the one before, and of other indexes of the same documents.
        for other in disk.files().iter().filter(|other| *other != name) {
            disk.write_raw(name, disk.read_raw(other).unwrap());
            refused(&disk, name, &format!("{name}: replaced by {other}"));
            swaps += 1;
        }
        for index in 0..size(1, 20) {
            let other = small_index();
            disk.write_raw(name, other.read_raw(name).unwrap());
            refused_somewhere(&disk, &format!("{name}: of another index, {index}"));
            swaps += 1;
        }
        if !name.starts_with("MANIFEST") {
            Storage::remove(&disk, name).unwrap();
            refused(&disk, name, &format!("{name}: removed"));
        }
        disk.write_raw(name, good);
    }
    println!(
        "{lengths} lengths and {swaps} swaps of {} files",
        names.len()
    );
    assert!(Index::open(Arc::new(disk)).is_ok());
}

/// Asserts that an index is refused, whichever of its files is taken for the damaged one: with the manifest of another
/// index, it is all others.
fn refused_somewhere(disk: &MemoryStorage, what: &str) {
    let shared: SharedStorage = Arc::new(disk.clone());
    let opened = Index::open(shared.clone());
    let is_damaged = matches!(opened, Err(IndexError::Damaged { .. }));
    assert!(is_damaged, "{what}: {:?}", opened.err());
    let (_, damages) = check(shared, 10).unwrap();
    assert!(!damages.is_empty(), "{what}: check found nothing");
}

/// Returns the files that the newest generation needs.
fn live_files(disk: &MemoryStorage, newest: u64) -> Vec<String> {
    let manifest = disk.read_raw(&format!("MANIFEST-{newest}")).unwrap();
    let text = String::from_utf8_lossy(&manifest).into_owned();
    let live = |name: &String| text.contains(&format!("\"{name}\""));
    let mut names: Vec<String> = disk.files().into_iter().filter(live).collect();
    names.push(format!("MANIFEST-{newest}"));
    for kind in [
        "segment-",
        "statistics-",
        ".index",
        ".documents",
        ".pairs",
        ".columns",
        ".deletions",
    ] {
        assert!(
            names.iter().any(|name| name.contains(kind)),
            "{kind}: {names:?}"
        );
    }
    names
}

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
