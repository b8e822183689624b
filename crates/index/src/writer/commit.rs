//! Commit: deletion of replaced and named documents, new statistics, and the manifest.
//!
//! Of existing segments, a commit reads headers, and the directories of texts where new URLs would be. It reads all
//! hashes only of segments that lose documents, and those documents.

use super::lock::WriteLock;
use super::removals::{Removals, Removed};
use crate::build::segment::BuiltSegment;
use crate::deletions::Deletions;
use crate::derive::{self, Gathered};
use crate::leftovers::remove_leftovers;
use crate::manifest::{self, FileEntry, Manifest, SegmentEntry};
use crate::names::{deletions_name, deletions_number};
use crate::opener::{Opener, open_segments};
use crate::optimize::rewrite::{RewriteOptions, merge_segments, rewrite};
use crate::sealed::{Identity, Kind};
use crate::sources::Sources;
use crate::statistics::{self, Deleted, LayersPolicy, count_words, write_statistics};
use crate::store::StorePart;
use crate::{IndexError, MergeReservation, MergedSegments, Segment, Statistics, pairing};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use vfs::SharedStorage;

/// Options of a commit.
pub(super) struct CommitOptions<'a> {
    /// Lock that excludes other writers.
    pub(super) lock: &'a WriteLock,
    /// Order to put the whole index into.
    pub(super) order: Option<RewriteOptions<'a>>,
    pub(super) threads: usize,
    /// Choice of the form of statistics.
    pub(super) layers: LayersPolicy,
    /// Finished merge to install.
    pub(super) merged: Option<&'a MergedSegments>,
    /// Files of a merge under way, or of the finished one.
    pub(super) reservation: Option<&'a MergeReservation>,
    /// URLs of earlier documents to delete.
    pub(super) deleted_urls: &'a [String],
    /// Fields of the documents added.
    pub(super) gathered: &'a Gathered,
    /// Segments of a partition above which small ones are merged.
    pub(super) segments_max: usize,
    /// Options of the merge.
    pub(super) merging: RewriteOptions<'a>,
}

/// Summary of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitSummary {
    /// Committed generation.
    pub generation: u64,
    /// Documents added, replacements included.
    pub documents_added: u64,
    /// Earlier documents replaced by later ones with the same URL.
    pub documents_replaced: u64,
    /// Earlier documents deleted by their URLs.
    pub documents_deleted: u64,
    /// Segments merged into others, those of this commit included.
    pub segments_merged: u64,
    /// Live documents of the whole index.
    pub documents_count: u64,
    /// Bytes of the search index, without the document store.
    pub index_bytes: u64,
    /// Bytes of the document store.
    pub store_bytes: u64,
    /// Fields of the whole index.
    pub fields: fields::Schema,
    /// Values of the documents added that do not fit the type of their field, by field.
    pub misfits: BTreeMap<String, u64>,
}

pub(super) fn commit(
    sources: &Arc<Sources>,
    mut manifest: Manifest,
    built: Vec<BuiltSegment>,
    options: &CommitOptions<'_>,
) -> Result<CommitSummary, IndexError> {
    let storage: &SharedStorage = &(Arc::clone(sources) as SharedStorage);
    manifest.generation += 1;
    let inherited = match options.merged {
        Some(merged) => merged.install(storage, &mut manifest)?,
        None => BTreeMap::new(),
    };
    let before = manifest.clone();
    manifest.next_segment += manifest.layout().partitions;
    let mut replaced: u64 = built.iter().map(|segment| segment.documents_replaced).sum();
    let added = built.iter().map(|segment| segment.documents_added).sum();
    for segment in built {
        for (sum, words) in manifest.words_counts.iter_mut().zip(segment.words_counts) {
            *sum += words;
        }
        for (number, words) in segment.further_words {
            *manifest.further_words.entry(number).or_default() += words;
        }
        manifest.documents_count += u64::from(segment.entry.documents_count);
        manifest.segments.push(segment.entry);
    }
    manifest.sort_segments();
    let opened = Opener::new(storage, &manifest, None).open_parts()?;
    let (mut segments, texts): (Vec<_>, Vec<_>) = opened.into_iter().unzip();
    for segment in &mut segments {
        if let Some(gone) = inherited.get(&segment.id()) {
            segment.deletions = Some(Arc::clone(gone));
        }
    }
    let first_new = before.next_segment;
    let named = options.deleted_urls;
    let (deleted, named_count) = delete_removed(
        storage,
        &mut manifest,
        &mut segments,
        &texts,
        first_new,
        named,
    )?;
    drop(texts);
    write_inherited(storage, &mut manifest, &segments)?;
    replaced += deleted.documents_count - named_count;
    let (misfits, mut merged);
    merged = options.merged.map_or(0, MergedSegments::sources_count);
    match &options.order {
        Some(order) => {
            drop(segments);
            rewrite(storage, &mut manifest, order)?;
            segments = open_segments(storage, &manifest)?;
            pairing::write_missing(storage, &mut manifest, &segments, 0, options.threads)?;
            // Segments have new numbers now, and documents of earlier ones.
            misfits = derive::write_missing(storage, &mut manifest, &segments, 0, None)?;
            write_statistics(storage, &mut manifest, segments)?;
        }
        None => {
            let gathered = Some(options.gathered);
            misfits =
                derive::write_missing(storage, &mut manifest, &segments, first_new, gathered)?;
            let segments_max = options.segments_max;
            let merging = &options.merging;
            let within = merge_segments(storage, &mut manifest, segments_max, merging)?;
            merged += within;
            if within == 0 {
                let threads = options.threads;
                pairing::write_missing(storage, &mut manifest, &segments, first_new, threads)?;
                let layers = &options.layers;
                change_statistics(storage, &before, &mut manifest, segments, deleted, layers)?;
            } else {
                let older = std::mem::take(&mut segments);
                segments = open_segments(storage, &manifest)?;
                pairing::write_missing(storage, &mut manifest, &segments, 0, options.threads)?;
                // All fields are known by now.
                let known = Some(&Gathered::default());
                derive::write_missing(storage, &mut manifest, &segments, 0, known)?;
                merge_statistics(storage, &before, &mut manifest, (older, segments), deleted)?;
            }
        }
    }
    options.lock.ensure_current()?;
    manifest::commit(storage, &manifest, &sources.ensure_unchanged()?)?;
    // Files of the installed merge that the generation does not name, as statistics written anew, are leftovers.
    let under_way = options.reservation.filter(|_| options.merged.is_none());
    // The commit is durable now; the next writer removes files that could not be removed.
    let _ = remove_leftovers(storage, &manifest, under_way);
    Ok(CommitSummary {
        generation: manifest.generation,
        documents_added: added,
        documents_replaced: replaced,
        documents_deleted: named_count,
        segments_merged: merged,
        documents_count: manifest.documents_count,
        index_bytes: manifest.index_bytes(),
        store_bytes: manifest.store_bytes(),
        fields: manifest.fields,
        misfits,
    })
}

/// Deletes documents that those of the segments from `first_new` on replace, and documents with the URLs `named`.
/// Returns their counts, and the number of deleted documents without a replacement.
fn delete_removed(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    segments: &mut [Segment],
    texts: &[Option<Arc<StorePart>>],
    first_new: u32,
    named: &[String],
) -> Result<(Deleted, u64), IndexError> {
    let mut deleted = Deleted::default();
    let mut named_count = 0;
    let mut from = 0;
    while from < segments.len() {
        let chunks = segments[from].chunks();
        let same = segments[from..].iter().take_while(|s| s.chunks() == chunks);
        let partition = from..from + same.count();
        let removed = find_removed(segments, texts, &partition, first_new, named)?;
        for (
            number,
            Removed {
                documents: gone,
                named_count: of_segment,
            },
        ) in removed
        {
            named_count += of_segment;
            let (segment, part) = (&segments[number], texts[number].as_deref());
            count_words(&mut deleted, &gone, segment, part, manifest)?;
            deleted.documents_count += u64::from(gone.count());
            let (index_id, generation) = (manifest.index_id(), manifest.generation);
            let entry = &mut manifest.segments[number];
            delete(
                storage,
                index_id,
                generation,
                entry,
                &mut segments[number],
                &gone,
            )?;
        }
        from = partition.end;
    }
    manifest.documents_count -= deleted.documents_count;
    for (sum, words) in manifest.words_counts.iter_mut().zip(deleted.words_counts) {
        *sum -= words.min(*sum);
    }
    for (number, words) in &deleted.further_words {
        if let Some(sum) = manifest.further_words.get_mut(number) {
            *sum = sum.saturating_sub(*words);
        }
    }
    manifest.further_words.retain(|_, words| *words > 0);
    Ok((deleted, named_count))
}

/// Returns the documents that leave segments of a partition, by segment number.
fn find_removed(
    segments: &[Segment],
    texts: &[Option<Arc<StorePart>>],
    partition: &Range<usize>,
    first_new: u32,
    named: &[String],
) -> Result<Vec<(usize, Removed)>, IndexError> {
    let removals = Removals::of(&segments[partition.clone()], first_new, named)?;
    let mut removed = Vec::new();
    for number in partition.clone() {
        let found = removals.from(&segments[number], texts[number].as_deref())?;
        removed.extend(found.map(|found| (number, found)));
    }
    Ok(removed)
}

/// Writes the changes of the statistics since the generation `before`. `segments` are all that `manifest` names.
fn change_statistics(
    storage: &SharedStorage,
    before: &Manifest,
    manifest: &mut Manifest,
    segments: Vec<Segment>,
    deleted: Deleted,
    policy: &LayersPolicy,
) -> Result<(), IndexError> {
    let segments: Vec<_> = segments.into_iter().map(Arc::new).collect();
    let before = Statistics::open(storage, before, Vec::new(), None)?;
    manifest.statistics =
        statistics::write_changes(storage, manifest, &before, &segments, deleted, policy)?;
    Ok(())
}

/// Writes the statistics after a merge: `older` are the segments before it, those of this commit included, and `newer`
/// all that `manifest` names.
fn merge_statistics(
    storage: &SharedStorage,
    before: &Manifest,
    manifest: &mut Manifest,
    (older, newer): (Vec<Segment>, Vec<Segment>),
    deleted: Deleted,
) -> Result<(), IndexError> {
    let newer: Vec<_> = newer.into_iter().map(Arc::new).collect();
    let ids_before: HashSet<u32> = older.iter().map(Segment::id).collect();
    let ids_after: HashSet<u32> = newer.iter().map(|segment| segment.id()).collect();
    let removed = older.iter();
    let removed = removed.filter(|segment| !ids_after.contains(&segment.id()));
    let merged = newer.iter().map(Arc::as_ref);
    let merged = merged.filter(|segment| !ids_before.contains(&segment.id()));
    let (removed, merged): (Vec<_>, Vec<_>) = (removed.collect(), merged.collect());
    let before = Statistics::open(storage, before, Vec::new(), None)?;
    manifest.statistics = statistics::write_merged(
        storage,
        manifest,
        &before,
        (&removed, &merged),
        &newer,
        deleted,
    )?;
    Ok(())
}

/// Adds `gone` to the deletions of a segment, and writes them.
fn delete(
    storage: &SharedStorage,
    index_id: u128,
    generation: u64,
    entry: &mut SegmentEntry,
    segment: &mut Segment,
    gone: &Deletions,
) -> Result<(), IndexError> {
    let documents_count = segment.documents_count();
    let mut deletions = match segment.deletions.take() {
        Some(deletions) => Arc::unwrap_or_clone(deletions),
        None => Deletions::none(documents_count),
    };
    gone.docs().for_each(|doc| {
        deletions.insert(doc);
    });
    write_deletions(storage, index_id, generation, entry, &deletions)?;
    segment.deletions = Some(Arc::new(deletions));
    Ok(())
}

/// Writes the deletions of segments that have some from their sources, and that the commit left as they are.
fn write_inherited(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    segments: &[Segment],
) -> Result<(), IndexError> {
    let (index_id, generation) = (manifest.index_id(), manifest.generation);
    for (entry, segment) in manifest.segments.iter_mut().zip(segments) {
        if let Some(gone) = &segment.deletions
            && entry.deletions.is_none()
        {
            write_deletions(storage, index_id, generation, entry, gone)?;
        }
    }
    Ok(())
}

fn write_deletions(
    storage: &SharedStorage,
    index_id: u128,
    generation: u64,
    entry: &mut SegmentEntry,
    deletions: &Deletions,
) -> Result<(), IndexError> {
    let name = deletions_name(entry.segment, generation);
    let number = deletions_number(entry.segment, generation);
    let identity = Identity {
        kind: Kind::Deletions,
        index_id,
        number,
    };
    let seal = deletions.write(storage, &name, identity)?;
    entry.deletions = Some(FileEntry { name, number, seal });
    Ok(())
}
