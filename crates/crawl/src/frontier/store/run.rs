//! Sorted immutable runs: front-coded keys with values, in checksummed blocks.
//!
//! run    := magic block* index footer
//! block  := entry+ checksum:u64le                       about 4 KiB; XXH3 of the entries
//! entry  := shared:varint suffix:bytes value:bytes      bytes := length:varint byte*
//! index  := (offset:varint first_key:bytes)*            one per block
//! footer := index_offset:u64le entries:u64le checksum:u64le magic    XXH3 of index, offset and count
//!
//! Example, an entry with key `ab` and value `x`, first of its block: 00 02 61 62 01 78.
//! Invariants: keys strictly increase; the first key of a block shares nothing with the one before.
use crate::bytes::{Reader, put_bytes, put_varint};
use crate::frontier::error::Damage;
use std::sync::Arc;
use vfs::{Region, SharedStorage, StorageError, WriteFile};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"STfront1";
const FOOTER_BYTES: usize = 32;
/// Synced this often while written, so that the last sync is short.
const SYNC_BYTES: u64 = 8 << 20;

/// Writes a run, keys in increasing order.
pub(super) struct RunBuilder {
    file: Box<dyn WriteFile>,
    name: String,
    block_bytes: usize,
    block: Vec<u8>,
    last_key: Vec<u8>,
    index: Vec<u8>,
    written_bytes: u64,
    synced_bytes: u64,
    entries: u64,
}

impl RunBuilder {
    pub(super) fn create(
        storage: &SharedStorage,
        name: String,
        block_bytes: usize,
    ) -> Result<RunBuilder, StorageError> {
        let mut file = storage.create(&name)?;
        write(&mut *file, storage, &name, MAGIC)?;
        Ok(RunBuilder {
            file,
            name,
            block_bytes,
            block: Vec::new(),
            last_key: Vec::new(),
            index: Vec::new(),
            written_bytes: MAGIC.len() as u64,
            synced_bytes: 0,
            entries: 0,
        })
    }

    pub(super) fn push(
        &mut self,
        storage: &SharedStorage,
        key: &[u8],
        value: &[u8],
    ) -> Result<(), StorageError> {
        debug_assert!(
            self.entries == 0 || key > self.last_key.as_slice(),
            "keys increase"
        );
        let shared = if self.block.is_empty() {
            put_varint(&mut self.index, self.written_bytes);
            put_bytes(&mut self.index, key);
            0
        } else {
            self.last_key
                .iter()
                .zip(key)
                .take_while(|(a, b)| a == b)
                .count()
        };
        put_varint(&mut self.block, shared as u64);
        put_bytes(&mut self.block, &key[shared..]);
        put_bytes(&mut self.block, value);
        self.last_key.truncate(shared);
        self.last_key.extend_from_slice(&key[shared..]);
        self.entries += 1;
        if self.block.len() >= self.block_bytes {
            self.end_block(storage)?;
        }
        Ok(())
    }

    fn end_block(&mut self, storage: &SharedStorage) -> Result<(), StorageError> {
        if self.block.is_empty() {
            return Ok(());
        }
        let checksum = xxh3_64(&self.block);
        self.block.extend_from_slice(&checksum.to_le_bytes());
        write(&mut *self.file, storage, &self.name, &self.block)?;
        self.written_bytes += self.block.len() as u64;
        self.block.clear();
        if self.written_bytes - self.synced_bytes > SYNC_BYTES {
            self.file.sync()?;
            self.synced_bytes = self.written_bytes;
        }
        Ok(())
    }

    /// Completes the file, durably but for its name, and opens it.
    pub(super) fn finish(mut self, storage: &SharedStorage) -> Result<Run, StorageError> {
        self.end_block(storage)?;
        let mut end = std::mem::take(&mut self.index);
        end.extend_from_slice(&self.written_bytes.to_le_bytes());
        end.extend_from_slice(&self.entries.to_le_bytes());
        let checksum = xxh3_64(&end);
        end.extend_from_slice(&checksum.to_le_bytes());
        end.extend_from_slice(MAGIC);
        write(&mut *self.file, storage, &self.name, &end)?;
        self.file.finish()?;
        // What was just written is read back from the page cache; damage shows at the first block.
        Run::open(storage, self.name).map_err(|error| match error {
            OpenError::Storage(error) => error,
            OpenError::Damage(damage) => StorageError::from_io(
                "read back",
                &storage.location().join(&damage.file),
                std::io::Error::other(damage.what),
            ),
        })
    }
}

/// Writes all bytes; an error names the file.
pub(super) fn write(
    file: &mut dyn WriteFile,
    storage: &SharedStorage,
    name: &str,
    bytes: &[u8],
) -> Result<(), StorageError> {
    let path = storage.location().join(name);
    file.write_all(bytes)
        .map_err(|error| StorageError::from_io("write", &path, error))
}

/// Reason for which a run cannot be opened.
pub(super) enum OpenError {
    Storage(StorageError),
    Damage(Damage),
}

/// A run, mapped.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) name: String,
    region: Region,
    blocks: Vec<Block>,
    index_offset: usize,
}

/// Place of a block, and its first key in the index.
#[derive(Debug, Clone, Copy)]
struct Block {
    offset: usize,
    key_at: usize,
    key_bytes: u32,
}

impl Run {
    /// Checks footer and index; blocks are checked when they are read.
    pub(super) fn open(storage: &SharedStorage, name: String) -> Result<Run, OpenError> {
        let region = storage.open(&name).map_err(OpenError::Storage)?;
        match parse(&region) {
            Ok((blocks, index_offset)) => Ok(Run {
                name,
                region,
                blocks,
                index_offset,
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

    fn first_key(&self, block: usize) -> &[u8] {
        let Block {
            key_at, key_bytes, ..
        } = self.blocks[block];
        &self.region[key_at..key_at + key_bytes as usize]
    }

    fn block_end(&self, block: usize) -> usize {
        self.blocks
            .get(block + 1)
            .map_or(self.index_offset, |b| b.offset)
    }

    fn damage(&self, block: usize, what: &'static str) -> Damage {
        Damage {
            file: self.name.clone(),
            offset_bytes: self.blocks[block].offset as u64,
            what,
        }
    }
}

type Parsed = (Vec<Block>, usize);

fn parse(bytes: &[u8]) -> Result<Parsed, (u64, &'static str)> {
    let footer_at = bytes.len().saturating_sub(FOOTER_BYTES);
    let mut footer = Reader::new(&bytes[footer_at..]);
    let fields = (|| {
        let index_offset = u64::from_le_bytes(footer.array()?);
        let _entries = footer.array::<8>()?;
        let checksum = u64::from_le_bytes(footer.array()?);
        (footer.array::<8>()? == *MAGIC).then_some((index_offset, checksum))
    })();
    let Some((index_offset, checksum)) = fields else {
        return Err((footer_at as u64, "the footer of the run is missing"));
    };
    let index_at = usize::try_from(index_offset).unwrap_or(usize::MAX);
    if !bytes.starts_with(MAGIC) || index_at < MAGIC.len() || index_at > footer_at {
        return Err((0, "the run does not begin or end as one"));
    }
    if xxh3_64(&bytes[index_at..footer_at + 16]) != checksum {
        return Err((index_offset, "the checksum of the index differs"));
    }
    let mut index = Reader::new(&bytes[index_at..footer_at]);
    let mut blocks: Vec<Block> = Vec::new();
    while !index.is_empty() {
        let block = (|| {
            let offset = index.length()?;
            let key = index.bytes()?;
            let after = blocks.last().map_or(MAGIC.len(), |b| b.offset + 9);
            (offset >= after && offset + 9 <= index_at).then_some(Block {
                offset,
                key_at: index_at + index.position() - key.len(),
                key_bytes: key.len() as u32,
            })
        })();
        let Some(block) = block else {
            return Err((index_offset, "the index of the run is not in order"));
        };
        blocks.push(block);
    }
    Ok((blocks, index_at))
}

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
    /// Before the first entry; not valid yet.
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
