//! Kills of a process that writes, at any moment of logging, refreshing, merging, committing, optimizing and recovering:
//! what it acknowledged is there, once.

use crate::child::{self, Process};
use crate::made::{Versions, build, contents, document, first, history_after, index_of};
use index::{BuildOptions, OptimizeOptions, Order, Writer, check, optimize, recover};
use ingest::{LiveOptions, LiveWriter};
use stats::Random;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::size;
use vfs::{RealStorage, SharedStorage};

/// Batches of a life: more than it has time for.
const BATCHES: usize = 400;
/// Longest time until a kill, in milliseconds.
const LIFE_MS_MAX: u64 = 300;

pub(crate) fn storage_at(folder: &Path) -> SharedStorage {
    Arc::new(RealStorage::create_directory(folder).unwrap())
}

/// Returns the changes of a life to what the index has.
pub(crate) fn history_of(life: u64, state: Versions) -> crate::made::History {
    history_after(state, life * 10_000, life, BATCHES)
}

/// Writes where the environment asks for it: the process that is killed.
#[test]
fn child_that_writes() {
    let Some(task) = child::task() else {
        return;
    };
    let storage = storage_at(Path::new(&task[0]));
    let life: u64 = task[1].parse().unwrap();
    match life % 4 {
        3 => commit(&storage, life),
        _ => write_live(&storage, life),
    }
}

fn write_live(storage: &SharedStorage, life: u64) {
    let options = LiveOptions {
        refresh: Duration::from_millis(4),
        segments: 2,
        merge_percent: 100,
        ..LiveOptions::default()
    };
    let writer = LiveWriter::open(storage.clone(), options).unwrap();
    child::tell("READY");
    for (changes, _) in history_of(life, contents(&index_of(storage))) {
        writer.apply(changes).unwrap();
        child::tell("ACK");
    }
}

/// Does the same by commits, with a rewrite of the index after every third.
fn commit(storage: &SharedStorage, life: u64) {
    recover(storage, &BuildOptions::default(), false).unwrap();
    child::tell("READY");
    let mut before = contents(&index_of(storage));
    for (at, (_, state)) in history_of(life, before.clone()).into_iter().enumerate() {
        let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
        for (&number, &version) in &state {
            if before.get(&number) != Some(&version) {
                writer.add(document(number, version)).unwrap();
            }
        }
        for number in before.keys().filter(|number| !state.contains_key(number)) {
            writer.delete(&document(*number, 0).url);
        }
        writer.commit().unwrap();
        child::tell("ACK");
        if at % 3 == 2 {
            let options = OptimizeOptions {
                order: Some(Order::ALL[at % Order::ALL.len()]),
                ..OptimizeOptions::default()
            };
            optimize(storage.clone(), &options, &|_| {}).unwrap();
        }
        before = state;
    }
}

/// What kills came to.
#[derive(Debug, Default)]
struct Kills {
    kills: u64,
    acknowledged: usize,
    /// Kills that left each of these.
    before_opened: u64,
    changes_to_replay: u64,
    unfinished_generation: u64,
    files_to_remove: u64,
    by_commits: u64,
    slowest_recovery: Duration,
}

impl Kills {
    /// Has a process write, kills it, and returns what is there afterwards; an error says what is wrong.
    fn live(
        &mut self,
        folder: &Path,
        life: u64,
        state: Versions,
        damage: impl Fn(&Path),
    ) -> Result<Versions, String> {
        let words = [life.to_string()];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let test = "killed::child_that_writes";
        let mut process = Process::start(child::command(test, folder, &words, &[]));
        std::thread::sleep(Duration::from_millis(
            Random::new(life, 60).below(LIFE_MS_MAX),
        ));
        process.kill();
        let is_ready = process.next("READY").is_some();
        let acknowledged = std::iter::from_fn(|| process.next("ACK")).count();
        process.wait();
        self.kills += 1;
        self.acknowledged += acknowledged;
        self.before_opened += u64::from(!is_ready);
        self.by_commits += u64::from(is_ready && life % 4 == 3);
        damage(folder);
        let storage = storage_at(folder);
        self.look(&storage)?;
        let begun = Instant::now();
        let recovered = recover(&storage, &BuildOptions::default(), false);
        recovered.map_err(|error| error.to_string())?;
        self.slowest_recovery = self.slowest_recovery.max(begun.elapsed());
        let history = history_of(life, state.clone());
        let states: Vec<Versions> = std::iter::once(state)
            .chain(history.into_iter().map(|(_, state)| state))
            .collect();
        let allowed = &states[acknowledged..(acknowledged + 2).min(states.len())];
        let found = contents(&index_of(&storage));
        if !allowed.contains(&found) {
            return Err(format!("{found:?} is not one of {allowed:?}"));
        }
        match check(storage, 10).map_err(|error| error.to_string())?.1 {
            damages if damages.is_empty() => Ok(found),
            damages => Err(format!("{damages:?}")),
        }
    }

    /// Counts what the kill left.
    fn look(&mut self, storage: &SharedStorage) -> Result<(), String> {
        let (report, _) = check(storage.clone(), 10).map_err(|error| error.to_string())?;
        self.changes_to_replay += u64::from(report.logged_changes > 0);
        self.unfinished_generation += u64::from(report.unfinished.is_some());
        self.files_to_remove += u64::from(!report.strays.is_empty());
        Ok(())
    }
}

#[test]
fn killed_writers_lose_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let storage = storage_at(folder.path());
    build(&storage, (0..5).map(|number| document(number, 1)));
    let (mut kills, mut state) = (Kills::default(), first());
    for life in 1..=size(8, 3_000) {
        state = kills
            .live(folder.path(), life, state, |_| {})
            .unwrap_or_else(|wrong| panic!("life {life}: {wrong}"));
        // The next writer leaves nothing of those before it.
        if life % 8 == 0 {
            build(&storage, [document(39, life * 10_000)].into_iter());
            state.insert(39, life * 10_000);
            assert_eq!(check(storage.clone(), 10).unwrap().0.strays, []);
        }
    }
    println!("{kills:?}");
    assert!(kills.acknowledged > 0, "{kills:?}");
    let phases = [
        kills.before_opened,
        kills.changes_to_replay,
        kills.unfinished_generation,
        kills.files_to_remove,
        kills.by_commits,
    ];
    assert!(
        phases.iter().all(|&count| count >= size(0, 50)),
        "{kills:?}"
    );
}

/// Without the log, changes are lost: the judgement above notices.
#[test]
fn a_killed_writer_without_its_log_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    build(
        &storage_at(folder.path()),
        (0..5).map(|number| document(number, 1)),
    );
    let remove_logs = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_log = |path: &std::path::PathBuf| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("log-"))
        };
        paths
            .filter(is_log)
            .for_each(|path| std::fs::remove_file(path).unwrap());
    };
    let (mut kills, mut state) = (Kills::default(), first());
    for life in (0..).filter(|life| life % 4 != 3).take(60) {
        match kills.live(folder.path(), life, state, remove_logs) {
            Ok(found) => state = found,
            Err(wrong) => return assert!(wrong.contains("is not one of"), "{wrong}"),
        }
    }
    panic!("not noticed: {kills:?}");
}
