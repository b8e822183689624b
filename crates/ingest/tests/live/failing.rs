//! Disks that fail while changes are logged, refreshed and merged: what was acknowledged is there after a loss of power,
//! and nothing is acknowledged after a failure of the log.

use crate::made::{Versions, build, contents, document, first, history, index_of};
use index::{BuildOptions, check, recover};
use ingest::{LiveOptions, LiveWriter};
use std::sync::Arc;
use std::time::Duration;
use testkit::size;
use vfs::{Fault, FaultKind, FaultyStorage, MemoryStorage, SharedStorage};

/// What a run on a failing disk came to.
#[derive(Default)]
struct Outcome {
    /// Contents that may be found: what was acknowledged last, and what was neither acknowledged nor refused.
    possible: Vec<Versions>,
    has_struck: bool,
    /// Batches that were acknowledged after one was not.
    later_acknowledged: usize,
    /// Batches that were acknowledged although every operation failed.
    hidden: usize,
}

fn live(disk: &SharedStorage, fault: Fault) -> Outcome {
    let faulty = FaultyStorage::new(disk.clone(), fault);
    let options = LiveOptions {
        refresh: Duration::from_millis(2),
        segments: 1 + fault.operation % 4,
        merge_percent: 100,
        ..LiveOptions::default()
    };
    let mut outcome = Outcome {
        possible: vec![first()],
        ..Outcome::default()
    };
    let Ok(writer) = LiveWriter::open(Arc::new(faulty.clone()), options) else {
        assert!(faulty.has_failed());
        return outcome;
    };
    let mut is_refused = false;
    for (changes, after) in history(fault.operation as u64, 12) {
        let is_lost = fault.persistent && faulty.has_failed();
        match writer.apply(changes) {
            Ok(_) => {
                outcome.later_acknowledged += usize::from(is_refused);
                outcome.hidden += usize::from(is_lost);
                outcome.possible = vec![after];
            }
            // Written or not: the device does not say. Later batches are refused before they are written.
            Err(_) if !is_refused => {
                is_refused = true;
                outcome.possible.push(after);
            }
            Err(_) => {}
        }
        // Refreshes and merges go on meanwhile.
        std::thread::sleep(Duration::from_micros(1_200));
    }
    drop(writer);
    outcome.has_struck = faulty.has_failed();
    outcome
}

#[test]
fn a_failing_disk_loses_nothing_acknowledged() {
    let (mut runs, mut struck) = (0, 0);
    for operation in (0..400).step_by(size(9, 1)) {
        for kind in FaultKind::ALL {
            for persistent in [false, true] {
                if size(operation % 2 == usize::from(persistent), true) {
                    struck += usize::from(fail(Fault {
                        operation,
                        persistent,
                        kind,
                    }));
                    runs += 1;
                }
            }
        }
    }
    println!("{runs} runs, the disk failed in {struck}");
    assert!(struck * 3 > runs, "{struck} of {runs}");
}

/// Lives on a failing disk, and returns whether it failed.
fn fail(fault: Fault) -> bool {
    let disk = MemoryStorage::recording();
    let storage: SharedStorage = Arc::new(disk.clone());
    build(&storage, (0..5).map(|number| document(number, 1)));
    let outcome = live(&storage, fault);
    assert_eq!(
        (outcome.later_acknowledged, outcome.hidden),
        (0, 0),
        "{fault:?}"
    );
    // As the next process finds it, and as it is found after a loss of power, which drops what was not synced.
    let losses = (0..size(2, 4)).map(|seed| disk.power_loss(seed));
    for found in losses.collect::<Vec<_>>().into_iter().chain([disk]) {
        let found: SharedStorage = Arc::new(found);
        recover(&found, &BuildOptions::default(), false).unwrap();
        let state = contents(&index_of(&found));
        assert!(
            outcome.possible.contains(&state),
            "{fault:?}: {state:?} is not one of {:?}",
            outcome.possible
        );
        assert!(check(found, 10).unwrap().1.is_empty(), "{fault:?}");
    }
    outcome.has_struck
}
