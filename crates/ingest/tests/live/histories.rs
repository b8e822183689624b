//! Independence of an index from its history, random sequences of changes, refreshes and restarts.

use crate::made::{build, contents, document, figures, history, index_of, slow_refresh, started};
use ingest::{LiveWriter, Outcome};
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

#[test]
fn no_history_shows_in_the_index() {
    let histories = testkit::size(60, 2_000);
    for seed in 0..histories {
        let storage = started();
        let mut writer = LiveWriter::open(storage.clone(), slow_refresh()).unwrap();
        for (at, (changes, state)) in history(seed, testkit::size(20, 40)).into_iter().enumerate() {
            let made = writer.apply(changes).unwrap();
            assert!(made.iter().all(Outcome::is_made), "{made:?}");
            match (seed as usize + at) % 5 {
                0 => drop(writer.refresh().unwrap()),
                1 => {
                    drop(writer);
                    writer = LiveWriter::open(storage.clone(), slow_refresh()).unwrap();
                }
                _ => continue,
            }
            let fresh: SharedStorage = Arc::new(MemoryStorage::new());
            build(
                &fresh,
                state
                    .iter()
                    .map(|(&number, &version)| document(number, version)),
            );
            let (found, fresh) = (index_of(&storage), index_of(&fresh));
            assert_eq!(contents(&found), state, "seed {seed}, batch {at}");
            assert_eq!(figures(&found), figures(&fresh), "seed {seed}, batch {at}");
        }
    }
}
