//! What a live writer answers follows the order of changes.

use crate::made::{
    build, contents, delete, document, figures, index_of, put, slow_refresh, started, url,
};
use document::Document;
use index::check;
use ingest::{
    Change, Condition, ConditionalChange, LiveError, LiveOptions, LiveWriter, Outcome, Version,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vfs::{MemoryStorage, SharedStorage};

#[test]
fn changes_are_seen_at_once_by_url_and_after_a_refresh_by_searches() {
    let storage = started();
    let writer = LiveWriter::open(storage.clone(), slow_refresh()).unwrap();
    let version_of = |number| {
        writer
            .document(&url(number))
            .unwrap()
            .map(|(_, version)| version)
    };
    let outcomes = writer.apply(vec![
        put(7, 2),
        delete(0),
        put(8, 2),
        delete(8),
        put(1, 2),
        put(1, 3),
    ]);
    let outcomes = outcomes.unwrap();
    assert_eq!(outcomes[1], Outcome::Deleted);
    assert_eq!(outcomes[5], Outcome::Written(Version::of(&document(1, 3))));
    let seen = [0, 1, 2, 7, 8].map(version_of);
    let expected = [None, Some((1, 3)), Some((2, 1)), Some((7, 2)), None];
    assert_eq!(
        seen,
        expected.map(|known| known.map(|(n, v)| Version::of(&document(n, v))))
    );
    assert_eq!(writer.status().changes_pending, 4);
    assert_eq!(contents(&index_of(&storage)).len(), 5);
    assert_eq!(writer.refresh().unwrap(), 2);
    let expected: BTreeMap<_, _> = [(1, 3), (2, 1), (3, 1), (4, 1), (7, 2)].into();
    assert_eq!(contents(&index_of(&storage)), expected);
    assert_eq!([0, 1, 2, 7, 8].map(version_of), seen);
    // Nothing to refresh is no new generation.
    assert_eq!(
        (writer.refresh().unwrap(), writer.status().changes_pending),
        (2, 0)
    );
    // What was put back after a deletion is there.
    writer.apply(vec![delete(7)]).unwrap();
    writer.apply(vec![put(7, 4)]).unwrap();
    drop(writer);
    assert_eq!(contents(&index_of(&storage)).get(&7), Some(&4));
    assert!(check(storage, 10).unwrap().1.is_empty());
}

#[test]
fn conditions_and_patches_read_what_is_not_yet_searchable() {
    let storage = started();
    let writer = LiveWriter::open(storage.clone(), slow_refresh()).unwrap();
    let apply = |change, condition| {
        let change = ConditionalChange { change, condition };
        writer.apply(vec![change]).unwrap().remove(0)
    };
    let v1 = Version::of(&document(0, 1));
    let absent = Some(Condition::Absent);
    assert_eq!(
        apply(Change::Put(document(0, 9)), absent),
        Outcome::Conflict(Some(v1))
    );
    let Outcome::Written(v2) = apply(Change::Put(document(0, 2)), Some(Condition::Version(v1)))
    else {
        panic!("not written");
    };
    let again = apply(Change::Put(document(0, 3)), Some(Condition::Version(v1)));
    assert_eq!(again, Outcome::Conflict(Some(v2)));
    let gone = Change::Delete { url: url(0) };
    assert_eq!(
        apply(gone.clone(), Some(Condition::Version(v2))),
        Outcome::Deleted
    );
    assert_eq!(
        apply(gone, Some(Condition::Version(v2))),
        Outcome::Conflict(None)
    );
    assert!(apply(Change::Put(document(0, 4)), absent).is_made());
    let patch = |text: &str| Change::Patch {
        url: url(0),
        patch: serde_json::from_str(text).unwrap(),
        absent: None,
    };
    assert!(apply(patch(r#"{"version": 5}"#), None).is_made());
    assert!(apply(patch(r#"{"lang": "de", "title": "new"}"#), None).is_made());
    assert!(matches!(
        apply(patch(r#"{"body": {"n": 7}}"#), None),
        Outcome::Invalid(_)
    ));
    let nowhere = Change::Patch {
        url: "http://nowhere/".into(),
        patch: Default::default(),
        absent: None,
    };
    assert_eq!(apply(nowhere.clone(), None), Outcome::Missing);
    let at = nowhere.url().to_owned();
    let upsert = |text: &str| Change::Patch {
        url: at.clone(),
        patch: serde_json::from_str(text).unwrap(),
        absent: Some(Document {
            url: at.clone(),
            title: "first".into(),
            ..Document::default()
        }),
    };
    // Where there is none, the document is written as it is; then the patch holds.
    assert!(apply(upsert(r#"{"title": "patched", "n": 1}"#), None).is_made());
    assert_eq!(writer.document(&at).unwrap().unwrap().0.title, "first");
    assert!(apply(upsert(r#"{"title": "patched"}"#), None).is_made());
    assert_eq!(writer.document(&at).unwrap().unwrap().0.title, "patched");
    assert!(apply(Change::Delete { url: at.clone() }, None).is_made());
    drop(writer);
    let stored = index_of(&storage).document(&url(0)).unwrap().unwrap();
    assert_eq!(
        (&*stored.title, &*stored.body),
        ("new", &*document(0, 4).body)
    );
    assert_eq!(
        serde_json::to_string(&stored.fields).unwrap(),
        r#"{"lang":"de","version":5}"#
    );
}

#[test]
fn changes_become_searchable_by_themselves() {
    let storage = started();
    let options = LiveOptions {
        refresh: Duration::from_millis(50),
        ..LiveOptions::default()
    };
    let writer = LiveWriter::open(storage.clone(), options).unwrap();
    let (told, generations) = std::sync::mpsc::channel();
    writer.call_after_refresh(move |generation| told.send(generation).unwrap());
    writer.apply(vec![put(9, 2)]).unwrap();
    assert_eq!(
        generations.recv_timeout(Duration::from_secs(20)).unwrap(),
        2
    );
    assert_eq!(writer.wait_for_refresh().unwrap(), 2);
    assert_eq!(contents(&index_of(&storage)).get(&9), Some(&2));
    assert!(matches!(
        LiveWriter::open(storage.clone(), slow_refresh()),
        Err(index::IndexError::Storage(vfs::StorageError::Locked { .. }))
    ));
    writer.close();
    assert!(matches!(
        writer.apply(vec![put(1, 1)]),
        Err(LiveError::Ending)
    ));
}

#[test]
fn a_delete_of_what_is_found_sees_all_changes() {
    let storage = started();
    let writer = LiveWriter::open(storage.clone(), slow_refresh()).unwrap();
    writer
        .apply((10..20).map(|number| put(number, 7)).collect())
        .unwrap();
    let found = writer.delete_found(|index| {
        let all = contents(index).into_iter();
        Ok::<_, LiveError>(
            all.filter(|&(_, version)| version == 7)
                .map(|(n, _)| url(n))
                .collect(),
        )
    });
    assert_eq!(found.unwrap(), 10);
    // The segment of which nothing is left may have been merged away by now, which is one more generation.
    assert!(writer.refresh().unwrap() >= 3);
    assert_eq!(contents(&index_of(&storage)).len(), 5);
}

#[test]
fn segments_stay_few() {
    let storage = started();
    let writer = LiveWriter::open(storage.clone(), slow_refresh()).unwrap();
    let mut most = 0;
    for version in 2..80 {
        let changes = (0..3).map(|n| put((version as usize * 7 + n) % 40, version));
        writer.apply(changes.collect()).unwrap();
        writer.refresh().unwrap();
        let index = index_of(&storage);
        most = most.max(index.segments(..index.chunks_count()).count());
    }
    assert!(writer.status().merges > 0);
    drop(writer);
    assert!((12..=64).contains(&most), "{most}");
    let index = index_of(&storage);
    let live: BTreeMap<_, _> = contents(&index);
    let fresh: SharedStorage = Arc::new(MemoryStorage::new());
    let documents = live
        .iter()
        .map(|(&number, &version)| document(number, version));
    build(&fresh, documents);
    assert_eq!(
        (live.len(), figures(&index)),
        (40, figures(&index_of(&fresh)))
    );
    assert!(check(storage, 10).unwrap().1.is_empty());
}

#[test]
fn clients_that_count_by_version_lose_no_step() {
    let directory = tempfile::tempdir().unwrap();
    let storage: SharedStorage = Arc::new(vfs::RealStorage::open(directory.path()).unwrap());
    build(&storage, (0..2).map(|number| document(number, 0)));
    let options = LiveOptions {
        refresh: Duration::from_millis(20),
        ..LiveOptions::default()
    };
    let writer = LiveWriter::open(storage.clone(), options).unwrap();
    let until = Instant::now() + Duration::from_millis(700);
    let count = || {
        let (mut steps, mut conflicts) = (0, 0);
        while Instant::now() < until {
            let (found, version) = writer.document(&url(0)).unwrap().unwrap();
            let counted = found.fields["version"].as_u64().unwrap();
            let change = ConditionalChange {
                change: Change::Put(document(0, counted + 1)),
                condition: Some(Condition::Version(version)),
            };
            match writer.apply(vec![change]).unwrap()[0] {
                Outcome::Written(_) => steps += 1,
                Outcome::Conflict(_) => conflicts += 1,
                ref other => panic!("{other:?}"),
            }
        }
        (steps, conflicts)
    };
    let totals: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(count)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let steps: u64 = totals.iter().map(|total| total.0).sum();
    let conflicts: u64 = totals.iter().map(|total| total.1).sum();
    assert!(
        steps > 16 && conflicts > 0,
        "{steps} steps, {conflicts} conflicts"
    );
    drop(writer);
    assert_eq!(contents(&index_of(&storage)).get(&0), Some(&steps));
}
