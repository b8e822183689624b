//! Examination of answers, and of the files of an index one by one.

use super::file::{LiveFile, Which};
use super::files::ReadStart;
use super::trust::Trust;
use crate::sealed::EachPiece;
use crate::store::TextKey;
use crate::{Index, IndexError, Segment};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

impl Index {
    /// To be kept from before anything of an answer is read, its plan included.
    pub fn read_start(&self) -> ReadStart {
        ReadStart(self.files.epoch())
    }

    /// An error where some of `segments`, or the statistics, are known not to hold what was verified.
    pub fn ensure_trusted(&self, segments: &[Arc<Segment>]) -> Result<(), IndexError> {
        let segments = segments.iter().flat_map(|segment| segment.files());
        let mut files = self.files.statistics.iter().chain(segments);
        files.try_for_each(|file| file.ensure_trusted())
    }

    /// Examines all that a search of `segments` and its plan may have read since `since`. Where this is `Ok`, all of it was
    /// what was verified. [`IndexError::Damaged`] where a file of the segments is not; [`IndexError::Changed`] where
    /// another one that the plan was made with is not, or any was for a time: asked anew, the answer will be right.
    pub fn verify_search(
        &self,
        segments: &[Arc<Segment>],
        since: ReadStart,
    ) -> Result<(), IndexError> {
        let pairs = segments.iter().filter_map(|segment| segment.pairs_file());
        for file in self.files.planned_with.iter().chain(pairs) {
            file.examine();
        }
        self.ensure_trusted(segments)?;
        self.ensure_same(since)
    }

    /// The same of the texts of some documents.
    pub fn verify_texts<'a>(
        &self,
        keys: impl Iterator<Item = TextKey<'a>>,
        since: ReadStart,
    ) -> Result<(), IndexError> {
        let mut last: Option<&Arc<LiveFile>> = None;
        for file in keys.flat_map(|key| self.documents().files_of(key)) {
            // Documents beside each other in a page are often in one file.
            if last.is_none_or(|last| !Arc::ptr_eq(last, file)) {
                file.examine();
                file.ensure_trusted()?;
                last = Some(file);
            }
        }
        self.ensure_same(since)
    }

    fn ensure_same(&self, since: ReadStart) -> Result<(), IndexError> {
        match self.read_start() == since {
            true => Ok(()),
            false => Err(IndexError::Changed {
                path: self.path.clone(),
            }),
        }
    }

    /// How many files it has, the manifest left out. They are numbered from 0.
    pub fn files_count(&self) -> usize {
        self.files.all.len()
    }

    /// Examines a file without reading it; its path and what is known of it then.
    pub fn examine(&self, number: usize) -> Option<(&Path, Trust)> {
        let file = self.files.all.get(number)?;
        file.examine();
        Some((&file.path, file.trust()))
    }

    /// Whether a file should be verified without delay.
    pub fn is_in_doubt(&self, number: usize) -> bool {
        let file = self.files.all.get(number);
        file.is_some_and(|file| {
            file.trust() == Trust::Suspect || file.was_linked.load(Ordering::Relaxed)
        })
    }

    /// Verifies a file against its seal: what changed no stamp is found too, and a suspect file that has the old bytes
    /// is trusted again. `each_piece` hears of every piece read, in bytes, and may end it. Files in memory are left out.
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

    /// Verifies the blocks of a file that no reader has touched yet, files in memory included. `each_piece` hears of what
    /// is read, in bytes, and may end it.
    pub fn verify_rest(&self, number: usize, each_piece: &mut EachPiece) -> Result<(), IndexError> {
        let file = self.files.all.get(number);
        file.map_or(Ok(()), |file| file.verify_rest(each_piece))
    }

    /// Verifies every block that no reader has touched yet, for readers that do not examine what they read.
    pub fn verify_whole(&self) -> Result<(), IndexError> {
        self.files
            .all
            .iter()
            .try_for_each(|file| file.verify_whole())
    }

    /// Verifies the files that `before` does not share, each up to `bytes_max` bytes: what a commit wrote is read once
    /// before it is served.
    pub fn verify_new(&self, before: &Index, bytes_max: u64) -> Result<(), IndexError> {
        let known: HashSet<*const LiveFile> = before.files.all.iter().map(Arc::as_ptr).collect();
        let new = self.files.all.iter();
        new.filter(|file| !known.contains(&Arc::as_ptr(file)) && file.seal.bytes <= bytes_max)
            .try_for_each(|file| file.verify_whole())
    }

    /// Bytes of all files that were verified since they were opened, footers included.
    pub fn verified_bytes(&self) -> u64 {
        self.files
            .all
            .iter()
            .map(|file| file.verified_bytes())
            .sum()
    }

    /// Files that are suspect or damaged.
    pub fn untrusted_files_count(&self) -> usize {
        let files = self.files.all.iter();
        files.filter(|file| !file.is_trusted()).count()
    }

    /// Has the calling thread unparked whenever a file is found changed or damaged. The first to ask is heard.
    pub fn alarm_this_thread(&self) {
        let _ = self.files.alarm.woken.set(thread::current());
    }
}

impl Segment {
    /// The file of its lists.
    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        self.core().file()
    }

    /// The file of its stored pairs, where it has some.
    pub(crate) fn pairs_file(&self) -> Option<&Arc<LiveFile>> {
        self.pairs.as_ref().map(|pairs| pairs.file())
    }

    /// All files that searches read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Arc<LiveFile>> {
        std::iter::once(self.file()).chain(self.pairs_file())
    }
}
