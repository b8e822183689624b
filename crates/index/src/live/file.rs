//! File of an open index: verification of its blocks at first touch, and its state of trust.

use super::blocks::VerifiedBlocks;
use super::trust::{Alarm, Trust};
use crate::IndexError;
use crate::sealed::{BLOCK_BYTES, Damage, EachPiece, Kind, Seal, Unverified, verify_blocks};
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use vfs::{Change, FileStamp, Region};

/// File of an open index.
#[derive(Debug)]
pub(crate) struct LiveFile {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) region: Region,
    pub(crate) seal: Seal,
    pub(crate) payload_end: usize,
    pub(super) blocks: VerifiedBlocks,
    pub(crate) trust: AtomicU8,
    /// Number of changes of its state, and of failed fetches.
    pub(super) changes: AtomicU64,
    /// Kind of the last failed fetch that may succeed another time.
    pub(super) missed: Mutex<Option<io::ErrorKind>>,
    /// Held while fetched blocks are compared with their checksums, and replaced where they differ.
    pub(super) comparing: Mutex<()>,
    /// Stamp from before any of its bytes were verified; unused for regions in memory.
    pub(crate) stamp: RwLock<Option<FileStamp>>,
    /// Whether links were made or removed since its verification. It stays trusted, and is verified when there is time.
    pub(crate) was_linked: AtomicBool,
    /// Whether its name belongs to another file and it was verified since.
    pub(crate) is_nameless: AtomicBool,
    /// Offset in bytes and description of the first damage found.
    pub(crate) damage: OnceLock<(u64, String)>,
    /// Alarm for changes of its state, set when an index takes the file.
    pub(crate) alarm: OnceLock<Arc<Alarm>>,
}

/// Moment before a file is read: the number of changes of its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading(u64);

/// Selection of blocks for a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// Blocks that were verified before.
    Verified,
    /// Blocks that were not verified before.
    Others,
}

impl LiveFile {
    /// Creates an open file with no verified block; its footer starts at `payload_end` and is verified.
    pub(crate) fn new(
        path: PathBuf,
        kind: Kind,
        region: Region,
        seal: Seal,
        payload_end: usize,
    ) -> Arc<LiveFile> {
        let stamp = region.source().map(|source| source.at_open());
        Arc::new(LiveFile {
            path,
            kind,
            region,
            seal,
            payload_end,
            blocks: VerifiedBlocks::new(payload_end.div_ceil(BLOCK_BYTES)),
            trust: AtomicU8::new(Trust::Trusted as u8),
            changes: AtomicU64::new(0),
            missed: Mutex::default(),
            comparing: Mutex::default(),
            stamp: RwLock::new(stamp),
            was_linked: AtomicBool::new(false),
            is_nameless: AtomicBool::new(false),
            damage: OnceLock::new(),
            alarm: OnceLock::new(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    /// Returns the end of the payload, where the footer starts.
    pub(crate) fn payload_end(&self) -> usize {
        self.payload_end
    }

    /// Returns whether every block is verified and a read is noted: readers then have nothing left to do.
    #[inline]
    pub(crate) fn is_verified(&self) -> bool {
        self.blocks.are_all_read()
    }

    /// Returns whether a reader has read the file since it was opened. Verification alone is no read.
    #[inline]
    pub(crate) fn is_read(&self) -> bool {
        self.blocks.is_read()
    }

    /// Returns the number of verified bytes, the footer included.
    pub(crate) fn verified_bytes(&self) -> u64 {
        let footer = self.seal.bytes - self.payload_end as u64;
        footer + (self.blocks.count() * BLOCK_BYTES).min(self.payload_end) as u64
    }

    /// Returns whether the blocks of a range before the footer match their checksums. Fetches and verifies the blocks at
    /// their first touch; a mismatch makes the file damaged or suspect.
    #[inline]
    pub(crate) fn ensure(&self, range: Range<usize>) -> bool {
        self.is_touched(range.clone()) || self.touch(range)
    }

    /// Notes a read of a range, and returns whether its blocks are verified already.
    #[inline]
    pub(crate) fn is_touched(&self, range: Range<usize>) -> bool {
        self.blocks.are_all_read() || {
            // Before the read: whoever examines an answer with these bytes sees the file as read.
            self.blocks.note_read();
            let blocks = blocks_of(&range);
            match blocks.len() {
                // Most ranges in loops are short.
                1 => self.blocks.contains(blocks.start),
                _ => range.is_empty() || self.blocks.contain(blocks),
            }
        }
    }

    /// Records a block that does not match its checksum. Where the file changed after opening, it becomes suspect, and
    /// all of it must be verified before it is called damaged.
    pub(crate) fn found(&self, (offset, what): Damage) {
        if self.region.has_faulted() {
            self.lost();
        } else if matches!(self.change(), Change::None | Change::Links) {
            self.set_damaged(offset as u64, what);
        } else {
            self.set(Trust::Trusted, Trust::Suspect);
        }
    }

    /// Records that the contents of the file are inconsistent, although its checksums match.
    pub(crate) fn found_false(&self, offset: u64, what: &str) {
        self.set_damaged(offset, what.to_owned());
    }

    /// Verifies every block that is not verified yet.
    pub(crate) fn verify_whole(&self) -> Result<(), IndexError> {
        self.verify_rest(&mut |_| ControlFlow::Continue(()))
    }

    /// Does the same as [`LiveFile::verify_whole`], and calls `each_piece` for each piece read, with its length in
    /// bytes; it may end the verification.
    pub(crate) fn verify_rest(&self, each_piece: &mut EachPiece) -> Result<(), IndexError> {
        if !self.blocks.are_all()
            && let Err(unverified) = self.verify(Which::Others, each_piece)
        {
            self.not_verified(unverified);
            return match self.ensure_trusted() {
                Ok(()) => self.last_missed().map_or(Ok(()), Err),
                refused => refused,
            };
        }
        self.ensure_trusted()
    }

    pub(crate) fn verify(
        &self,
        which: Which,
        each_piece: &mut EachPiece,
    ) -> Result<ControlFlow<()>, Unverified> {
        let is_wanted = |block| match which {
            Which::All => true,
            Which::Verified => self.blocks.contains(block),
            Which::Others => !self.blocks.contains(block),
        };
        let verify = |block| self.verify_block(block);
        verify_blocks(
            &self.region,
            self.payload_end,
            is_wanted,
            verify,
            each_piece,
        )
    }

    #[inline]
    pub(crate) fn is_trusted(&self) -> bool {
        self.trust.load(Ordering::Acquire) == Trust::Trusted as u8
    }

    pub(crate) fn trust(&self) -> Trust {
        match self.trust.load(Ordering::Acquire) {
            0 => Trust::Trusted,
            1 => Trust::Suspect,
            _ => Trust::Damaged,
        }
    }

    /// Returns the error of an answer that needs the file, where it is not trusted. Where no open index has the file, its
    /// reads are examined nowhere else, so it is also the error of any failed one: of an opening, a commit, a merge.
    pub(crate) fn ensure_trusted(&self) -> Result<(), IndexError> {
        let (offset, what) = match self.trust() {
            Trust::Trusted if self.alarm.get().is_none() => {
                return self.last_missed().map_or(Ok(()), Err);
            }
            Trust::Trusted => return Ok(()),
            Trust::Suspect => (0, "it was changed after it was verified"),
            Trust::Damaged => {
                let damage = self.damage.get();
                damage.map_or((0, "damaged"), |(offset, what)| (*offset, what.as_str()))
            }
        };
        Err(IndexError::Damaged {
            path: self.path.clone(),
            offset,
            what: what.to_owned(),
        })
    }

    /// Returns the error for inconsistent bytes at `offset`, or the failure that is known already.
    pub(crate) fn damaged_at(&self, offset: u64, what: &str) -> IndexError {
        self.failure().unwrap_or_else(|| IndexError::Damaged {
            path: self.path.clone(),
            offset,
            what: what.to_owned(),
        })
    }

    /// Returns the moment before a read, for [`LiveFile::confirm`].
    pub(crate) fn reading(&self) -> Reading {
        Reading(self.changes.load(Ordering::Acquire))
    }

    /// Examines the file after a read. `Ok` means that every byte read since `begun` was a verified one.
    pub(crate) fn confirm(&self, begun: Reading) -> Result<(), IndexError> {
        self.examine();
        self.ensure_trusted()?;
        // Bytes may go bad, be read, be restored and be verified again, all since `begun`.
        match self.reading() == begun {
            true => Ok(()),
            false => Err(self.last_missed().unwrap_or_else(|| IndexError::Changed {
                path: self.path.clone(),
            })),
        }
    }

    pub(crate) fn lost(&self) {
        let what = "it was truncated, or cannot be read, while it was open".to_owned();
        self.set_damaged(0, what);
    }

    pub(crate) fn set_damaged(&self, offset: u64, what: String) {
        let _ = self.damage.set((offset, what));
        self.set(self.trust(), Trust::Damaged);
    }

    pub(crate) fn set(&self, from: Trust, to: Trust) {
        let (from, to) = (from as u8, to as u8);
        let order = (Ordering::AcqRel, Ordering::Acquire);
        let swapped = self.trust.compare_exchange(from, to, order.0, order.1);
        if swapped.is_err() || from == to {
            return;
        }
        self.changes.fetch_add(1, Ordering::AcqRel);
        if let Some(alarm) = self.alarm.get() {
            // After the state: an answer that begins with the new epoch sees it.
            alarm.epoch.fetch_add(1, Ordering::AcqRel);
            if to == Trust::Trusted as u8 {
                alarm.trusted_again.fetch_add(1, Ordering::Relaxed);
            }
            alarm.wake();
        }
    }
}

/// Returns the blocks that a non-empty range of bytes overlaps.
#[inline]
pub(super) fn blocks_of(range: &Range<usize>) -> Range<usize> {
    range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES)
}
