//! Opening: manifest, runs, the end of the journal, leftovers.
use super::cursor::push_damage;
use super::journal::{self, JournalWriter};
use super::manifest::{Manifest, is_ours, journal_name, run_name};
use super::map::{CHANGE_PUT, CHANGE_SEEN, Store, StoreOptions, TierRun};
use super::run::{OpenError, Run};
use crate::bytes::Reader;
use crate::frontier::error::{Damage, FrontierError};
use crate::frontier::sighting::Sighting;
use std::collections::BTreeMap;
use std::sync::Arc;
use vfs::{SharedStorage, StorageError};

/// Held while the frontier is open.
const LOCK_NAME: &str = "frontier.lock";

/// Findings of opening.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// There was none: it was made.
    pub is_new: bool,
    /// Changes of the journal that were applied.
    pub changes: u64,
    /// Bytes of an unfinished end of the journal that were cut: nothing in them had been acknowledged.
    pub cut_bytes: u64,
    /// Places that cannot be read. Blocks of runs are checked when they are read: see `Frontier::damage`.
    pub damage: Vec<Damage>,
}

impl Store {
    /// Opens the frontier in `storage`, or makes one, and removes leftovers of an interrupted run.
    pub(crate) fn open(
        storage: SharedStorage,
        options: StoreOptions,
    ) -> Result<(Store, Recovered), FrontierError> {
        let lock = storage.lock(LOCK_NAME)?;
        let found = Manifest::read(&storage)?;
        let is_new = found.is_none();
        let manifest = found.unwrap_or_default();
        let mut damage = Vec::new();
        let runs = open_runs(&storage, &manifest, &mut damage)?;
        let old_journal = journal_name(manifest.journal);
        let next_file = remove_leftovers(&storage, &manifest)?;
        let mut manifest = Manifest {
            next_file: next_file.max(manifest.next_file),
            ..manifest
        };
        let region = if is_new {
            None
        } else {
            match storage.open(&old_journal) {
                Ok(region) => Some(region),
                Err(StorageError::NotFound { .. }) => {
                    push_damage(&mut damage, missing(&old_journal));
                    None
                }
                Err(error) => return Err(error.into()),
            }
        };
        // Changes go to a journal of their own until the checkpoint below has made them a run; the manifest does not
        // name it, so that a crash before that starts again from the old one.
        manifest.next_file += 1;
        let scratch = journal_name(manifest.next_file);
        let mut store = Store {
            journal: JournalWriter::create(&storage, scratch.clone())?,
            storage,
            options,
            runs,
            reader: Vec::new(),
            batch: BTreeMap::new(),
            batch_bytes: 0,
            unchecked: 0,
            manifest,
            merge: None,
            merge_credit: 0,
            obsolete: vec![scratch],
            damage,
            failed: false,
            _lock: lock,
        };
        store.renew_reader();
        let mut recovered = Recovered {
            is_new,
            ..Recovered::default()
        };
        if let Some(region) = &region {
            let tail = journal::read(region, &old_journal);
            recovered.cut_bytes = tail.cut_bytes;
            for payload in &tail.payloads {
                recovered.changes += store.replay(payload, &old_journal);
            }
            for found in tail.damage {
                push_damage(&mut store.damage, found);
            }
        }
        store.checkpoint()?;
        recovered.damage = store.damage.clone();
        Ok((store, recovered))
    }

    fn replay(&mut self, payload: &[u8], file: &str) -> u64 {
        let mut reader = Reader::new(payload);
        let mut changes = 0;
        while !reader.is_empty() {
            if self.replay_change(&mut reader).is_none() {
                let offset_bytes = reader.position() as u64;
                let what = "a change in the journal is not one";
                let file = file.to_owned();
                push_damage(
                    &mut self.damage,
                    Damage {
                        file,
                        offset_bytes,
                        what,
                    },
                );
                break;
            }
            changes += 1;
        }
        changes
    }

    fn replay_change(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        match reader.byte()? {
            CHANGE_PUT => {
                let (before, after) = (reader.byte()?, reader.byte()?);
                let (key, value) = (reader.bytes()?, reader.bytes()?);
                self.apply_put(key, value.to_vec(), before, after);
            }
            CHANGE_SEEN => {
                let key = reader.bytes()?;
                let sighting = Sighting::decode(reader)?;
                self.apply_seen(key, &sighting);
            }
            _ => return None,
        }
        Some(())
    }
}

fn open_runs(
    storage: &SharedStorage,
    manifest: &Manifest,
    damage: &mut Vec<Damage>,
) -> Result<Vec<TierRun>, FrontierError> {
    let mut runs = Vec::new();
    for run in &manifest.runs {
        let name = run_name(run.file);
        match Run::open(storage, name.clone()) {
            Ok(opened) => runs.push(TierRun {
                file: run.file,
                tier: run.tier,
                run: Arc::new(opened),
            }),
            // Without the run its URLs are found again: a crawl goes on, and says what it lost.
            Err(OpenError::Damage(found)) => push_damage(damage, found),
            Err(OpenError::Storage(StorageError::NotFound { .. })) => {
                push_damage(damage, missing(&name))
            }
            Err(OpenError::Storage(error)) => return Err(error.into()),
        }
    }
    Ok(runs)
}

fn missing(file: &str) -> Damage {
    Damage {
        file: file.to_owned(),
        offset_bytes: 0,
        what: "the file is missing",
    }
}

/// Removes files that the manifest does not name. Returns the greatest number of a file.
fn remove_leftovers(storage: &SharedStorage, manifest: &Manifest) -> Result<u64, FrontierError> {
    let mut kept: Vec<String> = manifest.runs.iter().map(|run| run_name(run.file)).collect();
    kept.push(journal_name(manifest.journal));
    let mut greatest = 0;
    for name in storage.list()? {
        if !is_ours(&name) {
            continue;
        }
        let number = name
            .split(['-', '.'])
            .nth(1)
            .and_then(|digits| digits.parse::<u32>().ok());
        greatest = greatest.max(u64::from(number.unwrap_or_default()));
        if !kept.contains(&name) {
            storage.remove(&name)?;
        }
    }
    Ok(greatest)
}
