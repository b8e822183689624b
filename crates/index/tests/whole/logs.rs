//! The write-ahead log: whatever of it is damaged or missing, a recovery commits what was acknowledged, or names it as
//! lost, and takes a write that nobody was told of for no loss.

use document::Document;
use index::{
    BuildOptions, Index, IndexError, LogBatch, LogWriter, Recovery, Writer, check, recover,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use testkit::size;
use vfs::{MemoryStorage, SharedStorage, Storage, StorageError};

fn document(number: usize, version: usize) -> Document {
    Document {
        url: format!("http://site.test/{number}"),
        title: format!("version {version}"),
        body: format!("word{number} of a document, version {version}"),
        fields: [("number".to_owned(), number.into())].into_iter().collect(),
        ..Document::default()
    }
}

fn batch(puts: &[(usize, usize)], deletes: &[usize]) -> LogBatch {
    let mut batch = LogBatch::default();
    for &(number, version) in puts {
        batch.put(&document(number, version));
    }
    for &number in deletes {
        batch.delete(&document(number, 0).url);
    }
    batch
}

/// An index of documents 0 to 4 in version 1.
fn start() -> (MemoryStorage, SharedStorage) {
    let disk = MemoryStorage::recording();
    let storage: SharedStorage = Arc::new(disk.clone());
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    for number in 0..5 {
        writer.add(document(number, 1)).unwrap();
    }
    writer.commit().unwrap();
    (disk, storage)
}

pub(crate) fn begin(storage: &SharedStorage) -> LogWriter {
    let number = LogWriter::next_number(storage).unwrap();
    let id = Index::open(storage.clone()).unwrap().id().to_owned();
    LogWriter::create(storage, &id, number).unwrap()
}

/// Versions by document.
fn contents(storage: &SharedStorage) -> BTreeMap<usize, usize> {
    let index = Index::open(storage.clone()).unwrap();
    let found = (0..20).filter_map(|number| {
        let stored = index.document(&document(number, 0).url);
        let title = stored.unwrap()?.title;
        Some((
            number,
            title.trim_start_matches("version ").parse().unwrap(),
        ))
    });
    let found: BTreeMap<_, _> = found.collect();
    let live: usize = index
        .segments(0..index.chunks_count())
        .map(|segment| segment.live_documents_count() as usize)
        .sum();
    assert_eq!(index.statistics().documents_count(), live as u64);
    found
}

fn recovered(storage: &SharedStorage) -> Result<Recovery, IndexError> {
    recover(storage, &BuildOptions::default(), false)
}

/// Documents to put, with their versions, and documents to delete.
type Step<'a> = (&'a [(usize, usize)], &'a [usize]);

/// Batches of a log, and the contents after each.
fn history() -> Vec<(LogBatch, BTreeMap<usize, usize>)> {
    let mut state: BTreeMap<usize, usize> = (0..5).map(|number| (number, 1)).collect();
    let steps: [Step<'_>; 5] = [
        (&[(5, 2), (0, 2)], &[]),
        (&[(6, 3)], &[1]),
        (&[], &[5, 17]),
        (&[(5, 4), (1, 4), (7, 4), (7, 5)], &[]),
        (&[(8, 6), (9, 6)], &[7]),
    ];
    let step = |(puts, deletes): Step<'_>| {
        state.extend(puts.iter().copied());
        deletes.iter().for_each(|number| {
            state.remove(number);
        });
        (batch(puts, deletes), state.clone())
    };
    steps.into_iter().map(step).collect()
}

#[test]
fn the_next_writer_commits_what_a_log_has() {
    let (_, storage) = start();
    let mut log = begin(&storage);
    for (batch, _) in history() {
        log.write(&batch).unwrap();
    }
    drop(log);
    let expected = history().pop().unwrap().1;
    let (report, damages) = check(storage.clone(), 10).unwrap();
    assert_eq!((report.logged_changes, damages.len()), (13, 0));
    assert!(report.strays.is_empty(), "{:?}", report.strays);
    // A delete of the next writer comes after them.
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    writer.delete(&document(8, 0).url);
    let summary = writer.commit().unwrap();
    assert_eq!((summary.generation, summary.documents_deleted), (3, 1));
    let mut left = expected;
    left.remove(&8);
    assert_eq!(contents(&storage), left);
    let names = storage.list().unwrap();
    assert!(
        !names.iter().any(|name| name.starts_with("log-")),
        "{names:?}"
    );
    assert_eq!(LogWriter::next_number(&storage).unwrap(), 2);
    assert_eq!(recovered(&storage).unwrap().changes, 0);
}

#[test]
fn power_may_fail_at_any_moment() {
    let (disk, storage) = start();
    let mut states = vec![(0..5).map(|number| (number, 1)).collect()];
    let mut acknowledged = vec![disk.operations()];
    let mut log = begin(&storage);
    for (at, (batch, state)) in history().into_iter().enumerate() {
        // The log ends, and the next one begins, without a commit between them.
        if at == 3 {
            log.end().unwrap();
            log = begin(&storage);
        }
        log.write(&batch).unwrap();
        acknowledged.push(disk.operations());
        states.push(state);
        if at % 2 == 0 {
            log.mark().unwrap();
        }
    }
    drop(log);
    let before = disk.operations();
    assert_eq!(recovered(&storage).unwrap().changes, 13);
    let (mut torn, mut found_whole) = (0, 0);
    for operation in acknowledged[0]..=disk.operations() {
        let durable = acknowledged.iter().filter(|&&at| at <= operation).count() - 1;
        for seed in 0..size(24, 200) {
            let found: SharedStorage = Arc::new(disk.power_loss_after(operation, seed));
            let told = |what: &str| format!("after {operation}, seed {seed}: {what}");
            let recovery =
                recovered(&found).unwrap_or_else(|error| panic!("{}", told(&error.to_string())));
            assert_eq!(recovery.losses, [], "{}", told("loss"));
            torn += usize::from(recovery.torn_bytes > 0);
            let state = contents(&found);
            // What was acknowledged, or with one more batch, whose end nobody was told of.
            let is_next = states.get(durable + 1) == Some(&state);
            assert!(
                state == states[durable] || is_next,
                "{}",
                told(&format!("{state:?}"))
            );
            found_whole += usize::from(is_next);
            assert_eq!(check(found, 10).unwrap().1.len(), 0);
        }
    }
    assert!(torn > 20 && found_whole > 20, "{torn} {found_whole}");
    assert!(before < disk.operations());
}

/// A log of five batches and a mark, with the offset of each group's end.
fn marked_log() -> (MemoryStorage, Vec<u8>, Vec<usize>) {
    let (disk, storage) = start();
    let mut log = begin(&storage);
    let mut ends = vec![log.bytes() as usize];
    for (batch, _) in history() {
        log.write(&batch).unwrap();
        ends.push(log.bytes() as usize);
    }
    log.mark().unwrap();
    ends.push(log.bytes() as usize);
    drop(log);
    let bytes = disk.read_raw("log-1").unwrap();
    (disk.power_loss(1), bytes, ends)
}

#[test]
fn any_flipped_bit_is_a_loss_that_is_named() {
    let (disk, bytes, ends) = marked_log();
    // Records before each group.
    let before = [0, 0, 2, 4, 6, 10, 13];
    for bit in 0..bytes.len() * 8 {
        let group = ends.iter().position(|&end| bit / 8 < end).unwrap();
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let found = disk.power_loss(1);
        found.write_raw("log-1", damaged);
        let storage: SharedStorage = Arc::new(found);
        let (report, damages) = check(storage.clone(), 10).unwrap();
        // Padding is not read, and groups without records hold nothing.
        if damages.is_empty() {
            assert_eq!(report.logged_changes, 13, "bit {bit}");
            continue;
        }
        let lost = before[group + 1] - before[group];
        assert_eq!(report.logged_changes, 13 - lost, "bit {bit}");
        let IndexError::LogLost { loss } = &damages[0] else {
            panic!("{:?}", damages[0]);
        };
        assert_eq!(
            (loss.first_record, loss.records),
            (before[group], Some(lost))
        );
        if bit % size(101, 1) == 0 {
            let refused = Writer::open(storage.clone(), BuildOptions::default());
            let told = refused.err().unwrap().to_string();
            assert!(told.contains("recover memory --accept-loss"), "{told}");
            let recovery = recover(&storage, &BuildOptions::default(), true).unwrap();
            assert_eq!((recovery.changes, recovery.losses.len()), (13 - lost, 1));
            assert_eq!(recovered(&storage).unwrap().changes, 0);
        }
    }
}

#[test]
fn every_record_group_that_is_damaged_is_told() {
    let (disk, bytes, ends) = marked_log();
    for group in 1..=5 {
        let mut damaged = bytes.clone();
        let begin = ends[group - 1];
        damaged[begin + 45] ^= 1;
        let found = disk.power_loss(1);
        found.write_raw("log-1", damaged);
        let (_, damages) = check(Arc::new(found), 10).unwrap();
        let [IndexError::LogLost { loss }] = &damages[..] else {
            panic!("group {group}: {damages:?}");
        };
        assert_eq!(loss.offset, begin as u64, "group {group}");
    }
}

#[test]
fn a_log_of_any_length_is_read_to_its_last_whole_group() {
    let (disk, bytes, ends) = marked_log();
    let records = [0, 2, 4, 6, 10, 13, 13];
    for length in 0..bytes.len() {
        let found = disk.power_loss(1);
        found.write_raw("log-1", &bytes[..length]);
        let (report, damages) = check(Arc::new(found), 10).unwrap();
        assert_eq!(damages.len(), 0, "{length} bytes");
        // The padding of the last group need not be there.
        let whole = ends.iter().filter(|&&end| end <= length).count();
        let least = if whole == 0 { 0 } else { records[whole - 1] };
        let most = records[whole.min(6)];
        assert!(
            (least..=most).contains(&report.logged_changes),
            "{length} bytes"
        );
    }
}

#[test]
fn a_missing_log_or_end_is_a_loss() {
    let (disk, storage) = start();
    let mut first = begin(&storage);
    first.write(&batch(&[(5, 2)], &[])).unwrap();
    first.end().unwrap();
    let mut second = begin(&storage);
    second.write(&batch(&[(6, 2)], &[])).unwrap();
    drop(second);
    assert_eq!(check(storage.clone(), 10).unwrap().1.len(), 0);
    let first = disk.read_raw("log-1").unwrap();
    let shortened = disk.power_loss(1);
    shortened.write_raw("log-1", &first[..first.len() - 512]);
    let missing = disk.power_loss(1);
    missing.remove("log-1").unwrap();
    for (found, told) in [
        (
            shortened,
            "log-1: byte 1024: the end of this log is missing, and all changes from number 2 on",
        ),
        (
            missing,
            "log-1: byte 0: the end of this log is missing, and all changes from number 1 on",
        ),
    ] {
        let storage: SharedStorage = Arc::new(found);
        let refused = recovered(&storage).unwrap_err().to_string();
        assert!(refused.contains(told), "{refused}");
        let recovery = recover(&storage, &BuildOptions::default(), true).unwrap();
        assert_eq!(recovery.losses.len(), 1);
        assert_eq!(contents(&storage).get(&6), Some(&2));
        assert_eq!(recovered(&storage).unwrap().losses, []);
    }
}

#[test]
fn texts_that_look_like_groups_are_none() {
    let (disk, storage) = start();
    let mut log = begin(&storage);
    log.write(&batch(&[(5, 2)], &[])).unwrap();
    drop(log);
    // A whole log as the text of a document, which begins a sector in the stream of another log.
    let whole = disk.read_raw("log-1").unwrap();
    let mut forged = whole.clone();
    forged.truncate(512);
    forged.extend_from_slice(&[0; 512]);
    let other: SharedStorage = Arc::new(start().0);
    let mut log = begin(&other);
    log.write(&batch(&[(6, 2)], &[])).unwrap();
    drop(log);
    forged.extend_from_slice(&other.open("log-1").unwrap()[512..]);
    let found = disk.power_loss(1);
    found.write_raw("log-1", forged);
    let found: SharedStorage = Arc::new(found);
    let recovery = recovered(&found).unwrap();
    assert_eq!((recovery.changes, recovery.losses.len()), (0, 0));
    assert_eq!(contents(&found).len(), 5);
}

#[test]
fn a_locked_index_is_not_recovered() {
    let (_, storage) = start();
    let _lock = storage.lock("writer.lock").unwrap();
    let refused = recovered(&storage);
    assert!(matches!(
        refused,
        Err(IndexError::Storage(StorageError::Locked { .. }))
    ));
}
