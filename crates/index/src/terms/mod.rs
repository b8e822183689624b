//! The dictionary of a segment: from a term to where its lists are, by its hash or in order.
//!
//! ```text
//! blocks := block{terms / 8, rounded up}
//! block  := postings_start:vint positions_start:vint entry{8}          the last one may have fewer
//! entry  := min(shared, 15) << 4 | min(own, 15) : u8  [shared - 15 : vint]  [own - 15 : vint]
//!           byte{own} record
//! record := documents<<1 | (occurrences == documents) : vint  [occurrences-documents : vint]
//!           postings_bytes:vint positions_bytes:vint
//! starts := start:u32le{blocks}                                        in `blocks`
//! table  := bucket{terms / 14 + 1}
//! bucket := check:u8{16} block:uint{16}      1 to 4 bytes a block, as few as hold the number of blocks
//! ```
//!
//! Keys are a field's byte and a term, sorted. An entry's key is the first `shared` bytes of the one before
//! it in its block and then its own (Witten, Moffat & Bell, "Managing gigabytes", front coding). Lists lie
//! in the order of keys, so a record keeps lengths, and starts are sums over at most seven.
//!
//! The low half `h` of a key's XXH3-64 chooses a bucket, `h · buckets >> 32`, or where that is full the next
//! one with room, and `1 + h mod 255` is its check; 0 is an empty place. So a term that is not there mostly
//! costs one line of memory, and one that is there three.
//!
//! Invariants: keys increase; what bytes are damaged gives an error or no term, never a panic.

mod stream;
pub(crate) mod write;

pub(crate) use stream::TermStream;

use crate::sealed::read_u32;
use crate::section::Section;
use crate::{Field, IndexError, TermRecord, uint};
use codec::{memory, vint};
use xxhash_rust::xxh3::xxh3_64;

/// Terms of a block.
pub(crate) const BLOCK_TERMS: u64 = 8;
/// Places of a bucket.
const PLACES: usize = 16;
/// Terms for each bucket.
const BUCKET_TERMS: u64 = 14;

/// The hash of a term, by which dictionaries find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermHash(u32);

impl TermHash {
    /// That of a term of a field.
    pub fn of(field: Field, term: &str) -> TermHash {
        TermHash(with_key(field, term, hash_of))
    }
}

/// What of a dictionary a look-up reads, one after another: where memory is far, asking for each step of
/// many look-ups before the next step of any costs little more than one look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookUpStep {
    /// The table of hashes.
    Table,
    /// Where blocks of terms start.
    Starts,
    /// The block of terms.
    Terms,
}

impl LookUpStep {
    /// All, in order.
    pub const ALL: [LookUpStep; 3] = [LookUpStep::Table, LookUpStep::Starts, LookUpStep::Terms];
}

/// Calls `with` with the key of a term: the field's byte, and the term.
pub(crate) fn with_key<R>(field: Field, term: &str, with: impl FnOnce(&[u8]) -> R) -> R {
    /// Keys up to so many bytes need no allocation.
    const SHORT_MAX: usize = 64;
    let mut short = [0; SHORT_MAX];
    if let Some(key) = short.get_mut(..=term.len()) {
        key[0] = field as u8;
        key[1..].copy_from_slice(term.as_bytes());
        return with(key);
    }
    with(&[&[field as u8], term.as_bytes()].concat())
}

/// The sections of a dictionary.
#[derive(Debug)]
pub(crate) struct Terms {
    blocks: Section,
    starts: Section,
    table: Section,
    count: u64,
    /// Bytes of a block's number in the table.
    width: usize,
}

/// Bytes that do not make sense, in the block that starts there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadTerms {
    pub(crate) offset: u64,
}

impl Terms {
    /// `None` where the sections are not as long as so many terms make them.
    pub(crate) fn open(
        blocks: Section,
        starts: Section,
        table: Section,
        count: u64,
    ) -> Option<Terms> {
        let blocks_count = count.div_ceil(BLOCK_TERMS);
        let width = width_of(blocks_count);
        let fits = starts.len() as u64 == blocks_count.checked_mul(4)?
            && table.len() as u64 == buckets_of(count).checked_mul(bucket_bytes(width) as u64)?;
        fits.then_some(Terms {
            blocks,
            starts,
            table,
            count,
            width,
        })
    }

    /// Terms in the dictionary.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The record of a key.
    pub(crate) fn find(&self, key: &[u8]) -> Result<Option<TermRecord>, BadTerms> {
        let hash = hash_of(key);
        let bucket_bytes = bucket_bytes(self.width);
        let buckets_count = self.table.len() / bucket_bytes;
        let first = bucket_of(hash, buckets_count as u64) as usize;
        for bucket in (first..buckets_count).chain(0..first) {
            let start = bucket * bucket_bytes;
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
                if let Some(found) = self.find_in(block, key)? {
                    return Ok(Some(found));
                }
            }
            if places_of(checks, 0) != 0 {
                break;
            }
        }
        Ok(None)
    }

    /// Asks for the next piece of memory that a key of this hash will be looked for in.
    #[inline]
    pub(crate) fn prefetch(&self, hash: TermHash, step: LookUpStep) {
        let bucket_bytes = bucket_bytes(self.width);
        let buckets_count = self.table.len() / bucket_bytes;
        let start = bucket_of(hash.0, buckets_count as u64) as usize * bucket_bytes;
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
        // The first of them, which mostly is the only one.
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

    /// Looks for a key in a block.
    fn find_in(&self, block: u64, key: &[u8]) -> Result<Option<TermRecord>, BadTerms> {
        let Some(mut entries) = self.entries(block) else {
            return Ok(None);
        };
        // Bytes that the key shares with the entry before, which comes before it.
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

    /// The record of the term with this ordinal.
    pub(crate) fn record(&self, ordinal: u64) -> Result<TermRecord, BadTerms> {
        let bad = BadTerms { offset: 0 };
        let mut entries = self.entries(ordinal / BLOCK_TERMS).ok_or(bad)?;
        for _ in 0..ordinal % BLOCK_TERMS {
            entries.next()?;
        }
        entries.next()?.map(|entry| entry.record).ok_or(bad)
    }

    /// All terms in order, and their ordinals.
    pub(crate) fn stream(&self) -> TermStream<'_> {
        TermStream::new(self, &[], None)
    }

    /// Those from `from` on and before `to`.
    pub(crate) fn range(&self, from: &[u8], to: Option<&[u8]>) -> TermStream<'_> {
        TermStream::new(self, from, to)
    }

    /// What is wrong with the file, where its terms make no sense.
    pub(crate) fn damaged(&self, bad: BadTerms, what: &str) -> IndexError {
        self.blocks.damaged(bad.offset, what)
    }

    fn blocks_count(&self) -> u64 {
        self.count.div_ceil(BLOCK_TERMS)
    }

    /// The entries of a block; `None` past the last.
    fn entries(&self, block: u64) -> Option<Entries<'_>> {
        if block >= self.blocks_count() {
            return None;
        }
        let at = block as usize * 4;
        let (start, end) = if block + 1 < self.blocks_count() {
            // Zeros where they are damaged: a block without bytes, which makes no sense.
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
        // Damage shows with the first entry.
        let starts = entries.read_vint().zip(entries.read_vint());
        (entries.postings_start, entries.positions_start) = starts.unwrap_or_default();
        Some(entries)
    }
}

/// The entries of a block, one after another.
struct Entries<'a> {
    bytes: &'a [u8],
    start: usize,
    at: usize,
    left: u64,
    postings_start: u64,
    positions_start: u64,
}

struct Entry<'a> {
    shared: usize,
    own: &'a [u8],
    record: TermRecord,
}

impl<'a> Entries<'a> {
    #[inline]
    fn next(&mut self) -> Result<Option<Entry<'a>>, BadTerms> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let offset = self.start as u64;
        self.read().map(Some).ok_or(BadTerms { offset })
    }

    #[inline]
    fn read(&mut self) -> Option<Entry<'a>> {
        let lengths = *self.bytes.get(self.at)?;
        self.at += 1;
        let (mut shared, mut own) = (usize::from(lengths >> 4), usize::from(lengths & 15));
        for length in [&mut shared, &mut own] {
            if *length == 15 {
                *length += usize::try_from(self.read_vint()?).ok()?.min(1 << 31);
            }
        }
        let own = self.bytes.get(self.at..self.at + own)?;
        self.at += own.len();
        let documents = u32::try_from(self.read_vint()?).ok()?;
        let more = match documents & 1 {
            1 => 0,
            _ => self.read_vint()?,
        };
        let documents_count = documents >> 1;
        let (postings_bytes, positions_bytes) = (self.read_vint()?, self.read_vint()?);
        let record = TermRecord {
            documents_count,
            occurrences_count: more.checked_add(documents_count.into())?,
            postings_start: self.postings_start,
            postings_bytes,
            positions_start: self.positions_start,
            positions_bytes,
        };
        self.postings_start = self.postings_start.checked_add(postings_bytes)?;
        self.positions_start = self.positions_start.checked_add(positions_bytes)?;
        Some(Entry {
            shared,
            own,
            record,
        })
    }

    #[inline]
    fn read_vint(&mut self) -> Option<u64> {
        vint::read_u64(self.bytes, &mut self.at).ok()
    }
}

/// Which of the places have this check, as bits.
#[inline]
fn places_of(checks: &[u8; PLACES], check: u8) -> u32 {
    let mut places = 0;
    for (place, &found) in checks.iter().enumerate() {
        places |= u32::from(found == check) << place;
    }
    places
}

fn common_bytes(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

fn hash_of(key: &[u8]) -> u32 {
    xxh3_64(key) as u32
}

fn check_of(hash: u32) -> u8 {
    1 + (hash % 255) as u8
}

fn bucket_of(hash: u32, buckets_count: u64) -> u64 {
    (u64::from(hash) * buckets_count) >> 32
}

fn buckets_of(terms_count: u64) -> u64 {
    terms_count / BUCKET_TERMS + 1
}

fn bucket_bytes(width: usize) -> usize {
    PLACES * (1 + width)
}

/// Bytes of a block's number: one at least.
fn width_of(blocks_count: u64) -> usize {
    uint::width_of(blocks_count).max(1)
}

#[cfg(test)]
mod tests;
