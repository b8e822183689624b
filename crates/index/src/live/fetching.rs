//! First touch of blocks: their fetch, where the storage cannot map, and their verification.
//!
//! A failed fetch is no damage, and nothing of it stays: the bytes are fetched again at the next touch. The answer that
//! met it is refused in one of two ways. Readers that return a `Result` find the failure here. Readers that cannot fail
//! read zeros; the failure counts as a change of the file, so the examination of the answer refuses it, and nothing that
//! was derived of the zeros is kept.

use super::file::{LiveFile, blocks_of};
use crate::IndexError;
use crate::sealed::{BLOCK_BYTES, Unverified, verify_block, verify_or_refetch};
use std::ops::Range;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use vfs::StorageError;

impl LiveFile {
    /// Fetches and verifies the blocks of a range that are not verified; returns whether all are.
    #[cold]
    pub(super) fn touch(&self, range: Range<usize>) -> bool {
        let is_missing = |block: &usize| !self.blocks.contains(*block);
        let mut missing = blocks_of(&range).filter(is_missing);
        let verified = match self.region.is_fetched() {
            // All at once, in as few reads as there are gaps.
            true => self
                .region
                .fetch(bytes_of(missing.clone(), self.payload_end)),
            false => Ok(()),
        };
        let verified = verified
            .map_err(Unverified::from)
            .and_then(|()| missing.try_for_each(|block| self.verify_block(block)));
        match verified {
            Ok(()) => true,
            Err(unverified) => {
                self.not_verified(unverified);
                false
            }
        }
    }

    /// Compares a block with its checksum, and notes that it matches.
    #[cold]
    pub(super) fn verify_block(&self, block: usize) -> Result<(), Unverified> {
        if self.region.is_fetched() {
            return self.verify_fetched(block);
        }
        verify_block(&self.region, self.payload_end, block)?;
        self.blocks.insert(block);
        Ok(())
    }

    fn verify_fetched(&self, block: usize) -> Result<(), Unverified> {
        let bytes = bytes_of(block..block + 1, self.payload_end);
        self.region.fetch(bytes)?;
        // A block that differs is replaced, so nobody else compares it meanwhile, or relies on it.
        let _alone = self
            .comparing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match self.blocks.contains(block) {
            true => verify_block(&self.region, self.payload_end, block)?,
            false => verify_or_refetch(&self.region, self.payload_end, block)?,
        }
        self.blocks.insert(block);
        Ok(())
    }

    /// Records why a block is not verified.
    pub(super) fn not_verified(&self, unverified: Unverified) {
        match unverified {
            Unverified::Damage(damage) => self.found(damage),
            Unverified::Unread(error) if error.is_transient() => self.note_missed(&error),
            Unverified::Unread(error) => self.set_damaged(0, format!("it cannot be read: {error}")),
        }
    }

    fn note_missed(&self, error: &StorageError) {
        let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        *missed = Some(error.kind());
        drop(missed);
        self.changes.fetch_add(1, Ordering::AcqRel);
        if let Some(alarm) = self.alarm.get() {
            alarm.epoch.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Returns the error of the last failed fetch, if there was one since the file was opened.
    pub(super) fn last_missed(&self) -> Option<IndexError> {
        let missed = *self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        Some(IndexError::Storage(StorageError::Unavailable {
            operation: "read",
            path: self.path.clone(),
            source: missed?.into(),
        }))
    }

    /// Returns the damage or doubt that is known, or a failed fetch: while blocks are missing, any of them may be what a
    /// reader missed.
    pub(crate) fn failure(&self) -> Option<IndexError> {
        let missed = || self.last_missed().filter(|_| !self.blocks.are_all());
        self.ensure_trusted().err().or_else(missed)
    }
}

/// Returns the bytes from the first to the last of some increasing blocks, which end at `payload_end`.
fn bytes_of(
    blocks: impl DoubleEndedIterator<Item = usize> + Clone,
    payload_end: usize,
) -> Range<usize> {
    match (blocks.clone().next(), { blocks }.next_back()) {
        (Some(first), Some(last)) => first * BLOCK_BYTES..payload_end.min((last + 1) * BLOCK_BYTES),
        _ => 0..0,
    }
}
