//! Disks that fail for a while: the writer goes on by itself when they work again, and loses nothing acknowledged.

use crate::made::{Versions, build, contents, document, first, history, index_of};
use index::{BuildOptions, Index, WriteLock, check, recover};
use ingest::{ConditionalChange, LiveOptions, LiveWriter, ResumingWriter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::size;
use vfs::{Fault, FaultKind, FaultyStorage, MemoryStorage, SharedStorage};

/// Time within which a writer goes on, several recoveries included.
const RESUMED: Duration = Duration::from_secs(30);

/// Writer on a disk in memory that fails.
struct Lived {
    disk: MemoryStorage,
    faulty: FaultyStorage,
    writer: ResumingWriter,
}

impl Lived {
    /// Opens the index of [`first`]; `None` where the disk fails meanwhile.
    fn new(fault: Fault) -> Option<Lived> {
        let disk = MemoryStorage::recording();
        let storage: SharedStorage = Arc::new(disk.clone());
        build(&storage, (0..5).map(|number| document(number, 1)));
        let faulty = FaultyStorage::new(storage, fault);
        let options = LiveOptions {
            refresh: Duration::from_millis(2),
            segments: 1 + fault.operation % 4,
            merge_percent: 100,
            ..LiveOptions::default()
        };
        let writer = LiveWriter::open(Arc::new(faulty.clone()), options).ok()?;
        Some(Lived {
            disk,
            faulty,
            writer: ResumingWriter::new(writer).unwrap(),
        })
    }

    /// Sends changes again until they are acknowledged. Returns whether they were refused at first.
    fn send(&self, changes: &[ConditionalChange]) -> bool {
        let (begun, mut is_refused) = (Instant::now(), false);
        while let Err(error) = self.writer.current().apply(changes.to_vec()) {
            is_refused = true;
            assert!(begun.elapsed() < RESUMED, "{error}");
            std::thread::sleep(Duration::from_millis(5));
        }
        is_refused
    }

    /// Closes the writer, and compares what it left, and what a loss of power leaves, with `expected`.
    fn close(self, expected: &Versions) {
        let Lived { disk, writer, .. } = self;
        drop(writer);
        let losses: Vec<_> = (0..size(2, 4)).map(|seed| disk.power_loss(seed)).collect();
        for found in losses.into_iter().chain([disk]) {
            let found: SharedStorage = Arc::new(found);
            recover(&found, &BuildOptions::default(), false).unwrap();
            assert_eq!(&contents(&index_of(&found)), expected);
            assert!(check(found, 10).unwrap().1.is_empty());
        }
    }
}

#[test]
fn a_writer_goes_on_after_a_failure() {
    let (mut runs, mut refused) = (0, 0);
    for operation in (0..400).step_by(size(5, 1)) {
        let kinds = FaultKind::ALL.into_iter().skip(size(operation % 4, 0));
        for kind in kinds.take(size(1, 4)) {
            let Some(lived) = Lived::new(Fault::once(operation, kind)) else {
                continue;
            };
            let (mut expected, mut is_refused) = (first(), false);
            for (changes, after) in history(operation as u64, 12) {
                is_refused |= lived.send(&changes);
                expected = after;
                std::thread::sleep(Duration::from_micros(1_200));
            }
            lived.close(&expected);
            (runs, refused) = (runs + 1, refused + usize::from(is_refused));
        }
    }
    println!("{runs} runs, the log failed in {refused}");
    assert!(refused > 0);
}

/// While the disk is full each change is refused, and reads go on; when there is room, changes are accepted again, all
/// of those acknowledged before are searched, and the figures count on.
#[test]
fn a_full_disk_refuses_changes_until_there_is_room() {
    let lived = Lived::new(Fault::from_then_on(120, FaultKind::NoSpace)).unwrap();
    let shown = Arc::new(AtomicU64::new(0));
    let showing = Arc::clone(&shown);
    lived
        .writer
        .current()
        .call_after_refresh(move |generation| showing.store(generation, Ordering::SeqCst));
    let history = history(7, 400);
    let mut acknowledged = (0, first());
    let fails = |(changes, _): &(Vec<ConditionalChange>, Versions)| {
        std::thread::sleep(Duration::from_millis(1));
        lived.writer.current().apply(changes.clone()).is_err()
    };
    for entry in &history {
        if fails(entry) {
            break;
        }
        acknowledged = (acknowledged.0 + 1, entry.1.clone());
    }
    let (count, state) = acknowledged;
    assert!(count > 0 && count < history.len());
    // Several recoveries fail meanwhile.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(1_500) {
        assert!(
            lived
                .writer
                .current()
                .apply(history[count].0.clone())
                .is_err()
        );
        let found = lived.writer.current().document(&document(0, 0).url);
        let version = found
            .unwrap()
            .map(|(found, _)| found.fields["version"].as_u64().unwrap());
        let maybe = &history[count].1;
        assert!(version == state.get(&0).copied() || version == maybe.get(&0).copied());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(lived.writer.current().status().failure.is_some());
    let accepted = lived.writer.current().status().changes_accepted;
    lived.faulty.mend();
    assert!(lived.send(&history[count].0));
    let resumed = lived.writer.current();
    let generation = resumed.refresh().unwrap();
    assert_eq!(shown.load(Ordering::SeqCst), generation);
    let status = resumed.status();
    assert_eq!(status.failure, None);
    assert!(status.changes_accepted > accepted);
    drop(resumed);
    lived.close(&history[count].1);
}

/// The writer that recovers keeps the lock, so that no other one comes between.
#[test]
fn the_lock_is_kept_while_a_writer_recovers() {
    let lived = Lived::new(Fault::from_then_on(120, FaultKind::Io)).unwrap();
    let storage: SharedStorage = Arc::new(lived.disk.clone());
    for (changes, _) in history(3, 400) {
        if lived.writer.current().apply(changes).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut generations = Vec::new();
    for attempt in 0..100 {
        assert!(WriteLock::take(&storage).is_err());
        if attempt == 40 {
            lived.faulty.mend();
        }
        generations.push(Index::open(storage.clone()).unwrap().generation());
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(lived.writer);
    assert!(WriteLock::take(&storage).is_ok());
    assert!(generations.is_sorted());
}
