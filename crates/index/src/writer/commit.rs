//! The commit: what later documents replace is deleted, statistics are made, the manifest is put in place.

use super::CommitSummary;
use crate::build::merge::find_replaced;
use crate::build::segment::BuiltSegment;
use crate::deletions::Deletions;
use crate::leftovers::remove_leftovers;
use crate::manifest::{self, FileEntry, Manifest, SegmentEntry};
use crate::opener::{open_segment, open_store};
use crate::optimize::rewrite::{RewriteOptions, rewrite};
use crate::sealed::{Identity, Kind};
use crate::statistics::{self, Deleted};
use crate::store::StorePart;
use crate::{DocId, IndexError, Segment, pairs};
use std::sync::Arc;
use text::Analyzer;
use vfs::SharedStorage;

pub(super) fn commit(
    storage: &SharedStorage,
    mut manifest: Manifest,
    built: Vec<BuiltSegment>,
    order: Option<&RewriteOptions<'_>>,
    threads: usize,
) -> Result<CommitSummary, IndexError> {
    manifest.generation += 1;
    manifest.next_segment += manifest.layout().partitions;
    let mut replaced: u64 = built.iter().map(|segment| segment.documents_replaced).sum();
    let added = built.iter().map(|segment| segment.documents_added).sum();
    for segment in built {
        for (sum, words) in manifest.words_counts.iter_mut().zip(segment.words_counts) {
            *sum += words;
        }
        manifest.documents_count += u64::from(segment.entry.documents_count);
        manifest.segments.push(segment.entry);
    }
    manifest.sort_segments();
    let mut segments = open_segments(storage, &manifest)?;
    replaced += delete_replaced(storage, &mut manifest, &mut segments)?;
    if let Some(options) = order {
        drop(segments);
        rewrite(storage, &mut manifest, options)?;
        segments = open_segments(storage, &manifest)?;
    }
    pairs::write_missing(storage, &mut manifest, &segments, threads)?;
    write_statistics(storage, &mut manifest, segments)?;
    manifest::commit(storage, &manifest)?;
    // The commit is durable by now: files that could not be removed wait for the next writer.
    let _ = remove_leftovers(storage, &manifest);
    Ok(CommitSummary {
        generation: manifest.generation,
        documents_added: added,
        documents_replaced: replaced,
        documents_count: manifest.documents_count,
        index_bytes: manifest.index_bytes(),
        store_bytes: manifest.store_bytes(),
    })
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

/// Deletes, in older segments, the documents that newer ones of the partition replace. Returns how many
/// documents were replaced.
fn delete_replaced(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    segments: &mut [Segment],
) -> Result<u64, IndexError> {
    let mut replaced = 0;
    let mut newly_deleted = Deleted::default();
    let mut from = 0;
    while from < segments.len() {
        let chunks = segments[from].chunks();
        let count = segments[from..]
            .iter()
            .take_while(|s| s.chunks() == chunks)
            .count();
        for (at, gone) in find_replaced(&segments[from..from + count])?
            .into_iter()
            .enumerate()
        {
            if gone.count() == 0 {
                continue;
            }
            replaced += u64::from(gone.count());
            let number = from + at;
            let part = open_store(storage, manifest, &manifest.segments[number])?;
            let analyzer = manifest.analyzer;
            count_words(
                &mut newly_deleted,
                &gone,
                &segments[number],
                part.as_deref(),
                analyzer,
            )?;
            let generation = manifest.generation;
            let index_id = manifest.index_id();
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
        from += count;
    }
    manifest.documents_count -= replaced;
    for (sum, words) in manifest
        .words_counts
        .iter_mut()
        .zip(newly_deleted.words_counts)
    {
        *sum -= words.min(*sum);
    }
    Ok(replaced)
}

/// Writes the statistics of `segments`, all that `manifest` names.
pub(crate) fn write_statistics(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    segments: Vec<Segment>,
) -> Result<(), IndexError> {
    let segments: Vec<_> = segments.into_iter().map(Arc::new).collect();
    let deleted = all_deleted(storage, manifest, &segments)?;
    manifest.statistics = statistics::write(
        storage,
        manifest.index_id(),
        manifest.generation,
        &segments,
        &deleted,
    )?;
    Ok(())
}

/// Adds `gone` to the deletions of a segment and writes them.
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
    let name = deletions_name(entry.segment, generation);
    let number = deletions_number(entry.segment, generation);
    let identity = Identity {
        kind: Kind::Deletions,
        index_id,
        number,
    };
    let seal = deletions.write(storage, &name, identity)?;
    entry.deletions = Some(FileEntry { name, number, seal });
    segment.deletions = Some(Arc::new(deletions));
    Ok(())
}

pub(crate) fn deletions_name(segment: u32, generation: u64) -> String {
    format!("segment-{segment:08}-{generation}.deletions")
}

/// The number in the header of a file of deletions.
pub(crate) fn deletions_number(segment: u32, generation: u64) -> u64 {
    u64::from(segment) << 32 | generation & 0xffff_ffff
}

/// Counts the words of every deleted document of the index.
pub(crate) fn all_deleted(
    storage: &SharedStorage,
    manifest: &Manifest,
    segments: &[Arc<Segment>],
) -> Result<Deleted, IndexError> {
    let mut deleted = Deleted::default();
    for (entry, segment) in manifest.segments.iter().zip(segments) {
        if let Some(gone) = &segment.deletions {
            let part = open_store(storage, manifest, entry)?;
            count_words(
                &mut deleted,
                gone,
                segment,
                part.as_deref(),
                manifest.analyzer,
            )?;
        }
    }
    Ok(deleted)
}

/// Counts the words of the documents `gone`: out of their texts, or of all lists where there are none.
fn count_words(
    deleted: &mut Deleted,
    gone: &Deletions,
    segment: &Segment,
    part: Option<&StorePart>,
    analyzer: Analyzer,
) -> Result<(), IndexError> {
    let Some(part) = part else {
        return deleted.add_from_lists(segment, gone);
    };
    for doc in gone.docs() {
        let url = segment.details(DocId(doc))?.url;
        let text = part.document(&url)?.ok_or_else(|| {
            segment.damaged_at_terms(&format!("the document store has no text for {url:?}"))
        })?;
        deleted.add(&text, analyzer);
    }
    Ok(())
}
