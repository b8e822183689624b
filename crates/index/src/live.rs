//! Files of an open index, and whether their bytes are still those that were verified.
//!
//! ```text
//! trusted ──stamp differs──► suspect ──verifies──► trusted
//!    │                          └──does not──┐
//!    └──does not verify, or a page was lost──┴──► damaged: for good, as far as this opened index goes
//! ```
//!
//! An answer is computed first and examined afterwards ([`crate::Index::verify_search`]): where the stamps of all files that
//! were read are those from before the files were verified, every byte read was a verified one. So kernels verify
//! nothing, and an examination costs one system call a file. What a stamp cannot tell ([`vfs::FileStamp`]) is found
//! by verifying files again in the background ([`crate::Index::verify_again`]).
//!
//! Every change of a state raises the index's epoch. An answer counts only if the epoch is the one from before it was
//! begun: bytes may go bad, be read, be put right and be verified again, all before the answer is examined.

mod examine;
#[cfg(test)]
mod tests;

use crate::IndexError;
use crate::sealed::{Seal, verify_bytes};
use std::ops::ControlFlow;
use std::path::PathBuf;
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
    trust: AtomicU8,
    /// From before its bytes were verified; unused where no file is behind the region.
    stamp: RwLock<Option<FileStamp>>,
    /// Links were made or removed: it is trusted, and verified when there is time.
    was_linked: AtomicBool,
    /// It is asked for by its name, which is another file's now, and it was verified since.
    is_nameless: AtomicBool,
    /// Offset and kind of the first damage found.
    damage: OnceLock<(u64, String)>,
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
    statistics: Option<Arc<LiveFile>>,
    epoch: AtomicU64,
    /// Woken when a file becomes suspect or damaged.
    alarm: OnceLock<Thread>,
}

impl LiveFile {
    pub(crate) fn new(path: PathBuf, region: Region, seal: Seal) -> Arc<LiveFile> {
        let stamp = region.source().map(|source| source.at_open());
        Arc::new(LiveFile {
            path,
            region,
            seal,
            trust: AtomicU8::new(Trust::Trusted as u8),
            stamp: RwLock::new(stamp),
            was_linked: AtomicBool::new(false),
            is_nameless: AtomicBool::new(false),
            damage: OnceLock::new(),
        })
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

    /// How long until its stamp tells every change.
    fn unsettled_for(&self) -> std::time::Duration {
        let stamp = *self.stamp.read().unwrap_or_else(PoisonError::into_inner);
        stamp.map_or_else(Default::default, |stamp| stamp.unsettled_for())
    }
}

impl LiveFiles {
    /// The files of an index that was just opened. Waits until every stamp tells what happens from now on; an error
    /// where a file was changed meanwhile.
    pub(crate) fn settled(
        all: Vec<Arc<LiveFile>>,
        planned_with: Vec<Arc<LiveFile>>,
        statistics: Option<Arc<LiveFile>>,
    ) -> Result<LiveFiles, IndexError> {
        // Far apart, so that what was planned with one index passes for no other's, though both be of one generation.
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let files = LiveFiles {
            all,
            planned_with,
            statistics,
            epoch: AtomicU64::new(OPENED.fetch_add(1, Ordering::Relaxed) << 32),
            alarm: OnceLock::new(),
        };
        for file in &files.all {
            if !file.unsettled_for().is_zero() {
                files.verify_again(file, &mut |_| ControlFlow::Continue(()))?;
            }
            files.examine(file);
            if file.trust() == Trust::Suspect {
                let path = file.path.clone();
                return Err(IndexError::Changed { path });
            }
            file.ensure_trusted()?;
        }
        Ok(files)
    }

    /// Compares the file with its stamp. One that was changed is suspect from now on, one that lost a page damaged.
    fn examine(&self, file: &LiveFile) {
        if !file.is_trusted() {
            return;
        }
        if file.region.has_faulted() {
            return self.lost(file);
        }
        match file.change() {
            Change::None => {}
            // Verified since it lost its name.
            Change::Replaced if file.is_nameless.load(Ordering::Acquire) => {}
            Change::Links => {
                if !file.was_linked.swap(true, Ordering::Relaxed) {
                    self.wake();
                }
            }
            Change::Replaced | Change::Content => self.set(file, Trust::Trusted, Trust::Suspect),
        }
    }

    fn lost(&self, file: &LiveFile) {
        let what = "it was truncated, or cannot be read, while it was open".to_owned();
        self.damaged(file, 0, what);
    }

    fn damaged(&self, file: &LiveFile, offset: u64, what: String) {
        let _ = file.damage.set((offset, what));
        self.set(file, file.trust(), Trust::Damaged);
    }

    fn set(&self, file: &LiveFile, from: Trust, to: Trust) {
        let (from, to) = (from as u8, to as u8);
        let order = (Ordering::AcqRel, Ordering::Acquire);
        let swapped = file.trust.compare_exchange(from, to, order.0, order.1);
        if swapped.is_ok() && from != to {
            // After the state: an answer that begins with the new epoch sees it.
            self.epoch.fetch_add(1, Ordering::AcqRel);
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(thread) = self.alarm.get() {
            thread.unpark();
        }
    }

    /// Verifies a file against its seal, and trusts it again where its bytes are the old ones. `each_piece` hears of
    /// every piece read, in bytes, and may end it.
    fn verify_again(&self, file: &LiveFile, each_piece: &mut EachPiece) -> Result<(), IndexError> {
        for _ in 0..TRIES {
            if file.trust() == Trust::Damaged {
                break;
            }
            let before = file.settled_stamp();
            match verify_bytes(&file.region, file.seal, each_piece) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(()),
                Err((offset, what)) => self.damaged(file, offset as u64, what),
            }
            if file.region.has_faulted() {
                self.lost(file);
            }
            if let Some(before) = before
                && file.trust() != Trust::Damaged
                && file.note_verified(before)
            {
                self.set(file, Trust::Suspect, Trust::Trusted);
            }
            if file.trust() != Trust::Suspect {
                break;
            }
        }
        file.ensure_trusted()
    }
}

/// Hears of every piece verified, in bytes; `Break` ends it.
pub type EachPiece<'a> = dyn FnMut(usize) -> ControlFlow<()> + 'a;
