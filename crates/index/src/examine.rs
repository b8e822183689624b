//! Examination of answers, and of the files of an index.

use crate::live::{LiveFile, ReadStart, Trust, Which};
use crate::sealed::EachPiece;
use crate::store::TextKey;
use crate::{Index, IndexError, Segment};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

impl Index {
    /// Returns the moment before an answer, for its later examination. Call it before anything of the answer is read,
    /// its plan included.
    pub fn read_start(&self) -> ReadStart {
        ReadStart(self.files.epoch())
    }

    /// Fails where a file of `segments` or of the statistics is known to differ from the verified one.
    pub fn ensure_trusted(&self, segments: &[Arc<Segment>]) -> Result<(), IndexError> {
        let segments = segments.iter().flat_map(|segment| segment.files());
        let mut files = self.files.statistics.iter().chain(segments);
        files.try_for_each(|file| file.ensure_trusted())
    }

    /// Examines all files that a search of `segments` and its plan may have read since `since`. `Ok` means that every
    /// byte read was a verified one. Fails with [`IndexError::Damaged`] for a file of the segments, and with
    /// [`IndexError::Changed`] for another file that the plan used, or after any temporary change; a repeated query
    /// then returns a right answer.
    pub fn verify_search(
        &self,
        segments: &[Arc<Segment>],
        since: ReadStart,
    ) -> Result<(), IndexError> {
        let own = segments.iter().flat_map(|segment| segment.side_files());
        examine_read(self.files.planned_with.iter().chain(own));
        self.ensure_trusted(segments)?;
        self.ensure_same(since)
    }

    /// Examines every file that anyone has read since the index was opened, of all segments and kinds: for decisions that
    /// cannot be taken back. `Ok` means that every byte read since `since` was a verified one.
    pub fn verify_all_read(&self, since: ReadStart) -> Result<(), IndexError> {
        let read = || self.files.all.iter().filter(|file| file.is_read());
        examine_read(read());
        read().try_for_each(|file| file.ensure_trusted())?;
        self.ensure_same(since)
    }

    /// Examines the texts of some documents, wherever they may be looked up, in the same way.
    pub fn verify_texts<'a>(
        &self,
        keys: impl Iterator<Item = TextKey<'a>>,
        since: ReadStart,
    ) -> Result<(), IndexError> {
        let mut last: Option<&Arc<LiveFile>> = None;
        for file in keys.flat_map(|key| self.documents().files_of(key)) {
            // Neighbouring documents of a page are often in one file.
            if last.is_none_or(|last| !Arc::ptr_eq(last, file)) {
                file.examine();
                file.ensure_trusted()?;
                last = Some(file);
            }
        }
        self.ensure_same(since)
    }

    /// Examines all files that a look-up of the document at `url` may have read since `since`, as [`Index::document`] does.
    pub(crate) fn verify_look_up(
        &self,
        key: TextKey<'_>,
        since: ReadStart,
    ) -> Result<(), IndexError> {
        let chunk = self.layout().chunk_of(key.url_and_hash().1);
        // Whether a document is deleted is decided by its segment, where that has deleted documents.
        let segments = self
            .segments
            .iter()
            .filter(|segment| segment.deletions.is_some() && segment.chunks().contains(&chunk));
        for segment in segments {
            segment.file().examine();
            segment.file().ensure_trusted()?;
        }
        self.verify_texts([key].into_iter(), since)
    }

    fn ensure_same(&self, since: ReadStart) -> Result<(), IndexError> {
        match self.read_start() == since {
            true => Ok(()),
            false => Err(IndexError::Changed {
                path: self.path.clone(),
            }),
        }
    }

    /// Returns the number of files, without the manifest. File numbers start at 0.
    pub fn files_count(&self) -> usize {
        self.files.all.len()
    }

    /// Examines a file without reading it; returns its path and its state. `None` past the last file.
    pub fn examine(&self, number: usize) -> Option<(&Path, Trust)> {
        let file = self.files.all.get(number)?;
        file.examine();
        Some((&file.path, file.trust()))
    }

    /// Returns whether a file should be verified without delay.
    pub fn is_in_doubt(&self, number: usize) -> bool {
        let file = self.files.all.get(number);
        file.is_some_and(|file| {
            file.trust() == Trust::Suspect || file.was_linked.load(Ordering::Relaxed)
        })
    }

    /// Verifies a file against its seal. This also finds changes that no stamp shows; a suspect file with unchanged
    /// bytes is trusted again. Calls `each_piece` for each piece read, with its length in bytes; it may end the
    /// verification. Files in memory are skipped.
    pub fn verify_again(
        &self,
        number: usize,
        each_piece: &mut EachPiece,
    ) -> Result<(), IndexError> {
        match self.files.all.get(number) {
            Some(file) if file.region.source().is_some() => {
                file.verify_again(Which::All, each_piece)
            }
            _ => Ok(()),
        }
    }

    /// Verifies the blocks of a file that no reader has touched, also of a file in memory. Calls `each_piece` for each
    /// piece read, with its length in bytes; it may end the verification.
    pub fn verify_rest(&self, number: usize, each_piece: &mut EachPiece) -> Result<(), IndexError> {
        let file = self.files.all.get(number);
        file.map_or(Ok(()), |file| file.verify_rest(each_piece))
    }

    /// Verifies every block that no reader has touched, for readers that do not examine their answers.
    pub fn verify_whole(&self) -> Result<(), IndexError> {
        self.files
            .all
            .iter()
            .try_for_each(|file| file.verify_whole())
    }

    /// Verifies the files that `before` does not share, up to `bytes_max` bytes each: small files of a commit are
    /// verified before they are served.
    pub fn verify_new(&self, before: &Index, bytes_max: u64) -> Result<(), IndexError> {
        let known: HashSet<*const LiveFile> = before.files.all.iter().map(Arc::as_ptr).collect();
        let new = self.files.all.iter();
        new.filter(|file| !known.contains(&Arc::as_ptr(file)) && file.seal.bytes <= bytes_max)
            .try_for_each(|file| file.verify_whole())
    }

    /// Returns whether the blocks of a file are fetched at their first touch, because its storage cannot map: reading all of
    /// it costs a transfer.
    pub fn is_fetched(&self, number: usize) -> bool {
        let file = self.files.all.get(number);
        file.is_some_and(|file| file.region.is_fetched())
    }

    /// Returns the bytes of all files that were verified since opening, footers included.
    pub fn verified_bytes(&self) -> u64 {
        self.files
            .all
            .iter()
            .map(|file| file.verified_bytes())
            .sum()
    }

    /// Counts the files that are suspect or damaged.
    pub fn untrusted_files_count(&self) -> usize {
        let files = self.files.all.iter();
        files.filter(|file| !file.is_trusted()).count()
    }

    /// Counts how often a changed file had its verified bytes still, over all indexes that share files with this one.
    pub fn trusted_again_count(&self) -> u64 {
        self.files.alarm.trusted_again.load(Ordering::Relaxed)
    }

    /// Unparks the calling thread whenever a file becomes suspect or damaged. Only the first thread that calls it is
    /// unparked.
    pub fn alarm_this_thread(&self) {
        let _ = self.files.alarm.woken.set(thread::current());
    }
}

/// Examines those of some files that a reader has read. No answer can have a byte of the others.
fn examine_read<'f>(files: impl Iterator<Item = &'f Arc<LiveFile>>) {
    files
        .filter(|file| file.is_read())
        .for_each(|file| file.examine());
}

impl Segment {
    /// Returns the file of its lists.
    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        self.core().file()
    }

    /// Returns all its files but that of its texts.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = &Arc<LiveFile>> {
        let deletions = self.deletions.as_ref().and_then(|gone| gone.file());
        self.files().chain(deletions)
    }

    /// Returns all files that searches read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Arc<LiveFile>> {
        std::iter::once(self.file()).chain(self.side_files())
    }

    /// Returns the files that only searches of this segment read: those beside its lists.
    fn side_files(&self) -> impl Iterator<Item = &Arc<LiveFile>> {
        // Without `..`, so that no part of a segment is forgotten here.
        let Segment {
            number: _,
            core: _,
            // In memory.
            deletions: _,
            pairs,
            columns,
        } = self;
        let pairs = pairs.as_ref().map(|pairs| pairs.file());
        let columns = columns.as_ref().map(|columns| columns.file());
        pairs.into_iter().chain(columns)
    }
}
