//! Snapshot: an index opened at one generation.

use crate::chunks::{Chunks, half_open};
use crate::leftovers::{self, Unfinished};
use crate::live::LiveFiles;
use crate::log::{LogPosition, LogReader};
use crate::manifest::{self, FileEntry, Manifest};
use crate::names::manifest_name;
use crate::opener::{OpenParts, Opener};
use crate::store::StorePart;
use crate::{DocumentStore, IndexError, Layout, PostingsCodec, Segment, Statistics};
use fields::{Rules, Schema};
use std::collections::HashMap;
use std::ops::RangeBounds;
use std::path::PathBuf;
use std::sync::Arc;
use text::Analyzer;
use vfs::{SharedStorage, StorageError};

/// Retries of an open whose generation was removed by a commit, or whose files changed.
pub(crate) const TRIES: usize = 5;

/// Snapshot of an index; later commits do not change it.
#[derive(Debug)]
pub struct Index {
    manifest: Manifest,
    pub(crate) segments: Vec<Arc<Segment>>,
    /// Texts of each segment.
    pub(crate) parts: Vec<Option<Arc<StorePart>>>,
    statistics: Arc<Statistics>,
    documents: Arc<DocumentStore>,
    pub(crate) path: PathBuf,
    unfinished: Option<Unfinished>,
    fields: Arc<Schema>,
    rules: Arc<Rules>,
    pub(crate) files: LiveFiles,
}

impl Index {
    /// Opens the newest generation with all chunks. Verifies the header and the footer of every file now, and every
    /// other block before its first read ([`Index::verify_rest`] verifies them ahead of reads).
    pub fn open(storage: SharedStorage) -> Result<Index, IndexError> {
        Index::open_newest(&storage, None)
    }

    /// Opens the newest generation as [`Index::open`] does, and shares the trusted files that `before` has too. Their
    /// bytes that were read, verified or loaded into memory are not read again.
    pub fn open_after(storage: SharedStorage, before: &Index) -> Result<Index, IndexError> {
        Index::open_newest(&storage, Some(before))
    }

    fn open_newest(storage: &SharedStorage, before: Option<&Index>) -> Result<Index, IndexError> {
        let mut tries = 0;
        loop {
            let Some(manifest) = manifest::read_newest(storage)? else {
                return Err(IndexError::NoIndex {
                    path: storage.location(),
                });
            };
            let generation = manifest.generation;
            settle(storage, generation);
            match Index::open_generation(storage, manifest, before) {
                // A commit may have put a newer generation in place and removed this one.
                Err(IndexError::Storage(StorageError::NotFound { path }))
                    if tries < TRIES
                        && manifest::generations(storage)?.first() != Some(&generation) =>
                {
                    tries += 1;
                    drop(path);
                }
                // A file was touched meanwhile; where its bytes changed, the next try reports damage.
                Err(IndexError::Changed { .. }) if tries < TRIES => tries += 1,
                Err(IndexError::Storage(StorageError::NotFound { path })) => {
                    let what = "the manifest names this file, but it is not there".into();
                    return Err(IndexError::Damaged {
                        path,
                        offset: 0,
                        what,
                    });
                }
                Ok(mut index) => {
                    index.unfinished = leftovers::unfinished(storage, &index.manifest)?;
                    return Ok(index);
                }
                refused => return refused,
            }
        }
    }

    fn open_generation(
        storage: &SharedStorage,
        manifest: Manifest,
        before: Option<&Index>,
    ) -> Result<Index, IndexError> {
        let opener = Opener::new(storage, &manifest, before.map(Index::open_parts));
        let opened = opener.open_parts()?;
        let mut chunks: Vec<Vec<Arc<StorePart>>> = vec![Vec::new(); manifest.chunks as usize];
        let mut segments = Vec::with_capacity(opened.len());
        let mut parts = Vec::with_capacity(opened.len());
        let mut files = Vec::new();
        for (entry, (mut segment, part)) in manifest.segments.iter().zip(opened) {
            files.extend(segment.all_files().cloned());
            if let Some(part) = &part {
                files.push(Arc::clone(part.file()));
                for chunk in entry.chunks.range() {
                    chunks[chunk as usize].push(Arc::clone(part));
                }
            }
            segment.number = segments.len() as u32;
            segments.push(Arc::new(segment));
            parts.push(part);
        }
        // Newest segment first: a look-up returns the latest version of a document.
        chunks.iter_mut().for_each(|parts| parts.reverse());
        let statistics = opener.open_statistics(segments.clone())?;
        files.extend(statistics.files().cloned());
        let alarm = before.map(|before| Arc::clone(before.files.alarm()));
        let alarm = alarm.unwrap_or_default();
        Ok(Index {
            files: LiveFiles::settled(files, manifest.files_count(), alarm)?,
            segments,
            parts,
            statistics: Arc::new(statistics),
            documents: Arc::new(DocumentStore::new(chunks, manifest.texts)),
            path: storage.location(),
            unfinished: None,
            fields: Arc::new(manifest.fields.clone()),
            rules: Arc::new(manifest.rules.clone()),
            manifest,
        })
    }

    /// Returns the newer generation whose files lie in the directory without a manifest, if there is one. The snapshot
    /// may then be older than the last commit; callers report it.
    pub fn unfinished(&self) -> Option<&Unfinished> {
        self.unfinished.as_ref()
    }

    /// Returns the number of chunks, which is fixed when the index is built.
    pub fn chunks_count(&self) -> u32 {
        self.manifest.chunks
    }

    /// Returns the chunks and the partitions that they are laid out for.
    pub fn layout(&self) -> Layout {
        self.manifest.layout()
    }

    /// Returns the same chunks laid out for `partitions` partitions; fails where the number is not in 1 to the number
    /// of chunks.
    pub fn layout_for(&self, partitions: u32) -> Result<Layout, IndexError> {
        self.layout().with_partitions(self.path.clone(), partitions)
    }

    /// Fails where `chunks` cuts a partition that the index is laid out for, and so cannot be searched alone.
    pub fn check_partition(&self, chunks: impl RangeBounds<u32>) -> Result<(), IndexError> {
        let chunks = half_open(chunks);
        let layout = self.layout();
        let Some(partition) = layout.cut_by(&chunks) else {
            return Ok(());
        };
        let asked = Chunks::from(chunks.start..=chunks.end - 1);
        Err(IndexError::Mismatch {
            path: self.path.clone(),
            reason: format!(
                "{asked} cannot be served alone, because {} are one segment here; serve them together, or lay the index \
                 out for as many partitions as there will be index servers: shorttail optimize {} --partitions {}",
                Chunks::from(partition),
                self.path.display(),
                self.chunks_count()
                    .div_ceil((chunks.end - chunks.start).max(1)),
            ),
        })
    }

    /// Returns the analyzer that the index was built with.
    pub fn analyzer(&self) -> Analyzer {
        self.manifest.analyzer
    }

    /// Returns the fields and their types.
    pub fn fields(&self) -> &Arc<Schema> {
        &self.fields
    }

    /// Returns the codec of its postings.
    pub fn codec(&self) -> PostingsCodec {
        self.manifest.codec
    }

    /// Returns the newest generation in a directory without reading its files; `None` without an index.
    pub fn newest_generation(storage: &SharedStorage) -> Result<Option<u64>, IndexError> {
        manifest::newest(storage)
    }

    /// Returns the identifier of the index in a directory, from its newest manifest; `None` without an index.
    pub fn newest_id(storage: &SharedStorage) -> Result<Option<String>, IndexError> {
        let newest = manifest::read_newest(storage)?;
        Ok(newest.map(|manifest| manifest.index_id))
    }

    /// Returns the identifier of the index: drawn when it was built, the same in all generations.
    pub fn id(&self) -> &str {
        &self.manifest.index_id
    }

    /// Returns the generation, which increases with every commit.
    pub fn generation(&self) -> u64 {
        self.manifest.generation
    }

    /// Returns the position in the logs after the changes that this generation contains.
    pub fn log_position(&self) -> LogPosition {
        LogPosition::start_of(self.manifest.logged + 1)
    }

    /// Returns a reader of the acknowledged changes after this generation, beside the writer of the index in `storage`.
    pub fn log_reader(&self, storage: SharedStorage) -> LogReader {
        LogReader::at(storage, self.id(), self.log_position())
    }

    /// Returns the size of the search index in bytes, without the document store.
    pub fn index_bytes(&self) -> u64 {
        self.manifest.index_bytes()
    }

    /// Returns the size of the document store in bytes.
    pub fn store_bytes(&self) -> u64 {
        self.manifest.store_bytes()
    }

    /// Returns the segments with documents of `chunks`, by chunk and then by age. For chunks that
    /// [`Index::check_partition`] accepts, they have documents of no other chunk.
    pub fn segments(&self, chunks: impl RangeBounds<u32>) -> impl Iterator<Item = &Arc<Segment>> {
        let chunks = half_open(chunks);
        self.segments
            .iter()
            .filter(move |segment| segment.meta().chunks.touch(&chunks))
    }

    /// Returns the statistics of the whole index, shared by all partitions.
    pub fn statistics(&self) -> &Arc<Statistics> {
        &self.statistics
    }

    /// Returns the folders of the files that documents were read from, as `file:` URLs.
    pub fn folders(&self) -> &[String] {
        &self.manifest.folders
    }

    /// Returns the rules of relevance.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the trusted files of this generation by name; none where `manifest` is of another index.
    pub(crate) fn trusted_files(&self, manifest: &Manifest) -> HashMap<&str, &FileEntry> {
        if self.manifest.index_id != manifest.index_id {
            return HashMap::new();
        }
        let trusted = self.files.trusted();
        let files = self.manifest.files_by_kind().map(|(_, file)| file);
        files
            .filter(|file| trusted.contains(self.path.join(&file.name).as_path()))
            .map(|file| (file.name.as_str(), file))
            .collect()
    }

    /// Returns the parts that the index of a later generation may share.
    fn open_parts(&self) -> OpenParts<'_> {
        OpenParts {
            manifest: &self.manifest,
            segments: &self.segments,
            texts: &self.parts,
            statistics: &self.statistics,
        }
    }

    /// Returns the texts of all chunks.
    pub fn documents(&self) -> &Arc<DocumentStore> {
        &self.documents
    }
}

/// Waits, for at most some milliseconds, until the files of a generation are old enough for their stamps to show every
/// later change.
fn settle(storage: &SharedStorage, generation: u64) {
    // A missing manifest means a removed generation, which opening reports.
    let manifest = storage.open(&manifest_name(generation));
    if let Ok(manifest) = &manifest
        && let Some(source) = manifest.source()
    {
        std::thread::sleep(source.at_open().unsettled_for());
    }
}
