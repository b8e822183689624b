//! Groups of near duplicates: an index that finds fingerprints within a distance of 3.
//!
//! Four tables of 16-bit blocks (Manku, Jain & Das Sarma 2007): two fingerprints that differ in at most
//! three bits agree in at least one of four blocks, so it is enough to compare those that share one.
//!
//! A new fingerprint joins the group of its nearest neighbour, of equal ones the earliest; without one it
//! begins a group. So groups depend on the order of insertion, and a group may span more than 3 bits.
//! Exact: `nearest` equals the linear search over all fingerprints.

use std::collections::HashMap;

use super::simhash::distance;

/// Distance up to which fingerprints are near duplicates.
pub const DISTANCE_MAX: u32 = 3;
/// Blocks of a fingerprint, one more than bits may differ.
const BLOCKS_COUNT: usize = DISTANCE_MAX as usize + 1;

/// Index of fingerprints with their groups. About 60 bytes a fingerprint.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    fingerprints: Vec<u64>,
    groups: Vec<u32>,
    places: HashMap<u64, u32>,
    tables: [HashMap<u16, Vec<u32>>; BLOCKS_COUNT],
}

impl Groups {
    /// Empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of distinct fingerprints.
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Returns whether no fingerprint was inserted.
    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    /// Returns the group of a fingerprint, inserted if it is new. A group is named by its first
    /// fingerprint's place in the order of insertion.
    pub fn insert(&mut self, fingerprint: u64) -> u32 {
        if let Some(&place) = self.places.get(&fingerprint) {
            return self.groups[place as usize];
        }
        let place = self.fingerprints.len() as u32;
        let group = self
            .nearest_place(fingerprint)
            .map_or(place, |near| self.groups[near as usize]);
        self.fingerprints.push(fingerprint);
        self.groups.push(group);
        self.places.insert(fingerprint, place);
        for (block, table) in self.tables.iter_mut().enumerate() {
            table
                .entry(block_of(fingerprint, block))
                .or_default()
                .push(place);
        }
        group
    }

    /// Returns the group of the nearest fingerprint within a distance of 3, if there is one.
    pub fn find(&self, fingerprint: u64) -> Option<u32> {
        self.nearest_place(fingerprint)
            .map(|place| self.groups[place as usize])
    }

    /// Returns the nearest fingerprint within a distance of 3; of equally near ones the earliest.
    pub fn nearest(&self, fingerprint: u64) -> Option<u64> {
        self.nearest_place(fingerprint)
            .map(|place| self.fingerprints[place as usize])
    }

    fn nearest_place(&self, fingerprint: u64) -> Option<u32> {
        if let Some(&place) = self.places.get(&fingerprint) {
            return Some(place);
        }
        let mut best: Option<(u32, u32)> = None;
        for (block, table) in self.tables.iter().enumerate() {
            for &place in table
                .get(&block_of(fingerprint, block))
                .into_iter()
                .flatten()
            {
                let found = (
                    distance(fingerprint, self.fingerprints[place as usize]),
                    place,
                );
                if found.0 <= DISTANCE_MAX && best.is_none_or(|best| found < best) {
                    best = Some(found);
                }
            }
        }
        best.map(|(_, place)| place)
    }
}

fn block_of(fingerprint: u64, block: usize) -> u16 {
    (fingerprint >> (16 * block)) as u16
}
