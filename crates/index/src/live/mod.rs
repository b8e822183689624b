//! Files of an open index, and whether their bytes are still those that were verified.
//!
//! ```text
//! trusted ──stamp differs──► suspect ──verifies──► trusted
//!    │                          └──does not──┐
//!    └──does not verify, or a page was lost──┴──► damaged: for good, as far as this opened index goes
//! ```
//!
//! Blocks are verified when they are first touched ([`crate::section`]), and which were is kept here. An answer is computed
//! first and examined afterwards ([`crate::Index::verify_search`]): where the stamps of all files that were read are those
//! from before any block was verified, every byte read was a verified one. So kernels verify nothing, and an examination
//! costs one system call a file. What a stamp cannot tell ([`vfs::FileStamp`]) is found
//! by verifying files again in the background ([`crate::Index::verify_again`]).
//!
//! Every change of a state raises the epoch, which all indexes share that have files in common. An answer counts only if the epoch is the one from before it was
//! begun: bytes may go bad, be read, be put right and be verified again, all before the answer is examined.

mod blocks;
mod examine;
#[cfg(test)]
mod tests;

use crate::IndexError;
pub use crate::sealed::EachPiece;
use crate::sealed::{BLOCK_BYTES, Damage, Seal, verify_block, verify_blocks, verify_footer};
use blocks::VerifiedBlocks;
use std::collections::HashSet;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::thread::{self, Thread};
use vfs::{Change, FileStamp, Region};

/// How often a file that goes on changing is verified before it is left suspect for the time being.
const TRIES: usize = 3;

/// What is known of a file of an open index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Trust {
    /// Its bytes are those that were verified.
    Trusted,
    /// It was changed since; whether its bytes were is not known yet.
    Suspect,
    /// Its bytes are not the verified ones.
    Damaged,
}

/// A file that an open index reads.
#[derive(Debug)]
pub(crate) struct LiveFile {
    path: PathBuf,
    region: Region,
    seal: Seal,
    payload_end: usize,
    blocks: VerifiedBlocks,
    trust: AtomicU8,
    /// From before any of its bytes were verified; unused where no file is behind the region.
    stamp: RwLock<Option<FileStamp>>,
    /// Links were made or removed: it is trusted, and verified when there is time.
    was_linked: AtomicBool,
    /// It is asked for by its name, which is another file's now, and it was verified since.
    is_nameless: AtomicBool,
    /// Offset and kind of the first damage found.
    damage: OnceLock<(u64, String)>,
    /// Told of changes of its state, once an index has it.
    alarm: OnceLock<Arc<Alarm>>,
}

/// Notification that the trust in a file has changed, shared by all indexes that share files.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    epoch: AtomicU64,
    /// Woken when a file becomes suspect or damaged.
    woken: OnceLock<Thread>,
}

impl Alarm {
    fn wake(&self) {
        if let Some(thread) = self.woken.get() {
            thread.unpark();
        }
    }
}

/// Which blocks of a file are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// Those that were verified before.
    Verified,
    /// Those that were not.
    Others,
}

/// What a file can be held against after it was verified.
enum Settled {
    Stamp(FileStamp),
    /// It is asked for by name, and was removed or replaced: only programs that had it open before can reach it.
    Nameless,
}

/// The moment before an answer is begun: what was known of all files then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadStart(u64);

/// The files of an open index.
#[derive(Debug)]
pub(crate) struct LiveFiles {
    all: Vec<Arc<LiveFile>>,
    /// What planning may read: statistics, and all segments.
    planned_with: Vec<Arc<LiveFile>>,
    statistics: Vec<Arc<LiveFile>>,
    alarm: Arc<Alarm>,
    /// Added to the epoch: far from that of any other index.
    opened: u64,
}

impl LiveFile {
    /// An open file of which nothing is verified but the footer, which starts at `payload_end`.
    pub(crate) fn new(
        path: PathBuf,
        region: Region,
        seal: Seal,
        payload_end: usize,
    ) -> Arc<LiveFile> {
        let stamp = region.source().map(|source| source.at_open());
        Arc::new(LiveFile {
            path,
            region,
            seal,
            payload_end,
            blocks: VerifiedBlocks::new(payload_end.div_ceil(BLOCK_BYTES)),
            trust: AtomicU8::new(Trust::Trusted as u8),
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

    /// Where the payload ends, and the footer starts.
    pub(crate) fn payload_end(&self) -> usize {
        self.payload_end
    }

    /// Whether every block was verified.
    #[inline]
    pub(crate) fn is_verified(&self) -> bool {
        self.blocks.are_all()
    }

    /// Bytes that were verified, the footer's included.
    fn verified_bytes(&self) -> u64 {
        let footer = self.seal.bytes - self.payload_end as u64;
        footer + (self.blocks.count() * BLOCK_BYTES).min(self.payload_end) as u64
    }

    /// Whether the blocks of a range, which lies before the footer, are as their checksums say. Those that were not
    /// touched before are verified now; a damaged one makes the file damaged.
    #[inline]
    pub(crate) fn ensure(&self, range: Range<usize>) -> bool {
        self.is_touched(range.clone()) || self.touch(range)
    }

    /// Whether the blocks of a range were found to be as their checksums say.
    #[inline]
    pub(crate) fn is_touched(&self, range: Range<usize>) -> bool {
        self.blocks.are_all() || {
            let blocks = blocks_of(&range);
            match blocks.len() {
                // Most ranges in loops are short.
                1 => self.blocks.contains(blocks.start),
                _ => range.is_empty() || self.blocks.contain(blocks),
            }
        }
    }

    #[cold]
    fn touch(&self, range: Range<usize>) -> bool {
        let mut blocks = blocks_of(&range);
        blocks.all(|block| self.blocks.contains(block) || self.verify_block(block))
    }

    #[cold]
    fn verify_block(&self, block: usize) -> bool {
        match verify_block(&self.region, self.payload_end, block) {
            Ok(()) => {
                self.blocks.insert(block);
                true
            }
            Err(damage) => {
                self.found(damage);
                false
            }
        }
    }

    /// Takes note of a block that is not what its checksum says. Where the file was changed since it was opened, all of
    /// it has to be verified before anything is said of it.
    fn found(&self, (offset, what): Damage) {
        if self.region.has_faulted() {
            self.lost();
        } else if matches!(self.change(), Change::None | Change::Links) {
            self.set_damaged(offset as u64, what);
        } else {
            self.set(Trust::Trusted, Trust::Suspect);
        }
    }

    /// Takes note that what the file says makes no sense, though its bytes are those that were written.
    pub(crate) fn found_false(&self, offset: u64, what: &str) {
        self.set_damaged(offset, what.to_owned());
    }

    /// Verifies every block that was not verified yet.
    pub(crate) fn verify_whole(&self) -> Result<(), IndexError> {
        self.verify_rest(&mut |_| ControlFlow::Continue(()))
    }

    /// As [`LiveFile::verify_whole`]; `each_piece` hears of what is read, in bytes, and may end it.
    fn verify_rest(&self, each_piece: &mut EachPiece) -> Result<(), IndexError> {
        if !self.is_verified()
            && let Err(damage) = self.verify(Which::Others, each_piece)
        {
            self.found(damage);
        }
        self.ensure_trusted()
    }

    fn verify(&self, which: Which, each_piece: &mut EachPiece) -> Result<ControlFlow<()>, Damage> {
        let is_wanted = |block| match which {
            Which::All => true,
            Which::Verified => self.blocks.contains(block),
            Which::Others => !self.blocks.contains(block),
        };
        let verified = |block| self.blocks.insert(block);
        verify_blocks(
            &self.region,
            self.payload_end,
            is_wanted,
            verified,
            each_piece,
        )
    }

    /// Verifies the footer against the seal, and some blocks, whether they were verified before or not.
    fn verify_against_seal(
        &self,
        which: Which,
        each_piece: &mut EachPiece,
    ) -> Result<ControlFlow<()>, Damage> {
        let (payload_end, checksum) = verify_footer(&self.region)?;
        if self.seal.checksum != checksum || self.payload_end != payload_end {
            let what = "the footer's checksum is not the manifest's";
            return Err((payload_end, what.into()));
        }
        self.verify(which, each_piece)
    }

    #[inline]
    pub(crate) fn is_trusted(&self) -> bool {
        self.trust.load(Ordering::Acquire) == Trust::Trusted as u8
    }

    fn trust(&self) -> Trust {
        match self.trust.load(Ordering::Acquire) {
            0 => Trust::Trusted,
            1 => Trust::Suspect,
            _ => Trust::Damaged,
        }
    }

    /// What happened since the stamp that is known.
    #[inline]
    fn change(&self) -> Change {
        let Some(source) = self.region.source() else {
            return Change::None;
        };
        let Some(known) = *self.stamp.read().unwrap_or_else(PoisonError::into_inner) else {
            return Change::None;
        };
        match source.now() {
            Ok(now) => known.change(now.as_ref()),
            // Not known to be unchanged.
            Err(_) => Change::Content,
        }
    }

    /// A stamp that tells whatever happens from now on, or that there is none because its name is another file's;
    /// `None` where there is no telling.
    fn settled_stamp(&self) -> Option<Settled> {
        let source = self.region.source()?;
        let at_open = source.at_open();
        for _ in 0..TRIES {
            match source.now().ok()? {
                Some(now) if at_open.change(Some(&now)) != Change::Replaced => {
                    match now.unsettled_for() {
                        young if young.is_zero() => return Some(Settled::Stamp(now)),
                        young => thread::sleep(young),
                    }
                }
                _ => return Some(Settled::Nameless),
            }
        }
        None
    }

    /// Keeps the stamp from before its bytes were verified, where that is still the file's.
    fn note_verified(&self, before: Settled) -> bool {
        let Settled::Stamp(before) = before else {
            self.is_nameless.store(true, Ordering::Release);
            return true;
        };
        let now = self.region.source().map(|source| source.now());
        let is_same = matches!(now, Some(Ok(Some(now))) if now == before);
        if is_same {
            let mut stamp = self.stamp.write().unwrap_or_else(PoisonError::into_inner);
            *stamp = Some(before);
            self.was_linked.store(false, Ordering::Relaxed);
        }
        is_same
    }

    /// What an answer that needs the file fails with, where it is not trusted.
    pub(crate) fn ensure_trusted(&self) -> Result<(), IndexError> {
        let (offset, what) = match self.trust() {
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

    /// That its bytes at `offset` make no sense; the damage or doubt that is known already, where there is one.
    pub(crate) fn damaged_at(&self, offset: u64, what: &str) -> IndexError {
        let known = self.ensure_trusted().err();
        known.unwrap_or_else(|| IndexError::Damaged {
            path: self.path.clone(),
            offset,
            what: what.to_owned(),
        })
    }

    /// Compares the file with its stamp. One that was changed is suspect from now on, one that lost a page damaged.
    fn examine(&self) {
        if !self.is_trusted() {
            return;
        }
        if self.region.has_faulted() {
            return self.lost();
        }
        match self.change() {
            Change::None => {}
            // Verified since it lost its name.
            Change::Replaced if self.is_nameless.load(Ordering::Acquire) => {}
            Change::Links => {
                if !self.was_linked.swap(true, Ordering::Relaxed)
                    && let Some(alarm) = self.alarm.get()
                {
                    alarm.wake();
                }
            }
            Change::Replaced | Change::Content => self.set(Trust::Trusted, Trust::Suspect),
        }
    }

    fn lost(&self) {
        let what = "it was truncated, or cannot be read, while it was open".to_owned();
        self.set_damaged(0, what);
    }

    fn set_damaged(&self, offset: u64, what: String) {
        let _ = self.damage.set((offset, what));
        self.set(self.trust(), Trust::Damaged);
    }

    fn set(&self, from: Trust, to: Trust) {
        let (from, to) = (from as u8, to as u8);
        let order = (Ordering::AcqRel, Ordering::Acquire);
        let swapped = self.trust.compare_exchange(from, to, order.0, order.1);
        if swapped.is_ok()
            && from != to
            && let Some(alarm) = self.alarm.get()
        {
            // After the state: an answer that begins with the new epoch sees it.
            alarm.epoch.fetch_add(1, Ordering::AcqRel);
            alarm.wake();
        }
    }

    /// Verifies a file against its seal, and trusts it again where its bytes are the old ones. `each_piece` hears of
    /// every piece read, in bytes, and may end it.
    fn verify_again(&self, which: Which, each_piece: &mut EachPiece) -> Result<(), IndexError> {
        for _ in 0..TRIES {
            if self.trust() == Trust::Damaged {
                break;
            }
            let before = self.settled_stamp();
            match self.verify_against_seal(which, each_piece) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(()),
                Err((offset, what)) => self.set_damaged(offset as u64, what),
            }
            if self.region.has_faulted() {
                self.lost();
            }
            if let Some(before) = before
                && self.trust() != Trust::Damaged
                && self.note_verified(before)
            {
                self.set(Trust::Suspect, Trust::Trusted);
            }
            if self.trust() != Trust::Suspect {
                break;
            }
        }
        self.ensure_trusted()
    }

    /// How long until its stamp tells every change.
    fn unsettled_for(&self) -> std::time::Duration {
        let stamp = *self.stamp.read().unwrap_or_else(PoisonError::into_inner);
        stamp.map_or_else(Default::default, |stamp| stamp.unsettled_for())
    }
}

/// The blocks that a range of bytes, not an empty one, has a part of.
#[inline]
fn blocks_of(range: &Range<usize>) -> Range<usize> {
    range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES)
}

impl LiveFiles {
    /// The files of an index that was just opened. `alarm` is that of an index with which it shares files. Waits until
    /// every stamp tells what happens from now on; an error where a file was changed meanwhile.
    pub(crate) fn settled(
        all: Vec<Arc<LiveFile>>,
        planned_with: Vec<Arc<LiveFile>>,
        statistics: Vec<Arc<LiveFile>>,
        alarm: Arc<Alarm>,
    ) -> Result<LiveFiles, IndexError> {
        // Far apart, so that what was planned with one index passes for no other's, though both be of one generation.
        static OPENED: AtomicU64 = AtomicU64::new(0);
        for file in &all {
            let _ = file.alarm.set(Arc::clone(&alarm));
            if !file.unsettled_for().is_zero() {
                file.verify_again(Which::Verified, &mut |_| ControlFlow::Continue(()))?;
            }
            file.examine();
            if file.trust() == Trust::Suspect {
                let path = file.path.clone();
                return Err(IndexError::Changed { path });
            }
            file.ensure_trusted()?;
        }
        Ok(LiveFiles {
            all,
            planned_with,
            statistics,
            alarm,
            opened: OPENED.fetch_add(1, Ordering::Relaxed) << 32,
        })
    }

    pub(crate) fn alarm(&self) -> &Arc<Alarm> {
        &self.alarm
    }

    /// The files that are trusted.
    pub(crate) fn trusted(&self) -> HashSet<&Path> {
        let trusted = self.all.iter().filter(|file| file.is_trusted());
        trusted.map(|file| file.path.as_path()).collect()
    }

    fn epoch(&self) -> u64 {
        self.opened + self.alarm.epoch.load(Ordering::Acquire)
    }
}
