//! Rules that a live writer sets: whole or not at all on a disk that fails, and with the changes before them.

use crate::made::{build, document, put, url};
use fields::Rules;
use index::{Index, check};
use ingest::{LiveError, LiveOptions, LiveWriter};
use std::sync::Arc;
use std::time::Duration;
use testkit::size;
use vfs::{Fault, FaultKind, FaultyStorage, MemoryStorage, SharedStorage};

fn rules(line: &str) -> Rules {
    let rules = serde_json::json!({ "synonyms": [line] });
    Rules::of_json(rules.to_string().as_bytes()).unwrap()
}

/// Refreshes only where asked.
fn options() -> LiveOptions {
    LiveOptions {
        refresh: Duration::from_secs(3600),
        ..LiveOptions::default()
    }
}

#[test]
fn rules_come_with_the_changes_before_them() {
    let disk: SharedStorage = Arc::new(MemoryStorage::new());
    build(&disk, (0..5).map(|number| document(number, 1)));
    let writer = LiveWriter::open(disk.clone(), options()).unwrap();
    let before = Index::open(disk.clone()).unwrap().generation();
    writer.apply(vec![put(7, 2)]).unwrap();
    let generation = writer.set_rules(rules("a, b")).unwrap();
    assert_eq!(generation, before + 1);
    let index = Index::open(disk.clone()).unwrap();
    assert_eq!(**index.rules(), rules("a, b"));
    assert!(index.document(&url(7)).unwrap().is_some());
    assert_eq!(writer.status().changes_pending, 0);
    writer.apply(vec![put(8, 2)]).unwrap();
    writer.refresh().unwrap();
    assert_eq!(**Index::open(disk.clone()).unwrap().rules(), rules("a, b"));
    writer.close();
    assert!(matches!(
        writer.set_rules(rules("c, d")),
        Err(LiveError::Ending)
    ));
}

#[test]
fn a_failing_disk_leaves_the_rules_before_or_the_new_ones() {
    let disk: SharedStorage = Arc::new(MemoryStorage::new());
    build(&disk, (0..5).map(|number| document(number, 1)));
    let counting = FaultyStorage::new(disk, Fault::never());
    let writer = LiveWriter::open(Arc::new(counting.clone()), options()).unwrap();
    let begun = counting.operations();
    writer.set_rules(rules("a, b")).unwrap();
    let needed = counting.operations() - begun;
    drop(writer);
    let mut refused = 0;
    for operation in (begun..begun + needed).step_by(size(2, 1)) {
        for kind in FaultKind::ALL {
            let disk: SharedStorage = Arc::new(MemoryStorage::new());
            build(&disk, (0..5).map(|number| document(number, 1)));
            let faulty = FaultyStorage::new(disk.clone(), Fault::once(operation, kind));
            let writer = LiveWriter::open(Arc::new(faulty.clone()), options()).unwrap();
            let set = writer.set_rules(rules("a, b"));
            let found = Index::open(disk.clone()).unwrap();
            match set {
                Ok(generation) => {
                    assert_eq!(found.generation(), generation, "{operation} {kind:?}");
                    assert_eq!(**found.rules(), rules("a, b"), "{operation} {kind:?}");
                }
                Err(LiveError::RulesNotSet { .. }) => {
                    refused += 1;
                    let is_whole = found.rules().is_empty() || **found.rules() == rules("a, b");
                    assert!(is_whole, "{operation} {kind:?}");
                }
                Err(error) => panic!("{operation} {kind:?}: {error}"),
            }
            // The disk is well again.
            writer.set_rules(rules("c, d")).unwrap();
            writer.apply(vec![put(1, 9)]).unwrap();
            writer.refresh().unwrap();
            drop(writer);
            assert_eq!(**Index::open(disk.clone()).unwrap().rules(), rules("c, d"));
            let (_, damages) = check(disk, 1).unwrap();
            assert!(damages.is_empty(), "{operation} {kind:?}: {damages:?}");
        }
    }
    assert!(refused > 0);
}
