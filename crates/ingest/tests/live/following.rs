//! A follower: an index of its own, to which the records of a writer's log are applied. It has the answers of the writer's
//! index, whether the writer is in this process or another one, and after it was killed.

use crate::child::{self, Process};
use crate::killed::{history_of, storage_at};
use crate::made::{
    Versions, build, contents, document, figures, first, history, index_of, slow_refresh, started,
};
use index::{BuildOptions, IndexError, Writer, back_up, check, recover};
use ingest::{LiveWriter, LogRead, LogReader, LogRecord};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::size;
use vfs::{MemoryStorage, SharedStorage};

/// Longest time that a test waits for something to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Index that follows the one at `source`.
struct Follower {
    source: SharedStorage,
    own: SharedStorage,
    reader: LogReader,
    generations_opened: usize,
    records: usize,
}

impl Follower {
    fn new(source: &SharedStorage) -> Follower {
        let (own, reader) = copied(source);
        Follower {
            source: source.clone(),
            own,
            reader,
            generations_opened: 0,
            records: 0,
        }
    }

    /// Applies what there is, and opens generations where the log is gone.
    fn catch_up(&mut self) {
        let mut waiting = Vec::new();
        loop {
            match self.reader.read().unwrap() {
                LogRead::Records(mut records) => waiting.append(&mut records),
                LogRead::Pending => break,
                LogRead::Committed { .. } => {
                    waiting.clear();
                    (self.own, self.reader) = copied(&self.source);
                    self.generations_opened += 1;
                }
            }
        }
        if waiting.is_empty() {
            return;
        }
        self.records += waiting.len();
        let mut writer = Writer::open(self.own.clone(), BuildOptions::default()).unwrap();
        for record in LogRecord::last_of_each(waiting) {
            match record {
                LogRecord::Put(document) => writer.add(document).unwrap(),
                LogRecord::Delete(url) => writer.delete(&url),
            }
        }
        writer.commit().unwrap();
    }

    fn contents(&self) -> Versions {
        contents(&index_of(&self.own))
    }
}

/// Returns a copy of the newest generation, without the changes in logs, and a reader of what follows.
fn copied(source: &SharedStorage) -> (SharedStorage, LogReader) {
    loop {
        let disk = MemoryStorage::new();
        let own: SharedStorage = Arc::new(disk.clone());
        match back_up(source, &own, &|_| {}) {
            Ok(_) => {}
            // A log that is being read may be removed by a commit.
            Err(IndexError::Storage(_) | IndexError::Changed { .. }) => continue,
            Err(error) => panic!("{error}"),
        }
        let reader = index_of(&own).log_reader(source.clone());
        for name in disk.files().iter().filter(|name| name.starts_with("log-")) {
            own.remove(name).unwrap();
        }
        return (own, reader);
    }
}

/// Catches up until the contents are `expected`.
fn wait_for(follower: &mut Follower, expected: &Versions) {
    let until = Instant::now() + PATIENCE;
    loop {
        follower.catch_up();
        if follower.contents() == *expected {
            return;
        }
        assert!(
            Instant::now() < until,
            "{:?} is not {expected:?}",
            follower.contents()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_same_as(source: &SharedStorage, follower: &Follower) {
    assert_eq!(contents(&index_of(source)), follower.contents());
    assert_eq!(
        figures(&index_of(source)),
        figures(&index_of(&follower.own))
    );
    assert_eq!(check(follower.own.clone(), 10).unwrap().1.len(), 0);
}

#[test]
fn a_follower_has_what_the_writer_acknowledged() {
    let source = started();
    let writer = LiveWriter::open(source.clone(), slow_refresh()).unwrap();
    let mut follower = Follower::new(&source);
    for (at, (changes, state)) in history(3, size(12, 60)).into_iter().enumerate() {
        writer.apply(changes).unwrap();
        if at % 3 == 2 {
            wait_for(&mut follower, &state);
        }
        if at % 4 == 3 {
            // The log ends, a commit removes it, and another one begins.
            writer.refresh().unwrap();
        }
    }
    writer.refresh().unwrap();
    let state = contents(&index_of(&source));
    wait_for(&mut follower, &state);
    is_same_as(&source, &follower);
    writer.close();
    drop(writer);
    follower.catch_up();
    is_same_as(&source, &follower);
    assert!(follower.records > 10, "{}", follower.records);
}

#[test]
fn a_follower_of_a_process_that_is_killed_has_what_the_next_one_has() {
    let folder = tempfile::tempdir().unwrap();
    let source = storage_at(folder.path());
    build(&source, (0..5).map(|number| document(number, 1)));
    let mut state = first();
    let (mut records, mut generations) = (0, 0);
    let mut follower = Follower::new(&source);
    let lives = size(4, 40);
    for (at, life) in (1..).filter(|life| life % 4 != 3).enumerate() {
        // On a busy machine the first processes may be killed before they commit.
        if at >= lives && (records > 0 && generations > 0 || at >= 10 * lives) {
            break;
        }
        let states: Vec<Versions> = std::iter::once(state.clone())
            .chain(
                history_of(life, state.clone())
                    .into_iter()
                    .map(|(_, state)| state),
            )
            .collect();
        let words = [life.to_string()];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut process = Process::start(child::command(
            "killed::child_that_writes",
            folder.path(),
            &words,
            &[],
        ));
        process.next("READY").unwrap();
        let until = Instant::now() + Duration::from_millis(150 + 70 * life);
        while Instant::now() < until {
            follower.catch_up();
            let found = follower.contents();
            assert!(
                states.contains(&found),
                "life {life}: {found:?} was never there"
            );
        }
        process.kill();
        process.wait();
        follower.catch_up();
        recover(&source, &BuildOptions::default(), false).unwrap();
        follower.catch_up();
        is_same_as(&source, &follower);
        state = follower.contents();
        (records, generations) = (follower.records, follower.generations_opened);
    }
    println!("{records} records applied, {generations} generations opened");
    assert!(records > 0 && generations > 0, "{records} {generations}");
}
