//! Merge of runs: one record per key, the newest.
use super::cursor::Cursor;
use super::run::{Run, RunBuilder};
use crate::frontier::error::Damage;
use std::sync::Arc;
use vfs::{SharedStorage, StorageError};

/// Entries of several runs in key order; of equal keys, that of the newest run.
#[derive(Debug)]
pub(super) struct MergeCursor {
    /// Oldest first.
    cursors: Vec<Cursor>,
    best: Option<usize>,
    key: Vec<u8>,
}

impl MergeCursor {
    /// `runs`, oldest first; not at an entry before the first `seek`.
    pub(super) fn new(runs: &[Arc<Run>]) -> MergeCursor {
        MergeCursor {
            cursors: runs.iter().cloned().map(Cursor::new).collect(),
            best: None,
            key: Vec::new(),
        }
    }

    pub(super) fn seek(&mut self, target: &[u8], damage: &mut Vec<Damage>) {
        for cursor in &mut self.cursors {
            cursor.seek(target, damage);
        }
        self.choose();
    }

    pub(super) fn entry(&self) -> Option<(&[u8], &[u8])> {
        let cursor = &self.cursors[self.best?];
        Some((cursor.key()?, cursor.value()))
    }

    pub(super) fn next(&mut self, damage: &mut Vec<Damage>) {
        let Some(best) = self.best else { return };
        self.key.clear();
        self.key
            .extend_from_slice(self.cursors[best].key().unwrap_or_default());
        for cursor in &mut self.cursors {
            if cursor.key() == Some(self.key.as_slice()) {
                cursor.next(damage);
            }
        }
        self.choose();
    }

    fn choose(&mut self) {
        self.best = None;
        let mut least: Option<&[u8]> = None;
        // From the newest on, so that an equal key of an older run does not win.
        for (at, cursor) in self.cursors.iter().enumerate().rev() {
            if let Some(key) = cursor.key()
                && least.is_none_or(|least| key < least)
            {
                least = Some(key);
                self.best = Some(at);
            }
        }
    }
}

/// A merge under way, a few entries at a time, so that no call waits for a whole one.
pub(super) struct Merge {
    /// Index of its first run in the list of runs, and the number of its runs.
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) tier: u8,
    drops_empty: bool,
    cursor: MergeCursor,
    builder: RunBuilder,
}

impl Merge {
    pub(super) fn start(
        storage: &SharedStorage,
        runs: &[Arc<Run>],
        place: (usize, usize, u8),
        name: String,
        (block_bytes, drops_empty): (usize, bool),
        damage: &mut Vec<Damage>,
    ) -> Result<Merge, StorageError> {
        let (first, count, tier) = place;
        let mut cursor = MergeCursor::new(&runs[first..first + count]);
        cursor.seek(&[], damage);
        Ok(Merge {
            first,
            count,
            tier,
            // An older run may hold what an empty record hides.
            drops_empty: drops_empty && first == 0,
            cursor,
            builder: RunBuilder::create(storage, name, block_bytes)?,
        })
    }

    /// Copies at most `entries`. True when nothing is left.
    pub(super) fn step(
        &mut self,
        storage: &SharedStorage,
        entries: usize,
        damage: &mut Vec<Damage>,
    ) -> Result<bool, StorageError> {
        for _ in 0..entries {
            let Some((key, value)) = self.cursor.entry() else {
                return Ok(true);
            };
            if !(self.drops_empty && value.is_empty()) {
                self.builder.push(storage, key, value)?;
            }
            self.cursor.next(damage);
        }
        Ok(self.cursor.entry().is_none())
    }

    pub(super) fn finish(self, storage: &SharedStorage) -> Result<Run, StorageError> {
        self.builder.finish(storage)
    }
}
