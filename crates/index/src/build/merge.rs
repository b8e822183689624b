//! Runs of a chunk to one segment: documents one run after another, replaced ones left out.

use crate::deletions::Deletions;
use crate::segment::write::{DocumentRow, SegmentWriter};
use crate::{DocId, Field, IndexError, Segment, TermRecord, length};
use fst::{Streamer, map::OpBuilder};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Postings after which the pages read so far are given back.
const RELEASE_BYTES: u64 = 8 << 20;

/// Where the documents of a run go: a constant more, or one by one.
struct NewIds {
    base: u32,
    gone: Deletions,
    /// Documents gone before every 64th document, where any is gone.
    gone_before: Option<Vec<u32>>,
}

impl NewIds {
    fn get(&self, doc: u32) -> Option<u32> {
        let Some(gone_before) = &self.gone_before else {
            return Some(self.base + doc);
        };
        if self.gone.contains(doc) {
            return None;
        }
        let start = doc / 64 * 64;
        let inside = (start..doc).filter(|&doc| self.gone.contains(doc)).count() as u32;
        Some(self.base + doc - gone_before[doc as usize / 64] - inside)
    }
}

/// Merges some neighbouring runs into one, every document kept.
pub(crate) fn join_runs(
    runs: &[Segment],
    chunk: u32,
    out: &mut SegmentWriter,
) -> Result<(), IndexError> {
    let gone = runs
        .iter()
        .map(|run| Deletions::none(run.documents_count()))
        .collect();
    write_merged(runs, gone, chunk, out, |_, _| Ok(()))
}

/// Merges `runs`, of which a later one replaces documents of earlier ones. `entry` gets, in order of
/// the hash, the URL hash and the ordinal of every document kept; ordinals count the documents of all
/// runs, replaced ones included. Returns how many were replaced.
pub(crate) fn merge_runs(
    runs: &[Segment],
    chunk: u32,
    out: &mut SegmentWriter,
    entry: impl FnMut(u64, u64) -> Result<(), IndexError>,
) -> Result<u64, IndexError> {
    let gone = find_replaced(runs)?;
    let replaced = gone.iter().map(|gone| u64::from(gone.count())).sum();
    write_merged(runs, gone, chunk, out, entry)?;
    Ok(replaced)
}

fn write_merged(
    runs: &[Segment],
    gone: Vec<Deletions>,
    chunk: u32,
    out: &mut SegmentWriter,
    mut entry: impl FnMut(u64, u64) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let new_ids = number(runs, gone, chunk)?;
    merge_terms(runs, &new_ids, out)?;
    merge_documents(runs, &new_ids, out)?;
    let mut ordinals = Vec::with_capacity(runs.len());
    let mut next = 0u64;
    for run in runs {
        ordinals.push(next);
        next += u64::from(run.documents_count());
    }
    each_by_hash(runs, |hash, run, doc| {
        if let Some(new_id) = new_ids[run].get(doc) {
            out.push_by_hash(new_id)?;
            entry(hash, ordinals[run] + u64::from(doc))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Calls `each(hash, segment, doc)` for all documents in order of (hash, segment, doc).
pub(crate) fn each_by_hash<S: AsRef<Segment>>(
    segments: &[S],
    mut each: impl FnMut(u64, usize, u32) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let at = |number: usize, rank: u32| {
        let segment: &Segment = segments[number].as_ref();
        let doc = segment.by_hash(rank);
        (rank < segment.documents_count())
            .then(|| Reverse((segment.url_hash(DocId(doc)), number, doc, rank)))
    };
    let mut heap: BinaryHeap<_> = (0..segments.len())
        .filter_map(|number| at(number, 0))
        .collect();
    while let Some(Reverse((hash, number, doc, rank))) = heap.pop() {
        each(hash, number, doc)?;
        heap.extend(at(number, rank + 1));
    }
    Ok(())
}

/// Documents of each segment that a later one replaces: same hash, same URL.
pub(crate) fn find_replaced<S: AsRef<Segment>>(
    segments: &[S],
) -> Result<Vec<Deletions>, IndexError> {
    let count = |segment: &S| Deletions::none(segment.as_ref().documents_count());
    let mut gone: Vec<_> = segments.iter().map(count).collect();
    let url_of = |number: usize, doc: u32| -> Result<String, IndexError> {
        Ok(segments[number].as_ref().details(DocId(doc))?.url)
    };
    let mut same_hash: Vec<(usize, u32)> = Vec::new();
    let mut hash_before = 0;
    let mut settle = |same_hash: &[(usize, u32)]| -> Result<(), IndexError> {
        for (at, &(number, doc)) in same_hash.iter().enumerate() {
            for &(later, later_doc) in &same_hash[at + 1..] {
                if url_of(number, doc)? == url_of(later, later_doc)? {
                    gone[number].insert(doc);
                }
            }
        }
        Ok(())
    };
    each_by_hash(segments, |hash, number, doc| {
        if hash != hash_before {
            settle(&same_hash)?;
            same_hash.clear();
            hash_before = hash;
        }
        if !segments[number].as_ref().is_deleted(DocId(doc)) {
            same_hash.push((number, doc));
        }
        Ok(())
    })?;
    settle(&same_hash)?;
    Ok(gone)
}

fn number(runs: &[Segment], gone: Vec<Deletions>, chunk: u32) -> Result<Vec<NewIds>, IndexError> {
    let mut base = 0u32;
    let mut new_ids = Vec::with_capacity(runs.len());
    for (run, gone) in runs.iter().zip(gone) {
        let gone_before = (gone.count() > 0).then(|| {
            let mut before = 0;
            (0..run.documents_count())
                .filter_map(|doc| {
                    let start = (doc % 64 == 0).then_some(before);
                    before += u32::from(gone.contains(doc));
                    start
                })
                .collect()
        });
        let kept = run.documents_count() - gone.count();
        new_ids.push(NewIds {
            base,
            gone,
            gone_before,
        });
        let max = crate::segment::DOCUMENTS_MAX;
        base = base
            .checked_add(kept)
            .filter(|&base| base <= max)
            .ok_or(IndexError::TooManyDocuments { chunk, max })?;
    }
    Ok(new_ids)
}

fn merge_terms(
    runs: &[Segment],
    new_ids: &[NewIds],
    out: &mut SegmentWriter,
) -> Result<(), IndexError> {
    let union: OpBuilder = runs.iter().map(|run| run.terms.stream()).collect();
    let mut terms = union.union();
    let mut gaps = Vec::new();
    let mut read_bytes = 0;
    let mut newest: Vec<Option<TermRecord>> = vec![None; runs.len()];
    while let Some((key, found)) = terms.next() {
        let (Some(field), Some(term)) =
            (key.first().and_then(|&f| Field::from_byte(f)), key.get(1..))
        else {
            continue;
        };
        let mut found = found.to_vec();
        found.sort_unstable_by_key(|place| place.index);
        for place in found {
            let (run, ids) = (&runs[place.index], &new_ids[place.index]);
            let record = run.record(place.value)?;
            copy_postings(run, field, &record, ids, out, &mut gaps)?;
            read_bytes += record.postings_bytes + record.positions_bytes;
            newest[place.index] = Some(record);
        }
        out.end_term(field, term)?;
        // Pages already read should not count against the memory given.
        if read_bytes > RELEASE_BYTES {
            read_bytes = 0;
            for (run, record) in runs.iter().zip(&newest) {
                record.iter().for_each(|record| run.release_before(record));
            }
        }
    }
    Ok(())
}

fn copy_postings(
    run: &Segment,
    field: Field,
    record: &TermRecord,
    new_ids: &NewIds,
    out: &mut SegmentWriter,
    gaps: &mut Vec<u32>,
) -> Result<(), IndexError> {
    let mut postings = run.postings(record)?;
    let lengths = run.lengths(field);
    let encoder = out.postings();
    let with_positions = record.positions_bytes > 0;
    while postings.doc() != DocId::END {
        if let Some(new_id) = new_ids.get(postings.doc().0) {
            let length = lengths.get(postings.doc().0 as usize).copied().unwrap_or(0);
            encoder.push_document(new_id, postings.frequency(), length);
            if with_positions {
                postings.position_gaps(gaps);
                gaps.iter().for_each(|&gap| encoder.push_position_gap(gap));
            }
        }
        postings.next();
    }
    postings.take_error().map_or(Ok(()), Err)
}

fn merge_documents(
    runs: &[Segment],
    new_ids: &[NewIds],
    out: &mut SegmentWriter,
) -> Result<(), IndexError> {
    for (run, ids) in runs.iter().zip(new_ids) {
        let lengths = Field::WITH_LENGTHS.map(|field| run.lengths(field));
        let mut details = run.details_in_order();
        for doc in 0..run.documents_count() {
            let row = details.next()?;
            if ids.get(doc).is_none() {
                continue;
            }
            out.push_document(DocumentRow {
                url: &row.url,
                id: Some(row.id.as_str()).filter(|&id| id != row.url),
                title: &row.title,
                url_hash: run.url_hash(DocId(doc)),
                site_hash: run.site_hash(DocId(doc)),
                lengths: lengths.map(|bytes| length::dequantize(bytes[doc as usize])),
            })?;
        }
    }
    Ok(())
}
