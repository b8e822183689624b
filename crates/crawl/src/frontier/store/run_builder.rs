//! Writes runs: see [`super::run`] for their format.
use super::filter::FilterBuilder;
use super::run::{MAGIC, OpenError, Run};
use crate::bytes::{put_bytes, put_varint};
use vfs::{SharedStorage, StorageError, WriteFile};
use xxhash_rust::xxh3::xxh3_64;

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
    filter: FilterBuilder,
    /// Bytes after the blocks, once the last block is complete, and the number of them written.
    tail: Option<(Vec<u8>, usize)>,
    written_bytes: u64,
    synced_bytes: u64,
    entries: u64,
}

impl RunBuilder {
    /// Creates a run of at most `keys_max` keys.
    pub(super) fn create(
        storage: &SharedStorage,
        name: String,
        block_bytes: usize,
        keys_max: u64,
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
            filter: FilterBuilder::new(keys_max),
            tail: None,
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
        self.filter.add(key);
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
        self.sync_some()
    }

    fn sync_some(&mut self) -> Result<(), StorageError> {
        if self.written_bytes - self.synced_bytes > SYNC_BYTES {
            self.file.sync()?;
            self.synced_bytes = self.written_bytes;
        }
        Ok(())
    }

    /// Returns filter, index and footer.
    fn seal(&mut self) -> Vec<u8> {
        let filter_offset = self.written_bytes;
        let mut tail = Vec::new();
        self.filter.encode(&mut tail);
        let index_offset = filter_offset + tail.len() as u64;
        tail.append(&mut self.index);
        for number in [filter_offset, index_offset, self.entries] {
            tail.extend_from_slice(&number.to_le_bytes());
        }
        let checksum = xxh3_64(&tail);
        tail.extend_from_slice(&checksum.to_le_bytes());
        tail.extend_from_slice(MAGIC);
        tail
    }

    /// Writes at most `bytes_max` of the parts after the blocks; no entry may come after that. Returns whether nothing
    /// is left.
    pub(super) fn write_tail(
        &mut self,
        storage: &SharedStorage,
        bytes_max: usize,
    ) -> Result<bool, StorageError> {
        self.end_block(storage)?;
        let (tail, written) = match self.tail.take() {
            Some(tail) => tail,
            None => (self.seal(), 0),
        };
        let end = tail.len().min(written.saturating_add(bytes_max));
        write(&mut *self.file, storage, &self.name, &tail[written..end])?;
        self.written_bytes += (end - written) as u64;
        let is_whole = end == tail.len();
        self.tail = Some((tail, end));
        self.sync_some()?;
        Ok(is_whole)
    }

    /// Completes the file, durably but for its name, and opens it.
    pub(super) fn finish(mut self, storage: &SharedStorage) -> Result<Run, StorageError> {
        self.write_tail(storage, usize::MAX)?;
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
