//! Verifying everything: checksums, structure, cross references.
//!
//! Reading an index verifies checksums of what is read, which finds what disks do to files. A check verifies all of them,
//! decodes every list and text, and compares what is said twice, which finds what a faulty program would do to them.

mod older;
mod pairs;
mod segment;

use crate::leftovers::{self, Stray, Unfinished};
use crate::manifest::{self, Manifest, StatisticsEntry};
use crate::opener::{open_store, open_verified_segment};
use crate::statistics::{Deleted, SharedTerms, Statistics, each_shared_term, each_term};
use crate::writer::all_deleted;
use crate::{Field, IndexError, Segment};
use fst::Streamer;
use std::sync::Arc;
use vfs::{SharedStorage, StorageError};

/// What `check` looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Generation checked.
    pub generation: u64,
    /// The generation before it, whose files are kept for readers that just opened it.
    pub generation_before: Option<u64>,
    /// Chunks of the index.
    pub chunks: u64,
    /// Partitions that they are laid out for.
    pub partitions: u64,
    /// Files read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Segments.
    pub segments: u64,
    /// Segments in each order, as in `Order::ALL`.
    pub segments_by_order: [u64; 3],
    /// Live documents.
    pub documents: u64,
    /// Terms, summed over segments and fields.
    pub terms: u64,
    /// Postings.
    pub postings: u64,
    /// Positions.
    pub positions: u64,
    /// What stands in the directory and belongs to none of these generations, by name.
    pub strays: Vec<Stray>,
    /// A newer generation of which there are files and no manifest.
    pub unfinished: Option<Unfinished>,
}

/// Checks the newest generation, and the seals of what only the generation before it has. Returns what
/// was looked at and every damage found (at most `damages_max`, then it ends); `Err` only where
/// checking itself could not go on.
pub fn check(
    storage: SharedStorage,
    damages_max: usize,
) -> Result<(CheckReport, Vec<IndexError>), IndexError> {
    let mut report = CheckReport::default();
    let mut damages = Damages {
        found: Vec::new(),
        max: damages_max,
    };
    let manifest = match manifest::read_newest(&storage) {
        Ok(Some(manifest)) => manifest,
        Ok(None) => {
            return Err(IndexError::NoIndex {
                path: storage.location(),
            });
        }
        Err(damage @ IndexError::Damaged { .. }) => {
            damages.add(damage);
            older::check(&storage, None, &mut report, &mut damages)?;
            return Ok((report, damages.found));
        }
        Err(error) => return Err(error),
    };
    report.generation = manifest.generation;
    let layout = manifest.layout();
    report.chunks = layout.chunks.into();
    report.partitions = layout.partitions.into();
    report.files = 1 + manifest.files_count() as u64;
    report.bytes = manifest.bytes();
    report.documents = manifest.documents_count;
    let segments = check_segments(&storage, &manifest, &mut report, &mut damages)?;
    if segments.len() == manifest.segments.len() && damages.found.is_empty() {
        if let Err(damage) = check_counts(&storage, &manifest, segments) {
            damages.add(missing_is_damage(damage)?);
        }
    } else if let Err(damage) = open_statistics(&storage, &manifest, Vec::new()) {
        damages.add(missing_is_damage(damage)?);
    }
    let before = older::check(&storage, Some(&manifest), &mut report, &mut damages)?;
    report.unfinished = leftovers::unfinished(&storage, &manifest)?;
    let kept: Vec<Manifest> = [manifest].into_iter().chain(before).collect();
    report.strays = leftovers::strays(&storage, &kept)?;
    Ok((report, damages.found))
}

/// Damage found so far.
struct Damages {
    found: Vec<IndexError>,
    max: usize,
}

impl Damages {
    fn add(&mut self, damage: IndexError) {
        if self.found.len() < self.max {
            self.found.push(damage);
        }
    }

    /// Whether no further damage is kept, so that the search for it may end.
    fn is_full(&self) -> bool {
        self.found.len() >= self.max
    }
}

/// A file that the manifest names and that is not there is damage; other troubles of the disk end the check.
fn missing_is_damage(error: IndexError) -> Result<IndexError, IndexError> {
    match error {
        IndexError::Storage(StorageError::NotFound { path }) => Ok(IndexError::Damaged {
            path,
            offset: 0,
            what: "the manifest names this file, but it is not there".into(),
        }),
        damage @ IndexError::Damaged { .. } => Ok(damage),
        other => Err(other),
    }
}

/// Checks every segment with its texts; returns those that could be opened.
fn check_segments(
    storage: &SharedStorage,
    manifest: &Manifest,
    report: &mut CheckReport,
    damages: &mut Damages,
) -> Result<Vec<Arc<Segment>>, IndexError> {
    let mut segments = Vec::new();
    for entry in &manifest.segments {
        if damages.is_full() {
            break;
        }
        report.segments += 1;
        report.segments_by_order[entry.order as usize] += 1;
        let segment = open_verified_segment(storage, manifest, entry);
        let store = open_store(storage, manifest, entry).and_then(|part| {
            part.as_ref()
                .map_or(Ok(()), |part| part.file().verify_whole())?;
            Ok(part)
        });
        let outcome = match (segment, store) {
            (Ok(opened), Ok(store)) => {
                let outcome = segment::check(&opened, manifest.layout(), store.as_deref(), report);
                segments.push(Arc::new(opened));
                outcome
            }
            (segment, store) => {
                for error in [segment.err(), store.err()].into_iter().flatten() {
                    damages.add(missing_is_damage(error)?);
                }
                Ok(())
            }
        };
        if let Err(damage) = outcome {
            damages.add(missing_is_damage(damage)?);
        }
    }
    Ok(segments)
}

/// Opens the statistics, verified whole.
fn open_statistics(
    storage: &SharedStorage,
    manifest: &Manifest,
    segments: Vec<Arc<Segment>>,
) -> Result<Statistics, IndexError> {
    let statistics = Statistics::open(storage, manifest, segments, None)?;
    statistics
        .files()
        .try_for_each(|file| file.verify_whole())?;
    Ok(statistics)
}

/// Compares the manifest's counts and the statistics file with what the segments hold.
fn check_counts(
    storage: &SharedStorage,
    manifest: &Manifest,
    segments: Vec<Arc<Segment>>,
) -> Result<(), IndexError> {
    let wrong = |name: &str, what: String| IndexError::Damaged {
        path: storage.location().join(name),
        offset: 0,
        what,
    };
    let name = manifest::manifest_name(manifest.generation);
    let live: u64 = segments
        .iter()
        .map(|s| u64::from(s.live_documents_count()))
        .sum();
    if live != manifest.documents_count {
        let what = format!("says {} documents, found {live}", manifest.documents_count);
        return Err(wrong(&name, what));
    }
    let deleted = all_deleted(storage, manifest, &segments)?;
    for field in 0..2 {
        let all: u64 = segments.iter().map(|s| s.meta().words_counts[field]).sum();
        let said = manifest.words_counts[field];
        if all.checked_sub(deleted.words_counts[field]) != Some(said) {
            return Err(wrong(
                &name,
                format!("says {said} words of field {field}, not so found"),
            ));
        }
    }
    let statistics = open_statistics(storage, manifest, segments.clone())?;
    match &manifest.statistics {
        Some(StatisticsEntry::Whole(file)) => {
            check_whole(&statistics, &segments, &deleted, |what| {
                wrong(&file.name, what)
            })
        }
        Some(StatisticsEntry::Layers(_)) => {
            check_layers(&statistics, &segments, &deleted, |what| wrong(&name, what))
        }
        None => Ok(()),
    }
}

/// Compares a file that counts all segments with them, term by term.
fn check_whole(
    statistics: &Statistics,
    segments: &[Arc<Segment>],
    deleted: &Deleted,
    wrong: impl Fn(String) -> IndexError,
) -> Result<(), IndexError> {
    let mut terms = statistics.base().map(|shared| (shared, shared.stream()));
    each_shared_term(segments, deleted, |term, count, places| {
        if let Some((shared, terms)) = &mut terms
            && let Some((found, ordinal)) = terms.next()
            && found == term
        {
            let (found_count, found_places) = shared.at(ordinal)?;
            if found_count == count && *found_places == *places {
                return Ok(());
            }
        }
        Err(wrong(differs(term, count)))
    })
}

/// Compares what a base and changes say together with all segments, by looking every term up.
fn check_layers(
    statistics: &Statistics,
    segments: &[Arc<Segment>],
    deleted: &Deleted,
    wrong: impl Fn(String) -> IndexError,
) -> Result<(), IndexError> {
    let mut in_base = 0;
    each_term(segments, deleted, |term, count, places| {
        let Some((field, word)) = Field::split(term) else {
            return Err(wrong(differs(term, count)));
        };
        in_base += u64::from(
            statistics
                .base()
                .map_or(Ok(None), |base| base.find(term))?
                .is_some(),
        );
        let found =
            std::str::from_utf8(word).map_or(Ok(None), |word| statistics.term(field, word))?;
        let is_same = match &found {
            Some(found) => found.document_frequency == count && *found.places == *places,
            None => count == 0,
        };
        is_same
            .then_some(())
            .ok_or_else(|| wrong(differs(term, count)))
    })?;
    let rows = statistics.base().map_or(0, SharedTerms::terms_count);
    if in_base != rows {
        let what = format!(
            "the base of the statistics has {rows} terms, of which {in_base} stand in segments"
        );
        return Err(wrong(what));
    }
    for file in statistics.deleted() {
        let mut terms = file.stream();
        while let Some((term, ordinal)) = terms.next() {
            let (gone, _) = file.at(ordinal)?;
            if deleted
                .terms
                .get(term)
                .is_none_or(|&all| gone == 0 || gone > all)
            {
                return Err(wrong(differs(term, gone)));
            }
        }
    }
    Ok(())
}

fn differs(term: &[u8], count: u64) -> String {
    let term = String::from_utf8_lossy(term.get(1..).unwrap_or(&[]));
    format!("term {term:?} has {count} documents, not so said here")
}
