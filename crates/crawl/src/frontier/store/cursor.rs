//! Position in a run: seeks, steps, damaged blocks left out.
use super::run::Run;
use crate::bytes::Reader;
use crate::frontier::error::Damage;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// A position in a run. `key` and `value` are valid while `valid` is true.
#[derive(Debug)]
pub(super) struct Cursor {
    run: Arc<Run>,
    block: usize,
    /// Start of the next entry, and end of the block's entries.
    at: usize,
    end: usize,
    key: Vec<u8>,
    value: (usize, usize),
    valid: bool,
}

impl Cursor {
    /// Returns a cursor before the first entry, which is not valid yet.
    pub(super) fn new(run: Arc<Run>) -> Cursor {
        Cursor {
            run,
            block: usize::MAX,
            at: 0,
            end: 0,
            key: Vec::new(),
            value: (0, 0),
            valid: false,
        }
    }

    pub(super) fn run(&self) -> &Run {
        &self.run
    }

    /// Returns the key here, or `None` at the end.
    pub(super) fn key(&self) -> Option<&[u8]> {
        self.valid.then_some(self.key.as_slice())
    }

    /// Returns the value here.
    pub(super) fn value(&self) -> &[u8] {
        &self.run.region[self.value.0..self.value.1]
    }

    /// Goes to the first entry with a key ≥ `target`. Cheap when it is a little further on.
    pub(super) fn seek(&mut self, target: &[u8], damage: &mut Vec<Damage>) {
        let here = self.valid && self.key.as_slice() <= target;
        let blocks = self.run.blocks.len();
        let in_block =
            here && (self.block + 1 >= blocks || self.run.first_key(self.block + 1) > target);
        if !in_block {
            let low = if here { self.block } else { 0 };
            let mut size = blocks - low;
            let mut first = low;
            // The last block whose first key is ≤ target.
            while size > 1 {
                let half = size / 2;
                if self.run.first_key(first + half) <= target {
                    first += half;
                }
                size -= half;
            }
            self.valid = false;
            if blocks == 0 || !self.enter(first, damage) {
                return;
            }
        }
        while self.valid && self.key.as_slice() < target {
            self.next(damage);
        }
    }

    /// Seeks forward only: stays where the key is ≥ `target`, or at the end.
    pub(super) fn advance(&mut self, target: &[u8], damage: &mut Vec<Damage>) {
        if self.key().is_some_and(|key| key < target) {
            self.seek(target, damage);
        }
    }

    /// Goes to the next entry.
    pub(super) fn next(&mut self, damage: &mut Vec<Damage>) {
        if self.at >= self.end {
            self.valid = false;
            let following = self.block.wrapping_add(1);
            self.enter(following, damage);
            return;
        }
        if !self.read() {
            push_damage(
                damage,
                self.run
                    .damage(self.block, "an entry of the block is not one"),
            );
            self.valid = false;
            self.enter(self.block + 1, damage);
        }
    }

    /// Enters the first sound block from `block` on, at its first entry.
    fn enter(&mut self, mut block: usize, damage: &mut Vec<Damage>) -> bool {
        while block < self.run.blocks.len() {
            let start = self.run.blocks[block].offset;
            let end = self.run.block_end(block) - 8;
            let stored = &self.run.region[end..end + 8];
            if xxh3_64(&self.run.region[start..end]).to_le_bytes() == *stored {
                (self.block, self.at, self.end) = (block, start, end);
                self.key.clear();
                self.valid = self.read();
                if self.valid {
                    return true;
                }
            }
            push_damage(
                damage,
                self.run.damage(block, "the checksum of the block differs"),
            );
            block += 1;
        }
        self.valid = false;
        false
    }

    fn read(&mut self) -> bool {
        let mut reader = Reader::new(&self.run.region[self.at..self.end]);
        let entry = (|| Some((reader.length()?, reader.bytes()?, reader.bytes()?)))();
        let Some((shared, suffix, value)) = entry.filter(|(shared, ..)| *shared <= self.key.len())
        else {
            return false;
        };
        self.key.truncate(shared);
        self.key.extend_from_slice(suffix);
        self.at += reader.position();
        self.value = (self.at - value.len(), self.at);
        true
    }
}

/// Adds a damage unless it is known; keeps at most 1,000.
pub(super) fn push_damage(list: &mut Vec<Damage>, damage: Damage) {
    if list.len() < 1_000 && !list.contains(&damage) {
        list.push(damage);
    }
}
