//! Survival of an index: power loss and disk failure at every operation. With `SHORTTAIL_FULL=1` at the sizes of
//! docs/reliability.md.

use crate::versions::{commit, commit_in, contents, document, options, reorder};
use index::{BuildOptions, Index, Order, Writer, check};
use std::sync::Arc;
use testkit::size;
use vfs::{Fault, FaultKind, FaultyStorage, MemoryStorage, SharedStorage};

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
        for seed in 0..size(1, 25) {
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
        for seed in 0..size(6, 25) {
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
        old > 0 && new >= size(6, 25),
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
        for seed in 0..size(6, 25) {
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
        old > 0 && new >= size(6, 25),
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
