//! Writer of a dictionary, from terms in order; the table of hashes is filled at the end.

use super::entries::{BLOCK_TERMS, common_bytes};
use super::hash::{PLACES, bucket_bytes, bucket_of, buckets_of, check_of, hash_of, width_of};
use crate::IndexError;
use crate::sealed::SealedWriter;
use crate::spill::Spill;
use codec::vint;
use vfs::SharedStorage;

/// Counts of a list for its record, and its place.
pub(crate) struct ListPlace {
    pub(crate) documents_count: u32,
    pub(crate) occurrences_count: u64,
    pub(crate) postings_start: u64,
    pub(crate) postings_bytes: u64,
    pub(crate) positions_start: u64,
    pub(crate) positions_bytes: u64,
}

/// Writer of a dictionary.
pub(crate) struct TermsWriter {
    blocks: Spill,
    starts: Spill,
    hashes: Vec<u32>,
    key_before: Vec<u8>,
    entry: Vec<u8>,
}

impl TermsWriter {
    /// Creates a writer; names of temporary files begin with `name`.
    pub(crate) fn new(storage: &SharedStorage, name: &str) -> TermsWriter {
        TermsWriter {
            blocks: Spill::new(storage, format!("{name}-terms")),
            starts: Spill::new(storage, format!("{name}-term-starts")),
            hashes: Vec::new(),
            key_before: Vec::new(),
            entry: Vec::new(),
        }
    }

    /// Adds the next term; returns `false` where the dictionary is full. Keys increase.
    pub(crate) fn push(&mut self, key: &[u8], list: &ListPlace) -> Result<bool, IndexError> {
        let entry = &mut self.entry;
        entry.clear();
        if (self.hashes.len() as u64).is_multiple_of(BLOCK_TERMS) {
            let Ok(start) = u32::try_from(self.blocks.bytes()) else {
                return Ok(false);
            };
            self.starts.write(&start.to_le_bytes())?;
            vint::write_u64(entry, list.postings_start);
            vint::write_u64(entry, list.positions_start);
            self.key_before.clear();
        }
        debug_assert!(self.key_before.as_slice() < key || self.key_before.is_empty());
        let shared = common_bytes(&self.key_before, key);
        let own = &key[shared..];
        entry.push((shared.min(15) << 4 | own.len().min(15)) as u8);
        for length in [shared, own.len()] {
            if length >= 15 {
                vint::write_u64(entry, length as u64 - 15);
            }
        }
        entry.extend_from_slice(own);
        let more = list.occurrences_count - u64::from(list.documents_count);
        vint::write_u32(entry, list.documents_count << 1 | u32::from(more == 0));
        if more > 0 {
            vint::write_u64(entry, more);
        }
        vint::write_u64(entry, list.postings_bytes);
        vint::write_u64(entry, list.positions_bytes);
        self.blocks.write(entry)?;
        self.hashes.push(hash_of(key));
        self.key_before.clear();
        self.key_before.extend_from_slice(key);
        Ok(true)
    }

    /// Appends the three sections to `out`; returns the start and length of each.
    pub(crate) fn finish(self, out: &mut SealedWriter) -> Result<[(u64, u64); 3], IndexError> {
        let table = table(&self.hashes);
        let blocks = self.blocks.copy_to(out)?;
        let starts = self.starts.copy_to(out)?;
        let table_at = (out.position(), table.len() as u64);
        out.write(&table)?;
        Ok([blocks, starts, table_at])
    }
}

/// Puts every term into its bucket, or into the next one with room.
fn table(hashes: &[u32]) -> Vec<u8> {
    let terms_count = hashes.len() as u64;
    let width = width_of(terms_count.div_ceil(BLOCK_TERMS));
    let buckets_count = buckets_of(terms_count);
    let bucket_bytes = bucket_bytes(width);
    let mut table = vec![0; buckets_count as usize * bucket_bytes];
    for (ordinal, &hash) in (0u64..).zip(hashes) {
        let mut bucket = bucket_of(hash, buckets_count);
        let start = loop {
            let start = bucket as usize * bucket_bytes;
            let checks = &table[start..start + PLACES];
            // There are more places than terms, so one is free.
            if let Some(place) = checks.iter().position(|&check| check == 0) {
                break start + place;
            }
            bucket = (bucket + 1) % buckets_count;
        };
        let (bucket_start, place) = (start / bucket_bytes * bucket_bytes, start % bucket_bytes);
        table[start] = check_of(hash);
        let at = bucket_start + PLACES + place * width;
        let block = (ordinal / BLOCK_TERMS).to_le_bytes();
        table[at..at + width].copy_from_slice(&block[..width]);
    }
    table
}
