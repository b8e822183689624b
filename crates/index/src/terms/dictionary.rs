//! Look-ups in a dictionary, by hash and by ordinal.

use super::entries::{BLOCK_TERMS, BadTerms, Entries, TermRecord, common_bytes};
use super::hash::{
    PLACES, TermHash, TermKey, bucket_bytes, bucket_of, buckets_of, check_of, places_of, width_of,
};
use crate::sealed::read_u32;
use crate::section::Section;
use crate::{IndexError, uint};
use codec::memory;

/// Memory that a look-up reads, step by step. Prefetching one step of many look-ups before the next step of any makes
/// them cost little more than a single look-up, where memory is far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookUpStep {
    /// Table of hashes.
    Table,
    /// Starts of blocks of terms.
    Starts,
    /// Block of terms.
    Terms,
}

impl LookUpStep {
    /// All steps, in order.
    pub const ALL: [LookUpStep; 3] = [LookUpStep::Table, LookUpStep::Starts, LookUpStep::Terms];
}

/// Sections of a dictionary.
#[derive(Debug)]
pub(crate) struct Terms {
    blocks: Section,
    starts: Section,
    table: Section,
    count: u64,
    /// Bytes of a block's number in the table.
    width: usize,
    buckets_count: usize,
}

impl Terms {
    /// Opens the sections of `count` terms; `None` where their lengths do not fit that number.
    pub(crate) fn open(
        blocks: Section,
        starts: Section,
        table: Section,
        count: u64,
    ) -> Option<Terms> {
        let blocks_count = count.div_ceil(BLOCK_TERMS);
        let width = width_of(blocks_count);
        let buckets_count = buckets_of(count);
        let fits = starts.len() as u64 == blocks_count.checked_mul(4)?
            && table.len() as u64 == buckets_count.checked_mul(bucket_bytes(width) as u64)?;
        fits.then_some(Terms {
            blocks,
            starts,
            table,
            count,
            width,
            buckets_count: buckets_count as usize,
        })
    }

    /// Returns the number of terms.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the record of a key; `None` where it is not in the dictionary.
    pub(crate) fn find(&self, key: TermKey<'_>) -> Result<Option<TermRecord>, BadTerms> {
        let hash = key.hash.0;
        let bucket_bytes = bucket_bytes(self.width);
        let mut number = bucket_of(hash, self.buckets_count as u64) as usize;
        for _ in 0..self.buckets_count {
            let start = number * bucket_bytes;
            let bad = BadTerms { offset: 0 };
            let bucket = self.table.get(start..start + bucket_bytes).ok_or(bad)?;
            let Some((checks, blocks)) = bucket.split_first_chunk::<PLACES>() else {
                break;
            };
            let mut same = places_of(checks, check_of(hash));
            while same != 0 {
                let place = same.trailing_zeros() as usize;
                same &= same - 1;
                let block = uint::read(&blocks[place * self.width..][..self.width]).into();
                if let Some(found) = self.find_in(block, key.bytes)? {
                    return Ok(Some(found));
                }
            }
            if places_of(checks, 0) != 0 {
                break;
            }
            number += 1;
            if number == self.buckets_count {
                number = 0;
            }
        }
        Ok(None)
    }

    /// Prefetches the memory of one step of a look-up of `hash`.
    #[inline]
    pub(crate) fn prefetch(&self, hash: TermHash, step: LookUpStep) {
        let bucket_bytes = bucket_bytes(self.width);
        let start = bucket_of(hash.0, self.buckets_count as u64) as usize * bucket_bytes;
        if step == LookUpStep::Table {
            memory::prefetch(self.table.unverified(), start);
            memory::prefetch(self.table.unverified(), start + bucket_bytes - 1);
            return;
        }
        let table = self.table.unverified();
        let Some(bucket) = table.get(start..start + bucket_bytes) else {
            return;
        };
        let Some((checks, blocks)) = bucket.split_first_chunk::<PLACES>() else {
            return;
        };
        let same = places_of(checks, check_of(hash.0));
        if same == 0 {
            return;
        }
        // The first candidate is mostly the only one.
        let place = same.trailing_zeros() as usize;
        let block = uint::read(&blocks[place * self.width..][..self.width]) as usize;
        if step == LookUpStep::Starts {
            memory::prefetch(self.starts.unverified(), block * 4);
            return;
        }
        let at = read_u32(self.starts.unverified(), block * 4) as usize;
        memory::prefetch(self.blocks.unverified(), at);
        memory::prefetch(self.blocks.unverified(), at + 64);
    }

    /// Searches a block for a key.
    fn find_in(&self, block: u64, key: &[u8]) -> Result<Option<TermRecord>, BadTerms> {
        let Some(mut entries) = self.entries(block) else {
            return Ok(None);
        };
        // Length of the prefix that the key shares with the entry before, which precedes it.
        let mut same = 0;
        while let Some(entry) = entries.next()? {
            if entry.shared > same {
                continue;
            }
            if entry.shared < same {
                return Ok(None);
            }
            let wanted = &key[same..];
            let common = common_bytes(entry.own, wanted);
            match (entry.own.get(common), wanted.get(common)) {
                (None, None) => return Ok(Some(entry.record)),
                (Some(own), Some(wanted)) if own < wanted => same += common,
                (None, Some(_)) => same += common,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Returns the record of the term with the ordinal `ordinal`.
    pub(crate) fn record(&self, ordinal: u64) -> Result<TermRecord, BadTerms> {
        let bad = BadTerms { offset: 0 };
        let mut entries = self.entries(ordinal / BLOCK_TERMS).ok_or(bad)?;
        for _ in 0..ordinal % BLOCK_TERMS {
            entries.next()?;
        }
        entries.next()?.map(|entry| entry.record).ok_or(bad)
    }

    /// Returns the error of a file whose terms are inconsistent.
    pub(crate) fn damaged(&self, bad: BadTerms, what: &str) -> IndexError {
        self.blocks.damaged(bad.offset, what)
    }

    pub(super) fn blocks_count(&self) -> u64 {
        self.count.div_ceil(BLOCK_TERMS)
    }

    /// Returns the entries of a block; `None` past the last.
    pub(super) fn entries(&self, block: u64) -> Option<Entries<'_>> {
        if block >= self.blocks_count() {
            return None;
        }
        let at = block as usize * 4;
        let (start, end) = if block + 1 < self.blocks_count() {
            // Damaged starts are read as zeros, which give an empty block.
            let both = self.starts.read_u64(at);
            (both as u32 as usize, (both >> 32) as usize)
        } else {
            (self.starts.read_u32(at) as usize, self.blocks.len())
        };
        let mut entries = Entries {
            // An empty block has no valid first entry, which is reported as damage.
            bytes: self.blocks.get(start..end).unwrap_or_default(),
            start,
            at: 0,
            left: BLOCK_TERMS.min(self.count - block * BLOCK_TERMS),
            postings_start: 0,
            positions_start: 0,
        };
        // Damage is reported with the first entry.
        let starts = entries.read_vint().zip(entries.read_vint());
        (entries.postings_start, entries.positions_start) = starts.unwrap_or_default();
        Some(entries)
    }
}
