//! Possible contents of a disk after a power loss.
//!
//! The model asks more than any one file system would: changes of names since the last sync of the
//! directory are kept or lost each for itself (a rename as a whole), and the unsynced end of a file
//! may have its length but not its bytes. A program that survives this survives what disks do.
use super::disk::{Disk, File};
use std::sync::Arc;

/// Size of a sector, which a disk writes whole or not at all, in bytes.
const SECTOR_BYTES: usize = 512;

impl Disk {
    /// Returns the disk found, all of it durable. Seed 0 loses all that may be lost, seed 1 nothing.
    pub(super) fn power_loss(&self, seed: u64) -> Disk {
        let mut dice = Dice::new(seed);
        let mut found = self.clone();
        found.unsynced.clear();
        found.names = self.durable_names.clone();
        for change in &self.unsynced {
            if dice.keeps() {
                change.apply(&mut found.names);
            }
        }
        found.durable_names = found.names.clone();
        for file in found.files.values_mut() {
            *file = file_found(file, &mut dice);
        }
        found
    }
}

fn file_found(file: &File, dice: &mut Dice) -> File {
    let unsynced_bytes = file.bytes.len() - file.durable_bytes;
    let kept_bytes = match dice.fate() {
        Fate::Lost => 0,
        Fate::Kept | Fate::Zeros | Fate::Sectors => unsynced_bytes,
        Fate::Torn => dice.below(unsynced_bytes + 1),
    };
    let mut bytes = file.bytes[..file.durable_bytes + kept_bytes].to_vec();
    let mut tail = &mut bytes[file.durable_bytes..];
    let mut at = file.durable_bytes;
    while !tail.is_empty() {
        let sector_bytes = (SECTOR_BYTES - at % SECTOR_BYTES).min(tail.len());
        let (sector, rest) = tail.split_at_mut(sector_bytes);
        if dice.zeroes_sector() {
            sector.fill(0);
        }
        tail = rest;
        at += sector_bytes;
    }
    File {
        durable_bytes: bytes.len(),
        bytes: Arc::new(bytes),
    }
}

/// Fate of the unsynced end of a file.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Lost,
    Kept,
    /// Cut somewhere.
    Torn,
    /// The length is there, the bytes are not.
    Zeros,
    /// Some sectors are there.
    Sectors,
}

/// The decisions that a seed makes (SplitMix64).
struct Dice {
    seed: u64,
    state: u64,
    fate: Fate,
}

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice {
            seed,
            state: seed,
            fate: Fate::Lost,
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn keeps(&mut self) -> bool {
        match self.seed {
            0 => false,
            1 => true,
            _ => self.below(2) == 0,
        }
    }

    fn fate(&mut self) -> Fate {
        self.fate = match (self.seed, self.below(5)) {
            (0, _) | (2.., 0) => Fate::Lost,
            (1, _) | (_, 1) => Fate::Kept,
            (_, 2) => Fate::Torn,
            (_, 3) => Fate::Zeros,
            (_, _) => Fate::Sectors,
        };
        self.fate
    }

    fn zeroes_sector(&mut self) -> bool {
        match self.fate {
            Fate::Zeros => true,
            Fate::Sectors => self.below(2) == 0,
            Fate::Lost | Fate::Kept | Fate::Torn => false,
        }
    }
}
