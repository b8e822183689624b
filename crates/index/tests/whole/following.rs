//! Reading of the log beside its writer: only what is acknowledged, whatever of the end is written, and damage by its
//! place.

use crate::logs::begin;
use document::Document;
use index::{
    BuildOptions, Index, IndexError, LogBatch, LogPosition, LogRead, LogReader, LogRecord,
    LogWriter, Writer, recover,
};
use std::sync::Arc;
use vfs::{MemoryStorage, ReadFault, SharedStorage, UnmappedStorage};

fn document(number: usize) -> Document {
    Document {
        url: format!("http://site.test/{number}"),
        body: format!("word{number} ").repeat(1 + number * 37 % 200),
        ..Document::default()
    }
}

fn start() -> (MemoryStorage, SharedStorage) {
    let disk = MemoryStorage::new();
    let storage: SharedStorage = Arc::new(disk.clone());
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    writer.add(document(0)).unwrap();
    writer.commit().unwrap();
    (disk, storage)
}

fn put(numbers: impl Iterator<Item = usize>) -> LogBatch {
    let mut batch = LogBatch::default();
    numbers.for_each(|number| batch.put(&document(number)));
    batch
}

fn reader(storage: &SharedStorage) -> LogReader {
    Index::open(storage.clone())
        .unwrap()
        .log_reader(storage.clone())
}

/// Reads until nothing more comes; returns the URLs, and what came last.
fn read_all(reader: &mut LogReader) -> (Vec<String>, Result<LogRead, IndexError>) {
    let mut urls = Vec::new();
    loop {
        match reader.read() {
            Ok(LogRead::Records(records)) => {
                assert!(!records.is_empty());
                urls.extend(records.iter().map(|record| record.url().to_owned()));
            }
            other => return (urls, other),
        }
    }
}

fn urls(numbers: impl Iterator<Item = usize>) -> Vec<String> {
    numbers.map(|number| document(number).url).collect()
}

#[test]
fn a_group_counts_once_something_proves_it() {
    let (_, storage) = start();
    let mut reader = reader(&storage);
    assert_eq!(reader.read().unwrap(), LogRead::Pending, "no log yet");
    let mut log = begin(&storage);
    assert_eq!(reader.read().unwrap(), LogRead::Pending);
    log.write(&put(1..4)).unwrap();
    assert_eq!(
        reader.read().unwrap(),
        LogRead::Pending,
        "nothing proves that it was synced"
    );
    log.write(&put(4..6)).unwrap();
    let (found, last) = read_all(&mut reader);
    assert_eq!((found, last.unwrap()), (urls(1..4), LogRead::Pending));
    let kept = reader.position();
    assert_eq!((kept.log, kept.record), (1, 3));
    log.mark().unwrap();
    assert_eq!(read_all(&mut reader).0, urls(4..6));
    log.end().unwrap();
    assert_eq!(reader.read().unwrap(), LogRead::Pending);
    assert_eq!(reader.position(), LogPosition::start_of(2));
    let mut log = begin(&storage);
    let mut batch = put(6..7);
    batch.delete("http://site.test/1");
    log.write(&batch).unwrap();
    log.end().unwrap();
    match reader.read().unwrap() {
        LogRead::Records(records) => {
            assert_eq!(records[0], LogRecord::Put(document(6)));
            assert_eq!(records[1], LogRecord::Delete("http://site.test/1".into()));
        }
        other => panic!("{other:?}"),
    }
    // A reader goes on where an earlier one stopped.
    let id = Index::open(storage.clone()).unwrap().id().to_owned();
    let mut again = LogReader::at(storage.clone(), &id, kept);
    assert_eq!(read_all(&mut again).0, [urls(4..7), urls(1..2)].concat());
    assert_eq!(read_all(&mut reader).1.unwrap(), LogRead::Pending);
    assert_eq!(again.position(), reader.position());
}

#[test]
fn a_commit_sends_the_reader_to_its_generation() {
    let (_, storage) = start();
    let (mut behind, mut level) = (reader(&storage), reader(&storage));
    let mut log = begin(&storage);
    log.write(&put(1..4)).unwrap();
    log.write(&put(4..6)).unwrap();
    assert_eq!(read_all(&mut level).0, urls(1..4));
    // The writer is killed, and the next one commits all that its log has.
    drop(log);
    recover(&storage, &BuildOptions::default(), false).unwrap();
    for reader in [&mut behind, &mut level] {
        let (found, last) = read_all(reader);
        assert_eq!(
            (found, last.unwrap()),
            (urls(0..0), LogRead::Committed { generation: 2 })
        );
    }
    let index = Index::open(storage.clone()).unwrap();
    assert_eq!(index.log_position(), LogPosition::start_of(2));
    let mut next = index.log_reader(storage.clone());
    let mut log = begin(&storage);
    log.write(&put(7..8)).unwrap();
    log.end().unwrap();
    assert_eq!(read_all(&mut next).0, urls(7..8));
    // Another index in the same place is no later state of this one.
    storage
        .list()
        .unwrap()
        .iter()
        .for_each(|name| storage.remove(name).unwrap());
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    writer.add(document(0)).unwrap();
    writer.commit().unwrap();
    let error = read_all(&mut next).1.unwrap_err();
    assert!(matches!(error, IndexError::Mismatch { .. }), "{error}");
}

/// Returns a disk whose log has four groups, the ends of these in the log, and the log's bytes.
fn written() -> (MemoryStorage, Vec<usize>, Vec<u8>) {
    let (disk, storage) = start();
    let mut log = begin(&storage);
    let mut ends = vec![log.bytes() as usize];
    for numbers in [1..2, 2..9, 9..10, 10..40] {
        log.write(&put(numbers)).unwrap();
        ends.push(log.bytes() as usize);
    }
    log.mark().unwrap();
    drop(log);
    let bytes = disk.read_raw("log-1").unwrap();
    (disk, ends, bytes)
}

const FIRSTS: [usize; 5] = [1, 2, 9, 10, 40];

#[test]
fn an_end_that_is_being_written_is_not_there_yet() {
    let (disk, ends, bytes) = written();
    let storage: SharedStorage = Arc::new(disk.clone());
    for unmapped in [false, true] {
        let seen: SharedStorage = match unmapped {
            true => Arc::new(UnmappedStorage::new(storage.clone())),
            false => storage.clone(),
        };
        for cut in (0..bytes.len()).step_by(41) {
            disk.write_raw("log-1", &bytes[..cut]);
            let mut reader = reader(&seen);
            let (found, last) = read_all(&mut reader);
            // Groups that another head follows.
            let proved = ends.iter().filter(|&&end| end + 40 <= cut).count();
            let until = FIRSTS[proved.saturating_sub(1).min(4)];
            assert_eq!(
                (found, last.unwrap()),
                (urls(1..until), LogRead::Pending),
                "cut at {cut}"
            );
            // Zeros for what was not written are no damage either.
            let mut holed = bytes[..cut].to_vec();
            holed.resize(bytes.len(), 0);
            disk.write_raw("log-1", holed);
            assert_eq!(
                read_all(&mut reader).1.unwrap(),
                LogRead::Pending,
                "zeros from {cut}"
            );
            disk.write_raw("log-1", bytes.clone());
            assert_eq!(read_all(&mut reader).0, urls(until..40), "cut at {cut}");
        }
    }
}

#[test]
fn damage_before_the_end_is_named_by_its_place() {
    let (disk, ends, bytes) = written();
    let storage: SharedStorage = Arc::new(disk.clone());
    for at in (0..*ends.last().unwrap()).step_by(29) {
        let mut bad = bytes.clone();
        bad[at] ^= 4;
        disk.write_raw("log-1", bad);
        let group = ends.iter().take_while(|&&end| end <= at).count();
        let mut reader = reader(&storage);
        let (found, last) = read_all(&mut reader);
        let whole = urls(1..40);
        match last {
            // Padding has no checksum; a damaged mark is found by the head after it.
            Ok(LogRead::Pending) => assert_eq!(found, whole, "byte {at}"),
            Ok(other) => panic!("byte {at}: {other:?}"),
            Err(IndexError::LogLost { loss }) => {
                let start = if group == 0 { 0 } else { ends[group - 1] };
                assert_eq!(loss.offset as usize, start, "byte {at}");
                assert!(loss.path.ends_with("log-1"));
                assert_eq!(found, urls(1..FIRSTS[group.saturating_sub(1)]), "byte {at}");
                // The same again: nothing of it was read.
                assert!(reader.read().is_err());
                disk.write_raw("log-1", bytes.clone());
                assert_eq!([found, read_all(&mut reader).0].concat(), whole);
            }
            Err(error) => panic!("byte {at}: {error}"),
        }
    }
    // A log that is missing, or lacks its end, although the next one has begun.
    disk.write_raw("log-1", bytes);
    let id = Index::open(storage.clone()).unwrap().id().to_owned();
    let next = LogWriter::create(&storage, &id, 2).unwrap();
    let mut reader = reader(&storage);
    let (found, last) = read_all(&mut reader);
    assert_eq!(found, urls(1..40));
    assert!(matches!(last, Err(IndexError::LogLost { .. })), "{last:?}");
    storage.remove("log-1").unwrap();
    let lost = reader.read().unwrap_err();
    assert!(matches!(lost, IndexError::LogLost { .. }), "{lost}");
    drop(next);
}

#[test]
fn a_read_that_fails_for_now_is_read_again() {
    let (disk, _, _) = written();
    let unmapped = UnmappedStorage::new(Arc::new(disk));
    let storage: SharedStorage = Arc::new(unmapped.clone());
    let mut reader = reader(&storage);
    // A call opens the log and reads it, so every second failure would end in none.
    unmapped.fail_each(3, ReadFault::Unavailable);
    let (mut found, mut failed) = (Vec::new(), 0);
    for _ in 0..100 {
        let (more, last) = read_all(&mut reader);
        found.extend(more);
        failed += usize::from(last.is_err_and(|error| error.is_transient()));
    }
    assert_eq!(found, urls(1..40));
    assert!(failed > 0);
}
