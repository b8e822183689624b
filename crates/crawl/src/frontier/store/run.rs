//! Sorted immutable runs: front-coded keys with values, in checksummed blocks.
//!
//! run    := magic block* filter index footer
//! block  := entry+ checksum:u64le                       about 4 KiB; XXH3 of the entries
//! entry  := shared:varint suffix:bytes value:bytes      bytes := length:varint byte*
//! filter                                                see [`super::filter`]
//! index  := (offset:varint first_key:bytes)*            one per block
//! footer := filter_offset:u64le index_offset:u64le entries:u64le checksum:u64le magic
//!           checksum: XXH3 of filter, index, offsets and count
//!
//! Runs of the first version (magic `STfront1`) have no filter, and no offset of one. They are read, and merged into new ones.
//!
//! Example, an entry with key `ab` and value `x`, first of its block: 00 02 61 62 01 78.
//! Invariants: keys strictly increase; the first key of a block shares nothing with the one before.
use super::filter::may_contain;
use crate::bytes::Reader;
use crate::frontier::error::Damage;
use vfs::{Region, SharedStorage, StorageError};
use xxhash_rust::xxh3::xxh3_64;

pub(super) const MAGIC: &[u8; 8] = b"STfront2";
const FOOTER_BYTES: usize = 40;
const MAGIC_WITHOUT_FILTER: &[u8; 8] = b"STfront1";
const FOOTER_BYTES_WITHOUT_FILTER: usize = 32;

/// Reason for which a run cannot be opened.
pub(super) enum OpenError {
    Storage(StorageError),
    Damage(Damage),
}

/// A run, mapped.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) name: String,
    pub(super) region: Region,
    pub(super) blocks: Vec<Block>,
    /// End of the blocks and start of the filter; start of the index, where that ends.
    filter_offset: usize,
    index_offset: usize,
    entries: u64,
}

/// Place of a block, and its first key in the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) offset: usize,
    key_at: usize,
    key_bytes: u32,
}

impl Run {
    /// Checks footer and index; blocks are checked when they are read.
    pub(super) fn open(storage: &SharedStorage, name: String) -> Result<Run, OpenError> {
        let region = storage.open(&name).map_err(OpenError::Storage)?;
        match parse(&region) {
            Ok(parsed) => Ok(Run {
                name,
                region,
                blocks: parsed.blocks,
                filter_offset: parsed.filter_offset,
                index_offset: parsed.index_offset,
                entries: parsed.entries,
            }),
            Err((offset_bytes, what)) => Err(OpenError::Damage(Damage {
                file: name,
                offset_bytes,
                what,
            })),
        }
    }

    /// Size of the file in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.region.len() as u64
    }

    /// Number of its entries.
    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns whether the run may have the key with this [`super::filter::filter_hash`].
    pub(super) fn may_contain(&self, hash: u64) -> bool {
        may_contain(&self.region[self.filter_offset..self.index_offset], hash)
    }

    pub(super) fn first_key(&self, block: usize) -> &[u8] {
        let Block {
            key_at, key_bytes, ..
        } = self.blocks[block];
        &self.region[key_at..key_at + key_bytes as usize]
    }

    pub(super) fn block_end(&self, block: usize) -> usize {
        self.blocks
            .get(block + 1)
            .map_or(self.filter_offset, |b| b.offset)
    }

    pub(super) fn damage(&self, block: usize, what: &'static str) -> Damage {
        Damage {
            file: self.name.clone(),
            offset_bytes: self.blocks[block].offset as u64,
            what,
        }
    }
}

struct Parsed {
    blocks: Vec<Block>,
    filter_offset: usize,
    index_offset: usize,
    entries: u64,
}

/// Places that the footer names, in order, and the number of entries.
struct Footer {
    filter_at: usize,
    index_at: usize,
    index_end: usize,
    entries: u64,
    checksum_at: usize,
}

/// Reads the footer; `None` where it cannot be one.
fn parse_footer(bytes: &[u8]) -> Option<Footer> {
    let has_filter = bytes.ends_with(MAGIC);
    let (magic, footer_bytes) = match has_filter {
        true => (MAGIC, FOOTER_BYTES),
        false => (MAGIC_WITHOUT_FILTER, FOOTER_BYTES_WITHOUT_FILTER),
    };
    if !bytes.starts_with(magic) || !bytes.ends_with(magic) {
        return None;
    }
    let index_end = bytes.len().checked_sub(footer_bytes)?;
    let mut footer = Reader::new(&bytes[index_end..]);
    let mut number = || Some(u64::from_le_bytes(footer.array()?));
    let filter_at = number()?;
    let index_at = if has_filter { number()? } else { filter_at };
    let footer = Footer {
        filter_at: filter_at.try_into().ok()?,
        index_at: index_at.try_into().ok()?,
        index_end,
        entries: number()?,
        checksum_at: bytes.len() - 16,
    };
    let in_order = MAGIC.len() <= footer.filter_at
        && footer.filter_at <= footer.index_at
        && footer.index_at <= index_end
        && footer.entries <= footer.filter_at as u64;
    in_order.then_some(footer)
}

fn parse(bytes: &[u8]) -> Result<Parsed, (u64, &'static str)> {
    let Some(footer) = parse_footer(bytes) else {
        return Err((0, "the run does not begin or end as one"));
    };
    let (filter_at, index_at) = (footer.filter_at, footer.index_at);
    let stored = Reader::new(&bytes[footer.checksum_at..]).array();
    if stored.map(u64::from_le_bytes) != Some(xxh3_64(&bytes[filter_at..footer.checksum_at])) {
        return Err((filter_at as u64, "the checksum of filter and index differs"));
    }
    let mut index = Reader::new(&bytes[index_at..footer.index_end]);
    let mut blocks: Vec<Block> = Vec::new();
    while !index.is_empty() {
        let block = (|| {
            let offset = index.length()?;
            let key = index.bytes()?;
            let after = blocks.last().map_or(MAGIC.len(), |b| b.offset + 9);
            (offset >= after && offset + 9 <= filter_at).then_some(Block {
                offset,
                key_at: index_at + index.position() - key.len(),
                key_bytes: key.len() as u32,
            })
        })();
        let Some(block) = block else {
            return Err((index_at as u64, "the index of the run is not in order"));
        };
        blocks.push(block);
    }
    Ok(Parsed {
        blocks,
        filter_offset: filter_at,
        index_offset: index_at,
        entries: footer.entries,
    })
}
