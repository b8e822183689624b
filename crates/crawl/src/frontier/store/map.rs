//! Batch in memory over sorted runs: changes, look-ups, scans.
use super::cursor::Cursor;
use super::found::{find, resolve};
use super::journal::JournalWriter;
use super::manifest::Manifest;
use super::merge::Merge;
use super::run::Run;
use crate::bytes::put_bytes;
use crate::frontier::error::{Damage, FrontierError};
use crate::frontier::record::Record;
use crate::frontier::sighting::Sighting;
use std::collections::BTreeMap;
use std::sync::Arc;
use vfs::{Lock, SharedStorage};

/// Sizes of the store. Tests shrink them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreOptions {
    /// Keys in the batch that lead to a checkpoint.
    pub batch_keys_max: usize,
    /// Bytes in the batch that lead to a checkpoint, about.
    pub batch_bytes_max: usize,
    /// Entries of a block end at this size, in bytes.
    pub block_bytes: usize,
    /// Runs of a tier that are merged.
    pub tier_runs: usize,
    /// Whether a merge into the oldest run leaves out empty records: they stand for removed ones.
    pub drops_empty: bool,
}

impl Default for StoreOptions {
    fn default() -> StoreOptions {
        StoreOptions {
            batch_keys_max: 100_000,
            batch_bytes_max: 40 << 20,
            block_bytes: 4 << 10,
            tier_runs: 8,
            drops_empty: false,
        }
    }
}

/// Memory of a key in the batch beside its bytes.
pub(super) const SLOT_BYTES: usize = 96;
/// Entries merged per change: each entry is merged once per tier, so this keeps up with 8^8 checkpoints.
pub(super) const MERGED_PER_CHANGE: usize = 8;
/// Entries merged at once.
pub(super) const MERGE_STEP: usize = 512;
/// Entries kept of changes that found no merge to do.
pub(super) const CREDIT_MAX: usize = 1 << 16;

pub(super) const CHANGE_PUT: u8 = 1;
pub(super) const CHANGE_SEEN: u8 = 2;
/// Stands for "no class": the record is new, or no URL.
pub(super) const NO_CLASS: u8 = 0xff;

pub(super) enum Slot {
    /// The record as it is, whatever the runs hold.
    Put(Box<[u8]>),
    /// A sighting that was not checked against the runs.
    Seen(Sighting),
}

pub(super) struct TierRun {
    pub(super) file: u64,
    pub(super) tier: u8,
    pub(super) run: Arc<Run>,
}

pub(crate) struct Store {
    pub(super) storage: SharedStorage,
    pub(super) options: StoreOptions,
    /// Oldest first; tiers never increase.
    pub(super) runs: Vec<TierRun>,
    pub(super) reader: Vec<Cursor>,
    pub(super) batch: BTreeMap<Box<[u8]>, Slot>,
    pub(super) batch_bytes: usize,
    /// Sightings in the batch.
    pub(super) unchecked: u64,
    pub(super) journal: JournalWriter,
    /// Manifest as on disk, except for its counts, which follow each change.
    pub(super) manifest: Manifest,
    pub(super) merge: Option<(u64, Merge)>,
    pub(super) merge_credit: usize,
    /// Files that the next manifest makes superfluous.
    pub(super) obsolete: Vec<String>,
    pub(super) damage: Vec<Damage>,
    pub(super) failed: bool,
    pub(super) _lock: Lock,
}

impl Store {
    /// Sets the record of `key`. `class_before` is that of the URL's record before, `None` if it had none.
    pub(crate) fn put(
        &mut self,
        key: &[u8],
        value: Vec<u8>,
        class: Option<(Option<u8>, u8)>,
    ) -> Result<(), FrontierError> {
        let (before, after) = match class {
            Some((before, after)) => (before.unwrap_or(NO_CLASS), after),
            None => (NO_CLASS, NO_CLASS),
        };
        let payload = self.journal.payload();
        payload.extend_from_slice(&[CHANGE_PUT, before, after]);
        put_bytes(payload, key);
        put_bytes(payload, &value);
        self.journal.appended(&self.storage)?;
        self.apply_put(key, value, before, after);
        self.merge_some()
    }

    /// Notes that a URL was seen. True unless the batch shows that it was known.
    pub(in crate::frontier) fn see(
        &mut self,
        key: &[u8],
        sighting: &Sighting,
    ) -> Result<bool, FrontierError> {
        let (changed, fresh) = self.apply_seen(key, sighting);
        if changed {
            let payload = self.journal.payload();
            payload.push(CHANGE_SEEN);
            put_bytes(payload, key);
            sighting.encode(payload);
            self.journal.appended(&self.storage)?;
        }
        self.merge_some()?;
        Ok(fresh)
    }

    pub(super) fn apply_put(&mut self, key: &[u8], value: Vec<u8>, before: u8, after: u8) {
        self.count(before, after);
        self.batch_bytes += value.len();
        match self.batch.get_mut(key) {
            Some(slot) => {
                if matches!(slot, Slot::Seen(_)) {
                    self.unchecked -= 1;
                }
                if let Slot::Put(old) = slot {
                    self.batch_bytes = self.batch_bytes.saturating_sub(old.len());
                }
                *slot = Slot::Put(value.into());
            }
            None => {
                self.batch_bytes += key.len() + SLOT_BYTES;
                self.batch.insert(key.into(), Slot::Put(value.into()));
            }
        }
    }

    /// Returns whether the batch changed, and whether the key is new to it.
    pub(super) fn apply_seen(&mut self, key: &[u8], sighting: &Sighting) -> (bool, bool) {
        match self.batch.get_mut(key) {
            Some(Slot::Seen(earlier)) => (earlier.merge(sighting), false),
            Some(Slot::Put(value)) => {
                let Some(mut record) = Record::decode(value) else {
                    return (false, false);
                };
                let changed = record.note(sighting);
                if changed {
                    *value = record.encode().into();
                }
                (changed, false)
            }
            None => {
                self.batch_bytes += key.len() + SLOT_BYTES;
                self.batch.insert(key.into(), Slot::Seen(*sighting));
                self.unchecked += 1;
                (true, true)
            }
        }
    }

    pub(super) fn count(&mut self, before: u8, after: u8) {
        if before != NO_CLASS {
            let count = self.manifest.counts.entry(before).or_default();
            *count = count.saturating_sub(1);
        }
        if after != NO_CLASS {
            *self.manifest.counts.entry(after).or_default() += 1;
        }
    }

    /// Returns the value of `key`, without what sightings add.
    pub(crate) fn get(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        if let Some(Slot::Put(value)) = self.batch.get(key) {
            return Some(value.to_vec());
        }
        find(&mut self.reader, key, &mut self.damage).map(<[u8]>::to_vec)
    }

    /// Returns the record of a URL, and whether the store had one apart from sightings.
    pub(in crate::frontier) fn record(&mut self, key: &[u8]) -> Option<(Record, bool)> {
        let stored = self.get(key).and_then(|value| Record::decode(&value));
        let seen = match self.batch.get(key) {
            Some(Slot::Seen(sighting)) => Some(sighting),
            _ => None,
        };
        resolve(stored, seen)
    }

    pub(super) fn reader_runs(&self) -> Vec<Arc<Run>> {
        self.runs.iter().map(|run| run.run.clone()).collect()
    }

    /// Makes all changes durable.
    pub(crate) fn sync(&mut self) -> Result<(), FrontierError> {
        if self.failed {
            return Err(FrontierError::Stopped);
        }
        Ok(self.journal.sync(&self.storage)?)
    }

    /// Returns whether the batch has reached its size.
    pub(crate) fn is_full(&self) -> bool {
        self.batch.len() >= self.options.batch_keys_max
            || self.batch_bytes >= self.options.batch_bytes_max
    }

    pub(in crate::frontier) fn counts(&self) -> (&BTreeMap<u8, u64>, u64) {
        (&self.manifest.counts, self.unchecked)
    }

    pub(crate) fn disk_bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.run.bytes()).sum()
    }

    pub(crate) fn damage(&self) -> &[Damage] {
        &self.damage
    }
}
