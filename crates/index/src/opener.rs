//! Opening of the parts of a generation, shared with an open index where they are the same.
//!
//! A commit leaves most files unchanged. The index of the next generation shares the parts of such files that are open,
//! verified or loaded, if they are trusted. So the cost of a reload is that of the files written by the commit.

use crate::columns::Columns;
use crate::deletions::Deletions;
use crate::live::LiveFile;
use crate::manifest::{FileEntry, Manifest, SegmentEntry};
use crate::sealed::{Identity, Kind};
use crate::segment::pairs::PairLists;
use crate::store::StorePart;
use crate::{IndexError, Segment, Statistics};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use vfs::SharedStorage;

/// Lowest number of segments per thread: starting a thread takes as long as opening several.
const SEGMENTS_A_THREAD: usize = 16;

/// Threads for many segments even on fewer cores: on a cold cache they mostly wait for the disk.
const THREADS_WAITING: usize = 16;

/// Segment and its texts.
pub(crate) type Opened = (Segment, Option<Arc<StorePart>>);

/// Opener of the files of one generation.
pub(crate) struct Opener<'a> {
    storage: &'a SharedStorage,
    manifest: &'a Manifest,
    before: Option<(OpenParts<'a>, HashMap<u32, usize>)>,
}

/// Parts of an open index.
pub(crate) struct OpenParts<'a> {
    pub(crate) manifest: &'a Manifest,
    pub(crate) segments: &'a [Arc<Segment>],
    /// Texts of each segment.
    pub(crate) texts: &'a [Option<Arc<StorePart>>],
    pub(crate) statistics: &'a Statistics,
}

impl<'a> Opener<'a> {
    /// Creates an opener of the files that `manifest` names; trusted files of `before` are shared.
    pub(crate) fn new(
        storage: &'a SharedStorage,
        manifest: &'a Manifest,
        before: Option<OpenParts<'a>>,
    ) -> Opener<'a> {
        let before = before.filter(|before| before.manifest.index_id == manifest.index_id);
        let before = before.map(|before| {
            let entries = (0..).zip(&before.manifest.segments);
            let numbers = entries.map(|(number, entry)| (entry.segment, number));
            let numbers = numbers.collect();
            (before, numbers)
        });
        Opener {
            storage,
            manifest,
            before,
        }
    }

    /// Opens every segment and its texts, on several threads where there are many.
    pub(crate) fn open_parts(&self) -> Result<Vec<Opened>, IndexError> {
        let entries = &self.manifest.segments;
        let threads = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .max(THREADS_WAITING)
            .min(entries.len() / SEGMENTS_A_THREAD);
        if threads < 2 {
            return entries.iter().map(|entry| self.open(entry)).collect();
        }
        let next = AtomicUsize::new(0);
        let opened = Mutex::new(Vec::with_capacity(entries.len()));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(entry) = entries.get(number) else {
                            return;
                        };
                        let result = self.open(entry);
                        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
                        opened.push((number, result));
                    }
                });
            }
        });
        let mut opened = opened.into_inner().unwrap_or_else(PoisonError::into_inner);
        opened.sort_unstable_by_key(|&(number, _)| number);
        opened.into_iter().map(|(_, result)| result).collect()
    }

    fn open(&self, entry: &SegmentEntry) -> Result<Opened, IndexError> {
        let before = self.entry_before(entry);
        let segment = self.open_segment(entry)?;
        let part = match before {
            Some((old, (_, Some(part))))
                if old.documents == entry.documents && part.file().is_trusted() =>
            {
                Some(Arc::clone(part))
            }
            _ => self.open_store(entry)?,
        };
        Ok((segment, part))
    }

    /// Returns the segment of the open index and its manifest entry, where it has one with the same number.
    #[allow(clippy::type_complexity)]
    fn entry_before(
        &self,
        entry: &SegmentEntry,
    ) -> Option<(&SegmentEntry, (&Segment, Option<&Arc<StorePart>>))> {
        let (before, numbers) = self.before.as_ref()?;
        let number = *numbers.get(&entry.segment)?;
        let old = &before.manifest.segments[number];
        let (segment, texts) = (&before.segments[number], before.texts[number].as_ref());
        Some((old, (segment, texts)))
    }

    /// Opens a segment with its deletions, pairs and columns, without its texts.
    pub(crate) fn open_segment(&self, entry: &SegmentEntry) -> Result<Segment, IndexError> {
        let before = self.entry_before(entry);
        let of_before = |file: &Option<&FileEntry>, live: Option<&Arc<LiveFile>>| {
            file.is_some() && live.is_some_and(|live| live.is_trusted())
        };
        let index_id = self.manifest.index_id();
        let mut segment = match before {
            Some((old, (segment, _)))
                if old.index == entry.index && segment.file().is_trusted() =>
            {
                Segment::over(Arc::clone(segment.core()))
            }
            _ => {
                let file = &entry.index;
                Segment::open(self.storage, &file.name, index_id, entry.segment, file.seal)?
            }
        };
        let found = (segment.meta().chunks, segment.documents_count());
        if found != (entry.chunks, entry.documents_count) {
            let what = "the segment is not the one that the manifest names";
            return Err(segment.damaged_at_terms(what));
        }
        if let Some(file) = &entry.deletions {
            let shared = before.and_then(|(old, (segment, _))| {
                let same = old.deletions.as_ref().filter(|old| *old == file);
                let gone = segment.deletions.as_ref()?;
                of_before(&same, gone.file()).then(|| Arc::clone(gone))
            });
            segment.deletions = Some(match shared {
                Some(shared) => shared,
                None => Arc::new(self.open_deletions(file, entry.documents_count)?),
            });
        }
        if let Some(file) = &entry.pairs {
            let shared = before.and_then(|(old, (segment, _))| {
                let same = old.pairs.as_ref().filter(|old| *old == file);
                let pairs = segment.pairs.as_ref()?;
                of_before(&same, Some(pairs.file())).then(|| Arc::clone(pairs))
            });
            segment.pairs = Some(match shared {
                Some(shared) => shared,
                None => Arc::new(self.open_pairs(file)?),
            });
        }
        if let Some(file) = &entry.columns {
            let shared = before.and_then(|(old, (segment, _))| {
                let same = old.columns.as_ref().filter(|old| *old == file);
                let columns = segment.columns.as_ref()?;
                of_before(&same, Some(columns.file())).then(|| Arc::clone(columns))
            });
            segment.columns = Some(match shared {
                Some(shared) => shared,
                None => Arc::new(self.open_columns(file)?),
            });
        }
        Ok(segment)
    }

    fn open_columns(&self, file: &FileEntry) -> Result<Columns, IndexError> {
        let identity = self.identity(Kind::Columns, file);
        Columns::open(self.storage, &file.name, identity, file.seal)
    }

    fn open_deletions(
        &self,
        file: &FileEntry,
        documents_count: u32,
    ) -> Result<Deletions, IndexError> {
        let identity = self.identity(Kind::Deletions, file);
        Deletions::open(
            self.storage,
            &file.name,
            identity,
            file.seal,
            documents_count,
        )
    }

    fn open_pairs(&self, file: &FileEntry) -> Result<PairLists, IndexError> {
        let identity = self.identity(Kind::Pairs, file);
        PairLists::open(self.storage, &file.name, identity, file.seal)
    }

    /// Opens the texts of a segment; `None` in an index without texts.
    pub(crate) fn open_store(
        &self,
        entry: &SegmentEntry,
    ) -> Result<Option<Arc<StorePart>>, IndexError> {
        let Some(file) = &entry.documents else {
            return Ok(None);
        };
        let index_id = self.manifest.index_id();
        let part = StorePart::open(self.storage, &file.name, index_id, entry.segment, file.seal)?;
        Ok(Some(Arc::new(part)))
    }

    /// Opens the statistics of the generation; `segments` are in the manifest's order.
    pub(crate) fn open_statistics(
        &self,
        segments: Vec<Arc<Segment>>,
    ) -> Result<Statistics, IndexError> {
        let before = self.before.as_ref();
        let before = before.map(|(before, _)| before.statistics);
        Statistics::open(self.storage, self.manifest, segments, before)
    }

    fn identity(&self, kind: Kind, file: &FileEntry) -> Identity {
        Identity {
            kind,
            index_id: self.manifest.index_id(),
            number: file.number,
        }
    }
}

/// Opens a segment of a generation.
pub(crate) fn open_segment(
    storage: &SharedStorage,
    manifest: &Manifest,
    entry: &SegmentEntry,
) -> Result<Segment, IndexError> {
    Opener::new(storage, manifest, None).open_segment(entry)
}

pub(crate) fn open_segments(
    storage: &SharedStorage,
    manifest: &Manifest,
) -> Result<Vec<Segment>, IndexError> {
    let entries = manifest.segments.iter();
    entries
        .map(|entry| open_segment(storage, manifest, entry))
        .collect()
}

/// Opens a segment and verifies its files as a whole, for callers that read all of it.
pub(crate) fn open_verified_segment(
    storage: &SharedStorage,
    manifest: &Manifest,
    entry: &SegmentEntry,
) -> Result<Segment, IndexError> {
    let segment = open_segment(storage, manifest, entry)?;
    segment.files().try_for_each(|file| file.verify_whole())?;
    Ok(segment)
}

/// Opens the texts of a segment; `None` in an index without texts.
pub(crate) fn open_store(
    storage: &SharedStorage,
    manifest: &Manifest,
    entry: &SegmentEntry,
) -> Result<Option<Arc<StorePart>>, IndexError> {
    Opener::new(storage, manifest, None).open_store(entry)
}

/// Opens a file of deletions of a generation, of a segment of `documents_count` documents.
pub(crate) fn open_deletions(
    storage: &SharedStorage,
    manifest: &Manifest,
    file: &FileEntry,
    documents_count: u32,
) -> Result<Deletions, IndexError> {
    Opener::new(storage, manifest, None).open_deletions(file, documents_count)
}
