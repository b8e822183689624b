//! Plausibility checks of a manifest before any file that it names is opened.
//!
//! A checksum proves that a manifest is unchanged, not that this program wrote it. Every file must have the name that
//! its segment or generation implies, and every segment must occur once. So the files in the directory bound work and
//! memory, for any contents of the manifest.

use super::contents::{FileEntry, Manifest, SegmentEntry, StatisticsEntry, StatisticsLayers};
use crate::Texts;
use crate::layout::CHUNKS_MAX;
use crate::names::{
    columns_name, deletions_name, deletions_number, documents_name, index_name,
    merged_statistics_file, merged_statistics_segment, pairs_name, statistics_file,
};
use crate::sealed::{HEADER_BYTES, TAIL_BYTES};
use crate::segment::DOCUMENTS_MAX;
use std::collections::HashSet;

/// Returns the first defect of a manifest; `None` where it has none.
pub(super) fn implausible(manifest: &Manifest) -> Option<String> {
    layout(manifest)
        .or_else(|| texts(manifest))
        .or_else(|| segments(manifest))
        .or_else(|| counts(manifest))
        .or_else(|| statistics(manifest))
        .or_else(|| fields(manifest))
        .or_else(|| manifest.rules.check().err())
}

fn fields(manifest: &Manifest) -> Option<String> {
    let text_fields = manifest.fields.text_fields();
    let is_known = |number: &u8| text_fields.get(*number).is_some();
    let is_sound = manifest.fields.is_sound() && manifest.further_words.keys().all(is_known);
    (!is_sound).then(|| "its fields of text have other numbers or settings than any index".into())
}

fn layout(manifest: &Manifest) -> Option<String> {
    let layout = manifest.layout();
    if layout.chunks > CHUNKS_MAX {
        let chunks = layout.chunks;
        return Some(format!("{chunks} chunks: an index has 1 to {CHUNKS_MAX}"));
    }
    if !(1..=layout.chunks).contains(&layout.partitions) {
        return Some(
            "the index has no chunks, or other partitions than its chunks can be laid out for"
                .into(),
        );
    }
    let fits = |entry: &SegmentEntry| {
        let first = entry.chunks.first();
        first < layout.chunks
            && layout.chunks_of(layout.partition_of(first)) == entry.chunks.range()
    };
    (!manifest.segments.iter().all(fits))
        .then(|| "a segment has chunks that are no partition of the index".into())
}

fn texts(manifest: &Manifest) -> Option<String> {
    let with_texts = manifest.texts == Texts::Stored;
    let mut entries = manifest.segments.iter();
    entries
        .any(|entry| entry.documents.is_some() != with_texts)
        .then(|| "a segment has texts and the index none, or the other way round".into())
}

fn segments(manifest: &Manifest) -> Option<String> {
    let place = |entry: &SegmentEntry| (entry.chunks.first(), entry.segment);
    if !manifest.segments.is_sorted_by_key(place) {
        return Some("the segments are not in the order of partitions and age".into());
    }
    let mut numbers = HashSet::new();
    for entry in &manifest.segments {
        let segment = entry.segment;
        if !numbers.insert(segment) {
            return Some(format!("segment {segment} stands in it twice"));
        }
        if !(1..manifest.next_segment).contains(&segment) {
            let next = manifest.next_segment;
            return Some(format!(
                "segment {segment} has no number from 1 to before {next}, the next one"
            ));
        }
        if let Some(file) = misnamed(entry, manifest.generation) {
            return Some(format!(
                "segment {segment} cannot have a file {:?}",
                file.name
            ));
        }
    }
    let too_short = (HEADER_BYTES + TAIL_BYTES) as u64;
    let short = manifest.files().find(|file| file.seal.bytes < too_short);
    short.map(|file| {
        let bytes = file.seal.bytes;
        format!("no file has {bytes} bytes, as {} should", file.name)
    })
}

/// Returns a file of a segment whose name or number this program would not have given.
fn misnamed(entry: &SegmentEntry, generation: u64) -> Option<&FileEntry> {
    let number = u64::from(entry.segment);
    let is = |file: &FileEntry, name: String| file.name == name && file.number == number;
    let deleted = |file: &FileEntry| {
        // The number holds the low half of the generation, the name all of it.
        let since = file.name.rsplit_once('-').map_or("", |(_, since)| since);
        let since = since.strip_suffix(".deletions").unwrap_or("");
        since.parse().is_ok_and(|since| {
            (1..=generation).contains(&since)
                && file.name == deletions_name(entry.segment, since)
                && file.number == deletions_number(entry.segment, since)
        })
    };
    if !is(&entry.index, index_name(entry.segment)) {
        return Some(&entry.index);
    }
    let wrong = |file: &&FileEntry, right: bool| (!right).then_some(*file).is_some();
    let documents = entry.documents.as_ref();
    let documents = documents.filter(|f| wrong(f, is(f, documents_name(entry.segment))));
    let pairs = entry.pairs.as_ref();
    let pairs = pairs.filter(|f| wrong(f, is(f, pairs_name(entry.segment))));
    let columns = entry.columns.as_ref();
    let columns = columns.filter(|f| wrong(f, is(f, columns_name(entry.segment))));
    let deletions = entry.deletions.as_ref().filter(|f| wrong(f, deleted(f)));
    documents.or(pairs).or(columns).or(deletions)
}

fn counts(manifest: &Manifest) -> Option<String> {
    let mut bytes = manifest.files().map(|file| file.seal.bytes);
    let sum = bytes.try_fold(0u64, |sum, bytes| sum.checked_add(bytes));
    if sum.is_none() {
        return Some("its files have more bytes together than any disk".into());
    }
    for entry in &manifest.segments {
        let (count, bytes) = (entry.documents_count, entry.index.seal.bytes);
        // Each document takes at least a hash and its lengths.
        if count > DOCUMENTS_MAX || u64::from(count) > bytes {
            let segment = entry.segment;
            return Some(format!(
                "segment {segment} cannot have {count} documents in {bytes} bytes"
            ));
        }
    }
    let in_segments: u64 = manifest
        .segments
        .iter()
        .map(|entry| u64::from(entry.documents_count))
        .sum();
    let live = manifest.documents_count;
    let none_deleted = manifest.segments.iter().all(|e| e.deletions.is_none());
    (live > in_segments || none_deleted && live < in_segments)
        .then(|| format!("it says {live} documents, and its segments {in_segments}"))
}

fn statistics(manifest: &Manifest) -> Option<String> {
    let generation = manifest.generation;
    let misnamed = |file: &&FileEntry| {
        let (known, is_older) = match merged_statistics_segment(file.number) {
            Some(segment) => {
                let is_older = (1..manifest.next_segment).contains(&segment);
                (merged_statistics_file(segment), is_older)
            }
            None => {
                let is_older = (1..=generation).contains(&file.number);
                (statistics_file(file.number), is_older)
            }
        };
        file.name != known.0 || !is_older
    };
    let Some(entry) = &manifest.statistics else {
        let deleted = manifest.segments.iter().any(|e| e.deletions.is_some());
        // A single segment without deleted documents needs no statistics file; anything else does.
        return (manifest.segments.len() > 1 || deleted)
            .then(|| "it names no statistics, and its segments need them".into());
    };
    if let Some(file) = entry.files().find(misnamed) {
        return Some(format!(
            "generation {generation} cannot have a file {:?}",
            file.name
        ));
    }
    match entry {
        StatisticsEntry::Layers(layers) => layered(manifest, layers),
        StatisticsEntry::Whole(_) => None,
    }
}

fn layered(manifest: &Manifest, layers: &StatisticsLayers) -> Option<String> {
    let mut names = HashSet::new();
    let mut files = layers.base.iter().chain(&layers.deleted);
    if !files.all(|file| names.insert(&file.name)) {
        return Some("a file of statistics stands in it twice".into());
    }
    let mut counted = layers.counted.iter().peekable();
    for entry in &manifest.segments {
        counted.next_if(|&&segment| segment == entry.segment);
    }
    if counted.next().is_some() {
        return Some("its statistics count segments that it has not, or in another order".into());
    }
    (layers.base.is_none() && layers.counted.len() != 1)
        .then(|| "its statistics have no base, and its segments need one".into())
}

#[cfg(test)]
mod tests;
