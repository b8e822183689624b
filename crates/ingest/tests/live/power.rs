//! Losses of power while changes are logged, refreshed and merged, and while a recovery repairs what the loss before left.

use crate::made::{Versions, build, contents, document, first, history, index_of};
use index::{BuildOptions, check, recover};
use ingest::{LiveOptions, LiveWriter};
use std::sync::Arc;
use std::time::Duration;
use testkit::size;
use vfs::{MemoryStorage, SharedStorage};

/// A disk that remembers its operations, and the operation after which each batch was acknowledged.
struct Lived {
    disk: MemoryStorage,
    acknowledged: Vec<usize>,
    merges: u64,
    /// Contents before the first batch and after each.
    states: Vec<Versions>,
}

/// Applies the history of a seed. Merges are under way at many of its moments.
fn live(seed: u64, batches: usize) -> Lived {
    let disk = MemoryStorage::recording();
    let storage: SharedStorage = Arc::new(disk.clone());
    build(&storage, (0..5).map(|number| document(number, 1)));
    let options = LiveOptions {
        refresh: Duration::from_millis(3),
        segments: 1 + seed as usize % 3,
        merge_percent: 100,
        ..LiveOptions::default()
    };
    let writer = LiveWriter::open(storage, options).unwrap();
    let (mut acknowledged, mut states) = (vec![disk.operations()], vec![first()]);
    for (at, (changes, state)) in history(seed, batches).into_iter().enumerate() {
        writer.apply(changes).unwrap();
        acknowledged.push(disk.operations());
        states.push(state);
        // Some groups of a log are committed together, some while the next are written.
        match at % 4 {
            1 => drop(writer.refresh().unwrap()),
            3 => std::thread::sleep(Duration::from_millis(4)),
            _ => {}
        }
    }
    writer.close();
    Lived {
        merges: writer.status().merges,
        disk,
        acknowledged,
        states,
    }
}

impl Lived {
    /// Returns the contents that may be found after a loss of power at an operation: what was acknowledged, or with the
    /// batch under way.
    fn allowed(&self, operation: usize) -> &[Versions] {
        let done = self.acknowledged.iter().filter(|&&at| at <= operation);
        let durable = done.count() - 1;
        &self.states[durable..(durable + 2).min(self.states.len())]
    }
}

/// Recovers what a loss of power left, and says what is wrong with it.
fn judge(found: &MemoryStorage, allowed: &[Versions]) -> Result<(), String> {
    let storage: SharedStorage = Arc::new(found.clone());
    let recovery = recover(&storage, &BuildOptions::default(), false);
    let recovery = recovery.map_err(|error| error.to_string())?;
    if !recovery.losses.is_empty() {
        return Err(format!("losses: {:?}", recovery.losses));
    }
    let state = contents(&index_of(&storage));
    if !allowed.contains(&state) {
        return Err(format!("{state:?} is not one of {allowed:?}"));
    }
    let (_, damages) = check(storage, 10).map_err(|error| error.to_string())?;
    match damages.is_empty() {
        true => Ok(()),
        false => Err(format!("{damages:?}")),
    }
}

/// Commits once more, which removes what is left of interrupted commits and merges.
fn go_on(found: &MemoryStorage) {
    let storage: SharedStorage = Arc::new(found.clone());
    build(&storage, [document(39, 99)].into_iter());
    assert_eq!(contents(&index_of(&storage)).get(&39), Some(&99));
    let (report, damages) = check(storage, 10).unwrap();
    assert_eq!((report.strays, damages.len()), (Vec::new(), 0));
}

/// Losses of power tried.
#[derive(Default)]
struct Tried {
    merges: u64,
    images: usize,
    in_recoveries: usize,
}

impl Tried {
    /// Judges what a loss of power after an operation left, and what a second one leaves of its recovery.
    fn judge(&mut self, lived: &Lived, operation: usize, seed: u64) {
        let allowed = lived.allowed(operation);
        let found = lived.disk.power_loss_after(operation, seed);
        judge(&found, allowed)
            .unwrap_or_else(|wrong| panic!("after {operation}, seed {seed}: {wrong}"));
        self.images += 1;
        let count = found.operations();
        // At every operation of some recoveries, and at one of the others.
        let cuts = match self.images % size(300, 25) {
            0 => 0..count,
            at => at % count.max(1)..(at % count.max(1) + 1).min(count),
        };
        for cut in cuts {
            let again = found.power_loss_after(cut, seed + cut as u64);
            judge(&again, allowed).unwrap_or_else(|wrong| {
                panic!("after {operation}, seed {seed}, after {cut} of the recovery: {wrong}")
            });
            self.in_recoveries += 1;
            if self.in_recoveries.is_multiple_of(20) {
                go_on(&again);
            }
        }
        if self.images.is_multiple_of(20) {
            go_on(&found);
        }
    }
}

#[test]
fn a_loss_of_power_loses_nothing_acknowledged() {
    let mut tried = Tried::default();
    for history in 0..6 {
        let lived = live(history, 25);
        tried.merges += lived.merges;
        let operations = lived.acknowledged[0]..=lived.disk.operations();
        for operation in operations.step_by(size(15, 1)) {
            let first = size(operation as u64 % 9, 0);
            for seed in first..first + size(1, 25) {
                tried.judge(&lived, operation, seed);
            }
        }
    }
    println!(
        "{} losses of power, {} more in recoveries, {} merges",
        tried.images, tried.in_recoveries, tried.merges
    );
    assert!(tried.in_recoveries > 100 && tried.merges > 5);
}

/// Without what the log holds, changes are lost: the judgement above notices.
#[test]
fn a_loss_of_the_log_is_noticed() {
    let lived = live(1, 25);
    let mut unlike = 0;
    for operation in lived.acknowledged[0]..=lived.disk.operations() {
        let found = lived.disk.power_loss_after(operation, 0);
        let logs = found.files();
        for log in logs.iter().filter(|name| name.starts_with("log-")) {
            let bytes = found.read_raw(log).unwrap();
            found.write_raw(log, &bytes[..bytes.len().min(512)]);
        }
        unlike += usize::from(judge(&found, lived.allowed(operation)).is_err());
    }
    assert!(unlike > 20, "{unlike}");
}
