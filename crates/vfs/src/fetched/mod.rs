//! A file in memory whose blocks are read from a handle at their first use.
//!
//! ```text
//! handle ──read(range)──► bytes ──pwrite──► memory file ──mapped read-only──► readers
//! ```
//!
//! Readers need one range of addresses, and blocks must come into it while other threads read their neighbours. So the
//! kernel writes them, into a file in memory that is mapped: this process has no pointer through which the bytes change.
//! A block takes memory once it was fetched. A block that is there is never written again, but by [`Fetched::refetch`].

mod blocks;

use crate::read::read_exactly;
use crate::{ReadFile, StorageError};
use blocks::{Blocks, Next};
use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of a block: a page, and what an index verifies at a time.
const BLOCK_BYTES: usize = 4 << 10;

/// A file whose blocks are fetched.
pub(crate) struct Fetched {
    mapping: Mmap,
    memory: File,
    file: Arc<dyn ReadFile>,
    path: PathBuf,
    blocks: Mutex<Blocks>,
    /// Notified when a read has ended.
    ended: Condvar,
}

impl Fetched {
    /// Makes memory for a file that is not empty. `path` is for messages.
    ///
    /// # Errors
    /// The system has no such memory.
    pub(crate) fn new(file: Arc<dyn ReadFile>, path: &Path) -> io::Result<Fetched> {
        let memory = memory_file(file.length())?;
        // SAFETY: the mapping is read-only, and the file behind it has no name and this one descriptor, which never leaves
        // this struct. It is sealed, so that nobody can make it shorter. Its bytes are written by `write` alone, a system
        // call: no reference or pointer of this process is written through. What it writes are blocks that nobody has
        // read yet, because whoever reads fetches first and a block is marked as present, under a lock that readers take,
        // after it was written; or blocks of `refetch`, which nobody may rely on. A reader that breaks this rule reads
        // plain integers that may change, as of any mapped file, and no address becomes invalid.
        let mapping = unsafe { Mmap::map(&memory) }?;
        Ok(Fetched {
            blocks: Mutex::new(Blocks::new(mapping.len().div_ceil(BLOCK_BYTES))),
            ended: Condvar::new(),
            mapping,
            memory,
            file,
            path: path.to_owned(),
        })
    }

    /// Returns the memory, in which blocks that were not fetched are zeros.
    pub(crate) fn memory(&self) -> &[u8] {
        &self.mapping
    }

    /// Fetches the missing blocks of a range; several of them in one read, and blocks after it where reads adjoin. A block
    /// that another thread is fetching is waited for.
    pub(crate) fn fetch(&self, range: Range<usize>) -> Result<(), StorageError> {
        let end = range.end.min(self.mapping.len());
        if range.start >= end {
            return Ok(());
        }
        let wanted = range.start / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES);
        while let Some(read) = self.begin(&wanted) {
            read.run()?;
        }
        Ok(())
    }

    /// Reads the blocks of a range again, and puts them in place of those that are there.
    pub(crate) fn refetch(&self, range: Range<usize>) -> Result<(), StorageError> {
        let end = range.end.min(self.mapping.len());
        match range.start < end {
            true => self.write(range.start..end),
            false => Ok(()),
        }
    }

    /// Begins the next read of missing blocks; `None` where none is missing.
    fn begin(&self, wanted: &Range<usize>) -> Option<Read<'_>> {
        let mut blocks = self.blocks();
        loop {
            match blocks.next(wanted.clone()) {
                Next::Done => return None,
                Next::Wait => {
                    let waited = self.ended.wait(blocks);
                    blocks = waited.unwrap_or_else(PoisonError::into_inner);
                }
                Next::Read(run) => {
                    return Some(Read {
                        of: self,
                        run,
                        is_read: false,
                    });
                }
            }
        }
    }

    /// Reads a range of the file and writes it into the memory.
    fn write(&self, range: Range<usize>) -> Result<(), StorageError> {
        let (start, end) = (range.start as u64, range.end as u64);
        let bytes = read_exactly(&*self.file, &self.path, start..end)?;
        // No memory now may be memory later.
        write_at(&self.memory, &bytes, start).map_err(|source| StorageError::Unavailable {
            operation: "keep bytes of",
            path: self.path.clone(),
            source,
        })
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        // No operation leaves the blocks half changed.
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A read that others wait for. Dropped, it ends, also by a panic of the handle.
struct Read<'a> {
    of: &'a Fetched,
    run: Range<usize>,
    is_read: bool,
}

impl Read<'_> {
    fn run(mut self) -> Result<(), StorageError> {
        let end = (self.run.end * BLOCK_BYTES).min(self.of.mapping.len());
        self.of.write(self.run.start * BLOCK_BYTES..end)?;
        self.is_read = true;
        Ok(())
    }
}

impl Drop for Read<'_> {
    fn drop(&mut self) {
        self.of.blocks().end(&self.run, self.is_read);
        self.of.ended.notify_all();
    }
}

/// Creates a file in memory, without a name, that stays as long as it is.
#[cfg(target_os = "linux")]
fn memory_file(bytes: u64) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = File::from(memfd_create("shorttail-fetched", flags)?);
    memory.set_len(bytes)?;
    fcntl_add_seals(
        &memory,
        SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL,
    )?;
    Ok(memory)
}

/// Fails: this system has no file in memory that is known here, and files are read as a whole.
#[cfg(not(target_os = "linux"))]
fn memory_file(_bytes: u64) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn write_at(memory: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(memory, bytes, at)
}

#[cfg(not(unix))]
fn write_at(_memory: &File, _bytes: &[u8], _at: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests;
