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
    pub(super) region: Region,
    pub(super) blocks: Vec<Block>,
    index_offset: usize,
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

    pub(super) fn first_key(&self, block: usize) -> &[u8] {
        let Block {
            key_at, key_bytes, ..
        } = self.blocks[block];
        &self.region[key_at..key_at + key_bytes as usize]
    }

    pub(super) fn block_end(&self, block: usize) -> usize {
        self.blocks
            .get(block + 1)
            .map_or(self.index_offset, |b| b.offset)
    }

    pub(super) fn damage(&self, block: usize, what: &'static str) -> Damage {
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
