//! Writer: from documents to a committed generation.

mod commit;
mod inverting;
mod lock;
mod options;
mod recover;
mod removals;
mod workers;

pub use commit::CommitSummary;
pub use lock::WriteLock;
pub use options::{BuildOptions, Merging};
pub use recover::Recovery;

use crate::derive::Gathered;
use crate::layout::CHUNKS_MAX;
use crate::leftovers::remove_leftovers;
use crate::log::LogRecord;
use crate::manifest::{self, Manifest};
use crate::optimize::rewrite::RewriteOptions;
use crate::sources::Sources;
use crate::statistics::{LayersPolicy, SMALL_TERMS_MAX};
use crate::{IndexError, Layout, MergedSegments, OptimizeProgress, Order};
use commit::CommitOptions;
use document::Document;
use fields::Rules;
use inverting::Inverting;
use std::sync::Arc;
use vfs::SharedStorage;

const CHUNKS_DEFAULT: u32 = 2;
/// Default number of partitions: a single index server with one segment searches the fewest lists.
const PARTITIONS_DEFAULT: u32 = 1;
/// Segments of a partition above which small ones are merged: each costs every search a look-up for each word.
const SEGMENTS_MAX: usize = 24;
/// Writer of documents to a new or existing index. Nothing is visible before `commit`; a dropped writer leaves the
/// index unchanged.
pub struct Writer {
    /// Storage of the index, which remembers the files that this writer reads.
    sources: Arc<Sources>,
    manifest: Manifest,
    inverting: Inverting,
    options: BuildOptions,
    /// URLs of earlier documents to delete.
    deleted_urls: Vec<String>,
    /// Fields of the documents added.
    gathered: Gathered,
    /// Finished merge to install.
    merged: Option<MergedSegments>,
    /// Number of the last log whose changes the documents include.
    logged: Option<u64>,
    /// Held until the drop.
    lock: WriteLock,
}

impl Writer {
    /// Takes the writer lock, commits the changes of a log that an ended process left, and starts a new generation.
    pub fn open(storage: SharedStorage, options: BuildOptions) -> Result<Writer, IndexError> {
        let lock = WriteLock::take(&storage)?;
        replay(&storage, &lock, &options, false)?;
        Writer::open_locked(storage, lock, options)
    }

    /// Starts a new generation for a caller that has the lock. Changes in logs stay there.
    pub fn open_locked(
        storage: SharedStorage,
        lock: WriteLock,
        options: BuildOptions,
    ) -> Result<Writer, IndexError> {
        lock.ensure_current()?;
        let mut manifest = match manifest::read_newest(&storage)? {
            Some(manifest) => fit(&storage, manifest, &options)?,
            None => start(&storage, &options)?,
        };
        manifest.note_folders(&options.folders);
        if let Some(rules) = &options.rules {
            set_rules(&mut manifest, rules, &storage)?;
        }
        let applied = options.fields.apply(&mut manifest.fields);
        applied.map_err(|reason| IndexError::Mismatch {
            path: storage.location(),
            reason,
        })?;
        let merge = match &options.merging {
            Merging::Within => None,
            Merging::Beside(merge) => merge.as_ref(),
        };
        remove_leftovers(&storage, &manifest, merge)?;
        if let Some(merge) = merge {
            manifest.next_segment = manifest.next_segment.max(merge.next_segment());
        }
        Ok(Writer {
            sources: Sources::over(&storage),
            manifest,
            inverting: Inverting::new(&options),
            options,
            deleted_urls: Vec::new(),
            gathered: Gathered::default(),
            merged: None,
            logged: None,
            lock,
        })
    }

    /// Adds a document, which replaces an earlier one with the same URL.
    pub fn add(&mut self, document: Document) -> Result<(), IndexError> {
        self.gathered.observed.add(&document.fields);
        let observed = &self.gathered.observed;
        let storage: SharedStorage = self.sources.clone();
        self.inverting.add(
            document,
            (&storage, &self.manifest, &self.options),
            observed,
        )
    }

    /// Deletes the document of a URL from the generation that the writer began with. A document that the writer itself
    /// adds stays. A URL without a document is no error.
    pub fn delete(&mut self, url: &str) {
        self.deleted_urls.push(url.to_owned());
    }

    /// Leaves out the documents of a URL that the writer itself added so far, as if it had never seen them but for the
    /// types of their fields. A document added later stays.
    pub fn withdraw(&mut self, url: &str) {
        self.inverting.withdraw(url);
    }

    /// Declares that the documents include all changes of the logs up to a number. They are removed after the commit.
    pub fn include_logs(&mut self, last: u64) {
        self.logged = Some(last);
    }

    /// Puts the segments of a finished merge in place of their sources with the commit. Documents that commits since its
    /// beginning removed, this one included, stay removed. Returns whether the merge is of this index and its last
    /// generations; if not, it is not installed.
    pub fn install(&mut self, merged: MergedSegments) -> bool {
        let fits = merged.fits(&self.manifest);
        self.merged = fits.then_some(merged);
        fits
    }

    /// Writes and syncs everything, and makes it the newest generation.
    pub fn commit(self) -> Result<CommitSummary, IndexError> {
        self.commit_telling(&|_| {})
    }

    /// Does the same as [`Writer::commit`], and reports the progress of ordering to `progress`.
    pub fn commit_telling(
        self,
        progress: &(dyn Fn(OptimizeProgress) + Sync),
    ) -> Result<CommitSummary, IndexError> {
        let Writer {
            sources,
            mut manifest,
            inverting,
            options,
            deleted_urls,
            gathered,
            merged,
            logged,
            lock,
        } = self;
        let storage: SharedStorage = sources.clone();
        manifest.logged = manifest.logged.max(logged.unwrap_or(0));
        let built = inverting.finish((&storage, &mut manifest, &options), &gathered.observed)?;
        let rewriting = |order| RewriteOptions {
            order,
            memory_bytes: options.memory_bytes,
            threads: options.threads,
            list_bytes_max: None,
            deletions: None,
            progress,
        };
        let reservation = match &options.merging {
            Merging::Within => None,
            Merging::Beside(reservation) => reservation.as_ref(),
        };
        let is_beside = options.merging != Merging::Within;
        let segments_max = match is_beside {
            true => usize::MAX,
            false => options.segments_max.unwrap_or(SEGMENTS_MAX),
        };
        // A merge that is installed has read its files.
        let pinned = reservation.filter(|_| merged.is_none());
        let layers = LayersPolicy {
            small_terms_max: options.small_terms_max.unwrap_or(SMALL_TERMS_MAX),
            pinned: pinned.map(|reservation| reservation.layers),
            leaves_base: is_beside,
        };
        let options = CommitOptions {
            lock: &lock,
            order: options.order.map(rewriting),
            segments_max,
            merging: rewriting(Order::Arrival),
            threads: options.threads,
            layers,
            merged: merged.as_ref(),
            reservation,
            deleted_urls: &deleted_urls,
            gathered: &gathered,
        };
        commit::commit(&sources, manifest, built, &options)
    }
}

/// Commits the changes of logs that no generation contains, as every [`Writer::open`] does.
///
/// # Errors
/// Acknowledged changes that cannot be read, unless `accept_loss`: the others are then committed without them.
pub fn recover(
    storage: &SharedStorage,
    options: &BuildOptions,
    accept_loss: bool,
) -> Result<Recovery, IndexError> {
    let lock = WriteLock::take(storage)?;
    replay(storage, &lock, options, accept_loss)
}

/// Does the same for a caller that has the lock, and accepts no loss.
///
/// # Errors
/// Acknowledged changes that cannot be read.
pub fn recover_locked(
    storage: &SharedStorage,
    lock: &WriteLock,
    options: &BuildOptions,
) -> Result<Recovery, IndexError> {
    replay(storage, lock, options, false)
}

fn replay(
    storage: &SharedStorage,
    lock: &WriteLock,
    options: &BuildOptions,
    accept_loss: bool,
) -> Result<Recovery, IndexError> {
    recover::replay(storage, accept_loss, |last, changes| {
        let options = BuildOptions {
            threads: options.threads,
            memory_bytes: options.memory_bytes,
            merging: options.merging.clone(),
            ..BuildOptions::default()
        };
        let mut writer = Writer::open_locked(storage.clone(), lock.clone(), options)?;
        writer.include_logs(last);
        for change in changes {
            match change {
                LogRecord::Put(document) => writer.add(document)?,
                LogRecord::Delete(url) => writer.delete(&url),
            }
        }
        Ok(writer.commit()?.generation)
    })
}

fn start(storage: &SharedStorage, options: &BuildOptions) -> Result<Manifest, IndexError> {
    let chunks = options.chunks.unwrap_or(CHUNKS_DEFAULT);
    if chunks == 0 || chunks > CHUNKS_MAX {
        return Err(IndexError::Mismatch {
            path: storage.location(),
            reason: format!("{chunks} chunks: an index has 1 to {CHUNKS_MAX}"),
        });
    }
    let layout = Layout {
        chunks,
        partitions: PARTITIONS_DEFAULT,
    };
    let layout = match options.partitions {
        Some(partitions) => layout.with_partitions(storage.location(), partitions)?,
        None => layout,
    };
    Ok(Manifest::new(
        new_index_id(storage),
        layout,
        options.analyzer.unwrap_or_default(),
        options.codec.unwrap_or_default(),
        options.texts.unwrap_or_default(),
        options.pairs.unwrap_or_default(),
    ))
}

fn set_rules(
    manifest: &mut Manifest,
    rules: &Rules,
    storage: &SharedStorage,
) -> Result<(), IndexError> {
    rules.check().map_err(|reason| IndexError::Mismatch {
        path: storage.location(),
        reason: format!("the rules are not those of an index: {reason}"),
    })?;
    manifest.rules = rules.clone();
    Ok(())
}

/// Draws an identifier from clock, process and place, different for every index.
fn new_index_id(storage: &SharedStorage) -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = format!("{:?} {} {:?}", now, std::process::id(), storage.location());
    xxhash_rust::xxh3::xxh3_128(seed.as_bytes())
}

fn fit(
    storage: &SharedStorage,
    manifest: Manifest,
    options: &BuildOptions,
) -> Result<Manifest, IndexError> {
    let differs = |option: &str, has: &dyn std::fmt::Display, asked: &dyn std::fmt::Display| {
        Err(IndexError::Mismatch {
            path: storage.location(),
            reason: format!(
                "the index here has {option} {has}, not {asked}: leave the option out to add to it, \
                 or build into another directory"
            ),
        })
    };
    let layout = manifest.layout();
    if let Some(partitions) = options.partitions
        && partitions != layout.partitions
    {
        return Err(IndexError::Mismatch {
            path: storage.location(),
            reason: format!(
                "the index here is laid out for {} partitions, not {partitions}: leave --partitions out to add to it, or \
                 lay it out anew before: shorttail optimize {} --partitions {partitions}",
                layout.partitions,
                storage.location().display()
            ),
        });
    }
    match (
        options.chunks,
        options.codec,
        options.analyzer,
        options.texts,
        options.pairs,
    ) {
        (Some(chunks), ..) if chunks != manifest.chunks => {
            differs("--chunks", &manifest.chunks, &chunks)
        }
        (_, Some(codec), ..) if codec != manifest.codec => {
            differs("--codec", &manifest.codec.name(), &codec.name())
        }
        (_, _, Some(analyzer), ..) if analyzer != manifest.analyzer => {
            differs("--analyzer", &manifest.analyzer.name(), &analyzer.name())
        }
        (_, _, _, Some(texts), _) if texts != manifest.texts => {
            differs("--texts", &manifest.texts.name(), &texts.name())
        }
        (.., Some(pairs)) if pairs != manifest.pairs => {
            differs("--pairs", &manifest.pairs.name(), &pairs.name())
        }
        _ => Ok(manifest),
    }
}
