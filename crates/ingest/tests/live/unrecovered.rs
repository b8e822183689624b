//! Starts on a full disk after a kill: the writer refuses changes until there is room, then recovers all that was
//! acknowledged.

use crate::made::{build, contents, document, first, history, index_of, slow_refresh, url};
use index::{BuildOptions, check, recover};
use ingest::{LiveError, LiveWriter, ResumingWriter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use vfs::{Fault, FaultKind, FaultyStorage, MemoryStorage, SharedStorage};

/// Time within which a writer recovers once there is room.
const RECOVERED: Duration = Duration::from_secs(30);

/// Returns a disk as a killed writer leaves it, with acknowledged changes in a log, and what they make of the index.
fn killed() -> (MemoryStorage, crate::made::Versions) {
    let disk = MemoryStorage::recording();
    let storage: SharedStorage = Arc::new(disk.clone());
    build(&storage, (0..5).map(|number| document(number, 1)));
    let writer = LiveWriter::open(storage, slow_refresh()).unwrap();
    let mut expected = first();
    for (changes, after) in history(11, 12) {
        writer.apply(changes).unwrap();
        expected = after;
    }
    // What is acknowledged survives a loss of power.
    let left = disk.power_loss(1);
    (left, expected)
}

/// Counts the operations of an opening on a disk with room.
fn operations() -> usize {
    let (disk, _) = killed();
    let counting = FaultyStorage::new(Arc::new(disk), Fault::never());
    drop(LiveWriter::open(Arc::new(counting.clone()), slow_refresh()).unwrap());
    counting.operations()
}

#[test]
fn a_writer_killed_before_starts_on_a_full_disk() {
    let operations = operations();
    assert!(operations > 20);
    let mut waited = 0;
    for operation in 1..operations {
        let (disk, expected) = killed();
        let fault = Fault::from_then_on(operation, FaultKind::Full);
        let faulty = FaultyStorage::new(Arc::new(disk.clone()), fault);
        let writer = LiveWriter::open_without_room(Arc::new(faulty.clone()), slow_refresh());
        let writer = writer.unwrap_or_else(|error| panic!("{operation}: {error}"));
        let is_waiting = writer.status().failure.is_some();
        waited += usize::from(is_waiting);
        let shown = Arc::new(AtomicU64::new(0));
        let showing = Arc::clone(&shown);
        writer.call_after_refresh(move |generation| showing.store(generation, Ordering::SeqCst));
        let change = || vec![crate::made::put(39, 777)];
        if is_waiting {
            let refused = writer.apply(change()).unwrap_err();
            assert!(matches!(refused, LiveError::NoRoom { .. }), "{refused:?}");
            assert!(
                refused.to_string().starts_with("nothing was changed"),
                "{refused}"
            );
            let found = writer.document(&url(0)).unwrap_err();
            assert!(matches!(found, LiveError::NoRoom { .. }), "{found:?}");
            let deleted = writer.delete_found(|_| Ok::<_, LiveError>(vec![url(0)]));
            assert!(
                matches!(deleted, Err(LiveError::NoRoom { .. })),
                "{deleted:?}"
            );
            assert!(writer.refresh().is_err());
        }
        let writer = ResumingWriter::new(writer).unwrap();
        faulty.mend();
        let begun = Instant::now();
        while let Err(error) = writer.current().apply(change()) {
            assert!(begun.elapsed() < RECOVERED, "{operation}: {error}");
            std::thread::sleep(Duration::from_millis(2));
        }
        let generation = writer.current().refresh().unwrap();
        assert_eq!(shown.load(Ordering::SeqCst), generation);
        drop(writer);
        let mut expected = expected;
        expected.insert(39, 777);
        let found: SharedStorage = Arc::new(disk);
        recover(&found, &BuildOptions::default(), false).unwrap();
        assert_eq!(contents(&index_of(&found)), expected, "{operation}");
        assert!(check(found, 10).unwrap().1.is_empty());
    }
    assert!(waited > 10, "{waited} of {operations}");
}

/// Another failure than a full disk is no reason to start without the changes of the log.
#[test]
fn other_failures_end_the_start() {
    for operation in [8, 12, 16] {
        let (disk, _) = killed();
        let fault = Fault::from_then_on(operation, FaultKind::Io);
        let faulty = FaultyStorage::new(Arc::new(disk), fault);
        assert!(LiveWriter::open_without_room(Arc::new(faulty), slow_refresh()).is_err());
    }
}
