//! Changes of a file after it was opened: comparison of stamps, and repeated verification.

use super::file::{LiveFile, Which};
use super::trust::Trust;
use crate::IndexError;
use crate::sealed::{EachPiece, Unverified, verify_footer};
use std::ops::ControlFlow;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::thread;
use vfs::{Change, FileStamp};

/// Tries of verifying a file that keeps changing; after them it stays suspect.
const TRIES: usize = 3;

/// Reference for later comparisons of a file that was verified.
enum Settled {
    Stamp(FileStamp),
    /// File without its name, which was removed or is another file's now. Only programs that opened it before can
    /// change it.
    Nameless,
}

impl LiveFile {
    /// Compares the file with its stamp. A changed file becomes suspect; a file that lost a page becomes damaged.
    pub(crate) fn examine(&self) {
        if !self.is_trusted() {
            return;
        }
        if self.region.has_faulted() {
            return self.lost();
        }
        match self.change() {
            Change::None => {}
            // Verified after it lost its name.
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

    /// Verifies the file against its seal, and trusts it again where its bytes are unchanged. Calls `each_piece` for
    /// each piece read, with its length in bytes; it may end the verification.
    pub(crate) fn verify_again(
        &self,
        which: Which,
        each_piece: &mut EachPiece,
    ) -> Result<(), IndexError> {
        for _ in 0..TRIES {
            if self.trust() == Trust::Damaged {
                break;
            }
            let before = self.settled_stamp();
            match self.verify_against_seal(which, each_piece) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(()),
                Err(Unverified::Damage((offset, what))) => self.set_damaged(offset as u64, what),
                Err(unread) => self.not_verified(unread),
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

    /// Returns the time until the stamp shows every later change.
    pub(crate) fn unsettled_for(&self) -> std::time::Duration {
        let stamp = *self.stamp.read().unwrap_or_else(PoisonError::into_inner);
        stamp.map_or_else(Default::default, |stamp| stamp.unsettled_for())
    }

    /// Verifies the footer against the seal, and the blocks that `which` selects, even if they were verified before.
    fn verify_against_seal(
        &self,
        which: Which,
        each_piece: &mut EachPiece,
    ) -> Result<ControlFlow<()>, Unverified> {
        let (payload_end, checksum) = verify_footer(&self.region)?;
        if self.seal.checksum != checksum || self.payload_end != payload_end {
            let what = "the footer's checksum is not the manifest's";
            return Err(Unverified::Damage((payload_end, what.into())));
        }
        self.verify(which, each_piece)
    }

    /// Compares the file with the known stamp.
    #[inline]
    pub(crate) fn change(&self) -> Change {
        let Some(source) = self.region.source() else {
            return Change::None;
        };
        let Some(known) = *self.stamp.read().unwrap_or_else(PoisonError::into_inner) else {
            return Change::None;
        };
        match source.now() {
            Ok(now) => known.change(now.as_ref()),
            // A failed call does not show that the file is unchanged.
            Err(_) => Change::Content,
        }
    }

    /// Returns a stamp that shows every later change, or [`Settled::Nameless`] where the name is another file's; `None`
    /// where the file cannot be examined or keeps changing.
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

    /// Stores the stamp taken before a verification, if the file still has it; returns whether the verification counts.
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
}
