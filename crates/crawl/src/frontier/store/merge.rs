//! Merge of runs: one record per key, the newest.
use super::cursor::Cursor;
use super::run::Run;
use super::run_builder::RunBuilder;
use crate::frontier::error::Damage;
use std::cmp::Ordering;
use std::sync::Arc;
use vfs::{SharedStorage, StorageError};

/// Bytes of the parts after the entries that are written at once.
const TAIL_STEP_BYTES: usize = 256 << 10;

/// Entries of several runs in key order; of equal keys, that of the newest run.
#[derive(Debug)]
pub(super) struct MergeCursor {
    /// Oldest first.
    cursors: Vec<Cursor>,
    /// Cursors at the least key, newest first.
    least: Vec<usize>,
}

impl MergeCursor {
    /// `runs`, oldest first; not at an entry before the first `seek`.
    pub(super) fn new(runs: &[Arc<Run>]) -> MergeCursor {
        MergeCursor {
            cursors: runs.iter().cloned().map(Cursor::new).collect(),
            least: Vec::new(),
        }
    }

    pub(super) fn seek(&mut self, target: &[u8], damage: &mut Vec<Damage>) {
        for cursor in &mut self.cursors {
            cursor.seek(target, damage);
        }
        self.choose();
    }

    pub(super) fn entry(&self) -> Option<(&[u8], &[u8])> {
        let cursor = &self.cursors[*self.least.first()?];
        Some((cursor.key()?, cursor.value()))
    }

    /// Seeks forward only.
    pub(super) fn advance(&mut self, target: &[u8], damage: &mut Vec<Damage>) {
        for cursor in &mut self.cursors {
            cursor.advance(target, damage);
        }
        self.choose();
    }

    pub(super) fn next(&mut self, damage: &mut Vec<Damage>) {
        for &at in &self.least {
            self.cursors[at].next(damage);
        }
        self.choose();
    }

    fn choose(&mut self) {
        self.least.clear();
        let mut least: Option<&[u8]> = None;
        // From the newest on, so that it comes first among those with equal keys.
        for (at, cursor) in self.cursors.iter().enumerate().rev() {
            let Some(key) = cursor.key() else { continue };
            match least.map_or(Ordering::Less, |least| key.cmp(least)) {
                Ordering::Less => {
                    least = Some(key);
                    self.least.clear();
                    self.least.push(at);
                }
                Ordering::Equal => self.least.push(at),
                Ordering::Greater => {}
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
        let runs = &runs[first..first + count];
        let keys_max = runs.iter().map(|run| run.entries()).sum();
        let mut cursor = MergeCursor::new(runs);
        cursor.seek(&[], damage);
        Ok(Merge {
            first,
            count,
            tier,
            // An older run may hold what an empty record hides.
            drops_empty: drops_empty && first == 0,
            cursor,
            builder: RunBuilder::create(storage, name, block_bytes, keys_max)?,
        })
    }

    /// Copies at most `entries`, or writes some of the parts after them. Returns whether nothing is left.
    pub(super) fn step(
        &mut self,
        storage: &SharedStorage,
        entries: usize,
        damage: &mut Vec<Damage>,
    ) -> Result<bool, StorageError> {
        for _ in 0..entries {
            let Some((key, value)) = self.cursor.entry() else {
                return self.builder.write_tail(storage, TAIL_STEP_BYTES);
            };
            if !(self.drops_empty && value.is_empty()) {
                self.builder.push(storage, key, value)?;
            }
            self.cursor.next(damage);
        }
        Ok(false)
    }

    pub(super) fn finish(self, storage: &SharedStorage) -> Result<Run, StorageError> {
        self.builder.finish(storage)
    }
}
