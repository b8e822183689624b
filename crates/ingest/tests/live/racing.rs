//! Processes that race for the lock of an index: one has it, the others get an error at once, and its end by a kill needs no
//! repair.

use crate::child::{self, Process};
use index::{IndexError, WriteLock};
use stats::Random;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::size;
use vfs::{RealStorage, SharedStorage, StorageError};

/// Longest time within which a lock is refused, and taken after a kill. The sizes that run with all tests have patience
/// with busy machines.
fn soon() -> Duration {
    Duration::from_millis(size(2_000, 100))
}

/// Returns the lock, or `None` where another writer has it.
fn take(storage: &SharedStorage) -> Option<WriteLock> {
    match WriteLock::take(storage) {
        Ok(lock) => Some(lock),
        Err(IndexError::Storage(StorageError::Locked { .. })) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Races where the environment asks for it. A `private` lock excludes nobody.
#[test]
fn child_that_races() {
    let Some(task) = child::task() else {
        return;
    };
    let folder = match task[1].as_str() {
        "shared" => task[0].clone(),
        _ => format!("{}/{}", task[0], std::process::id()),
    };
    let storage: SharedStorage = Arc::new(RealStorage::create_directory(folder).unwrap());
    let mut line = String::new();
    while std::io::stdin().read_line(&mut line).unwrap() > 0 {
        let begun = Instant::now();
        match take(&storage) {
            None => child::tell(&format!("LOCK refused {}", begun.elapsed().as_micros())),
            Some(_lock) => {
                child::tell("LOCK taken");
                // Until the kill.
                std::thread::sleep(Duration::from_secs(600));
            }
        }
    }
}

/// Times of races.
#[derive(Debug, Default)]
struct Races {
    races: u64,
    slowest_refusal: Duration,
    slowest_after_kill: Duration,
}

impl Races {
    fn run(&mut self, folder: &Path, kind: &str, races: u64) -> Result<(), String> {
        let storage: SharedStorage = Arc::new(RealStorage::open(folder).unwrap());
        let test = "racing::child_that_races";
        let start = || Process::start(child::command(test, folder, &[kind], &[]));
        let mut processes: Vec<Process> = (0..8).map(|_| start()).collect();
        let mut random = Random::new(1, 61);
        for race in 0..races {
            let count = 2 + random.below(7) as usize;
            processes[..count].iter_mut().for_each(Process::ask);
            let mut winners = Vec::new();
            for (at, process) in processes[..count].iter_mut().enumerate() {
                let told = process.next("LOCK ").expect("the process answers");
                match told.strip_prefix("refused ") {
                    Some(micros) => {
                        let took = Duration::from_micros(micros.parse().unwrap());
                        self.slowest_refusal = self.slowest_refusal.max(took);
                    }
                    None => winners.push(at),
                }
            }
            let &[winner] = &winners[..] else {
                return Err(format!("race {race} of {count}: winners {winners:?}"));
            };
            if take(&storage).is_some() {
                return Err(format!("race {race}: the lock of {winner} is free"));
            }
            processes[winner].kill();
            let killed = Instant::now();
            let lock = loop {
                if let Some(lock) = take(&storage) {
                    break lock;
                }
                assert!(killed.elapsed() < Duration::from_secs(60), "still locked");
            };
            self.slowest_after_kill = self.slowest_after_kill.max(killed.elapsed());
            drop(lock);
            processes[winner] = start();
            self.races += 1;
        }
        Ok(())
    }
}

#[test]
fn one_writer_has_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let mut races = Races::default();
    races.run(folder.path(), "shared", size(25, 2_000)).unwrap();
    println!("{races:?}");
    assert!(
        races.slowest_refusal < soon() && races.slowest_after_kill < soon(),
        "{races:?}"
    );
}

/// With a lock for each process there are several writers: the judgement above notices.
#[test]
fn locks_that_exclude_nobody_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let noticed = Races::default().run(folder.path(), "private", 1);
    assert!(noticed.is_err_and(|wrong| wrong.contains("winners")));
}
