//! Writing of statistics: a base now and then, and only the deletions with most commits.
//!
//! ```text
//! base      counts the segments that were there when it was written
//! deleted   terms of documents deleted since, in files each more than twice as large as the next
//! newer     segments since: their dictionaries count them
//! ```
//!
//! A base is written anew where the index is small, or where newer segments are more than those that it counts, or
//! where newer segments or deleted documents have more than a quarter of its terms. So the amortized cost of a commit
//! is a constant times its changes, and a look-up touches at most twice as many segments as the base counts. Beside merges,
//! which write a base that is due, large files of deleted terms stay as they are, so that no single commit takes long.

use super::deleted::finish_file;
use super::shared::SharedTermsWriter;
use super::steps::TermSteps;
use super::{Deleted, Statistics, TermPlace};
use crate::manifest::{FileEntry, Manifest, StatisticsEntry};
use crate::names::{FileName, statistics_file};
use crate::{IndexError, Segment};
use fst::{Streamer, map::OpBuilder};
use std::collections::HashSet;
use std::sync::Arc;
use vfs::SharedStorage;

/// Terms of all segments up to which every commit writes a base, which takes some milliseconds.
pub(crate) const SMALL_TERMS_MAX: u64 = 1 << 15;
/// Segments that a base may leave uncounted, however few it counts.
const NEWER_SEGMENTS: usize = 32;
/// Terms of the base for each uncounted term, below which a new base is written.
const COUNTED_TERMS: u64 = 4;

/// Small indexes in terms, up to which a commit beside merges writes files of deleted terms together.
const LAYER_SMALLS: u64 = 16;
/// Lower bound on the limit of such a file, in terms.
const LAYER_TERMS_MIN: u64 = 1 << 10;

/// Choice of a commit between a base and layers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayersPolicy {
    /// Terms up to which a base is written.
    pub(crate) small_terms_max: u64,
    /// Files of deleted terms that a merge under way reads, which stay as they are; `None` without one.
    pub(crate) pinned: Option<usize>,
    /// Whether a base that is due is left to the next merge, unless the index is small.
    pub(crate) leaves_base: bool,
}

impl LayersPolicy {
    /// Returns the terms up to which files of deleted terms are written together.
    fn layer_terms_max(&self) -> u64 {
        match self.leaves_base {
            true => (self.small_terms_max * LAYER_SMALLS).max(LAYER_TERMS_MIN),
            false => u64::MAX,
        }
    }
}

/// Calls `each` for every term that a base must hold, in order, with its document frequency and its places.
pub(crate) fn each_shared_term(
    segments: &[Arc<Segment>],
    deleted: &Deleted,
    each: impl FnMut(&[u8], u64, &[TermPlace]) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    each_term_where(segments, deleted, &mut TermSteps::free(), is_shared, each)
}

/// Returns whether a base must hold a term with `places` places and `gone` deleted documents.
fn is_shared(places: usize, gone: u64) -> bool {
    places > 1 || gone > 0
}

/// Calls `each` for every term, in order, with its document frequency and its places.
pub(crate) fn each_term(
    segments: &[Arc<Segment>],
    deleted: &Deleted,
    each: impl FnMut(&[u8], u64, &[TermPlace]) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    each_term_where(segments, deleted, &mut TermSteps::free(), |_, _| true, each)
}

fn each_term_where(
    segments: &[Arc<Segment>],
    deleted: &Deleted,
    steps: &mut TermSteps<'_>,
    is_wanted: impl Fn(usize, u64) -> bool,
    mut each: impl FnMut(&[u8], u64, &[TermPlace]) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let union: OpBuilder = segments.iter().map(|segment| segment.terms()).collect();
    let mut terms = union.union();
    let mut places = Vec::new();
    while let Some((term, found)) = terms.next() {
        steps.term()?;
        let gone = deleted.terms.get(term).copied().unwrap_or(0);
        if !is_wanted(found.len(), gone) {
            continue;
        }
        places.clear();
        for found in found {
            let record = segments[found.index].record(found.value)?;
            places.push(TermPlace {
                segment: found.index as u32,
                record,
            });
        }
        places.sort_unstable_by_key(|place| place.segment);
        let counts = places.iter().map(|place| place.record.documents_count);
        let count: u64 = counts.map(u64::from).sum();
        each(term, count.saturating_sub(gone), &places)?;
    }
    Ok(())
}

/// Writes the statistics of `segments` as one file; `None` where a single segment needs none.
pub(crate) fn write_whole(
    storage: &SharedStorage,
    manifest: &Manifest,
    segments: &[Arc<Segment>],
    deleted: &Deleted,
) -> Result<Option<StatisticsEntry>, IndexError> {
    if segments.len() < 2 && deleted.terms.is_empty() {
        return Ok(None);
    }
    let file = statistics_file(manifest.generation);
    let mut steps = TermSteps::free();
    let file = write_base(storage, manifest, segments, deleted, file, &mut steps)?;
    Ok(Some(StatisticsEntry::Whole(file)))
}

/// Writes the counts of `segments` as the file `file`.
pub(super) fn write_base(
    storage: &SharedStorage,
    manifest: &Manifest,
    segments: &[Arc<Segment>],
    deleted: &Deleted,
    file: FileName,
    steps: &mut TermSteps<'_>,
) -> Result<FileEntry, IndexError> {
    let mut terms = SharedTermsWriter::new(storage, &file.0);
    let push = |term: &[u8], count, places: &[TermPlace]| terms.push(term, count, places);
    each_term_where(segments, deleted, steps, is_shared, push)?;
    finish_file(storage, manifest.index_id(), file, terms)
}

/// Writes the changes of a commit to the statistics `before` it, or a new base. `segments` are those of `manifest`, in
/// its order, and include all that `before` counts; `deleted` are the counts that the commit deleted.
pub(crate) fn write_changes(
    storage: &SharedStorage,
    manifest: &Manifest,
    before: &Statistics,
    segments: &[Arc<Segment>],
    mut deleted: Deleted,
    policy: &LayersPolicy,
) -> Result<Option<StatisticsEntry>, IndexError> {
    let mut layers = before.layers().clone();
    let mut steps = TermSteps::free();
    let pinned = policy.pinned.unwrap_or(0);
    let is_base_due = match base_due(before, segments, &deleted, policy.small_terms_max) {
        BaseDue::No => false,
        BaseDue::First => true,
        BaseDue::Small => policy.pinned.is_none(),
        BaseDue::Large => !policy.leaves_base,
    };
    if is_base_due {
        add_uncounted(&mut deleted, before, &mut steps)?;
        return write_whole(storage, manifest, segments, &deleted);
    }
    if !deleted.terms.is_empty() {
        // Merge with files that are not much larger, so that a term is in few of them.
        for file in before.deleted().rev() {
            let is_pinned = layers.deleted.len() <= pinned;
            let (terms, file_terms) = (deleted.terms.len() as u64, file.terms_count());
            if is_pinned || file_terms > 2 * terms || terms + file_terms > policy.layer_terms_max()
            {
                break;
            }
            deleted.add_file(file, &mut steps)?;
            layers.deleted.pop();
        }
        let file = statistics_file(manifest.generation);
        let file = deleted.write(storage, manifest.index_id(), file)?;
        layers.deleted.push(file);
    }
    // A commit without changes keeps the form.
    let is_whole = layers.deleted.is_empty() && layers.counted.len() == segments.len();
    Ok(match (layers.base.clone(), is_whole) {
        (base, true) => base.map(StatisticsEntry::Whole),
        (_, false) => Some(StatisticsEntry::Layers(layers)),
    })
}

/// Writes a base after segments `removed` became segments `merged`, without their deleted documents. `before` are the
/// statistics before the commit, `deleted` the counts that it deleted, and `segments` all that there are now.
pub(crate) fn write_merged(
    storage: &SharedStorage,
    manifest: &Manifest,
    before: &Statistics,
    (removed, merged): (&[&Segment], &[&Segment]),
    segments: &[Arc<Segment>],
    mut deleted: Deleted,
) -> Result<Option<StatisticsEntry>, IndexError> {
    let mut steps = TermSteps::free();
    add_uncounted(&mut deleted, before, &mut steps)?;
    deleted.drop_merged(removed, merged, &mut steps)?;
    write_whole(storage, manifest, segments, &deleted)
}

/// Adds all deleted documents that lists of segments count and the statistics `before` do not.
pub(super) fn add_uncounted(
    deleted: &mut Deleted,
    before: &Statistics,
    steps: &mut TermSteps<'_>,
) -> Result<(), IndexError> {
    if let Some(base) = before.base() {
        deleted.add_base(base, steps)?;
    }
    deleted.add_files(before.deleted(), steps)
}

/// Reason to write a base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseDue {
    No,
    /// There is none.
    First,
    /// The index is small.
    Small,
    /// Much is not counted by the base.
    Large,
}

/// Returns whether a new base is needed after the statistics `before`.
pub(super) fn base_due(
    before: &Statistics,
    segments: &[Arc<Segment>],
    deleted: &Deleted,
    small_terms_max: u64,
) -> BaseDue {
    let layers = before.layers();
    let counted: HashSet<u32> = layers.counted.iter().copied().collect();
    let is_counted = |segment: &&Arc<Segment>| counted.contains(&segment.id());
    let terms_of = |counted: bool| -> u64 {
        let segments = segments.iter().filter(|s| is_counted(s) == counted);
        segments.map(|segment| segment.meta().terms_count).sum()
    };
    let (counted_terms, newer_terms) = (terms_of(true), terms_of(false));
    let gone = before.deleted().map(|file| file.terms_count());
    let deleted_terms = gone.sum::<u64>() + deleted.terms.len() as u64;
    let newer_segments = segments
        .iter()
        .filter(|segment| !is_counted(segment))
        .count();
    let is_large = newer_segments > NEWER_SEGMENTS.max(layers.counted.len())
        || newer_terms.max(deleted_terms) * COUNTED_TERMS > counted_terms;
    match () {
        () if layers.counted.is_empty() => BaseDue::First,
        () if counted_terms + newer_terms <= small_terms_max => BaseDue::Small,
        () if is_large => BaseDue::Large,
        () => BaseDue::No,
    }
}
