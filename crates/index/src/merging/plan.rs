//! Choice of the segments to merge: the smallest of a partition with many, or one with many deleted documents.

use crate::deletions::Deletions;
use crate::manifest::{Manifest, SegmentEntry};
use crate::optimize::rewrite::{GoneBySegment, Job, merged_count};
use crate::{Index, MergeReservation, Segment};
use std::sync::Arc;

/// Documents up to which any segments may become one.
const DOCUMENTS_MAX: u64 = 500_000;
/// Inverse of the share of a partition's documents that merged segments may have, if that is more than `DOCUMENTS_MAX`.
const SHARE_MAX: u64 = 8;
/// Inverse of the share of a partition's documents from which a segment with many deleted ones is rewritten alone.
const ALONE_SHARE_MIN: u64 = 16;

/// Condition under which segments are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergePolicy {
    /// Segments of a partition above which small ones are merged.
    pub segments: usize,
    /// First number that no earlier merge of this process had; 0 for the first one.
    pub next_segment: u32,
}

/// Merge that was planned and not begun.
#[derive(Debug)]
pub struct MergeJob {
    /// The generation that it begins with.
    pub(super) manifest: Manifest,
    pub(super) jobs: Vec<Job>,
    /// Deleted documents of the sources at that generation.
    pub(super) gone: GoneBySegment,
    pub(super) reservation: MergeReservation,
}

impl MergeJob {
    /// Plans a merge. `index` is the newest generation, and the caller has the lock. `None` where nothing is due.
    ///
    /// A partition with more than `policy.segments` segments merges the smallest: at least 8, and each further one that
    /// is no larger than those before it together; but no more documents than 500,000 or an eighth of the partition, so
    /// that a merge ends before segments are too many again. Otherwise a segment of at least a sixteenth of the
    /// partition, more than half of whose documents are deleted, is rewritten.
    pub fn plan(index: &Index, policy: &MergePolicy) -> Option<MergeJob> {
        let manifest = index.manifest().clone();
        let layers = manifest.statistics_layers();
        let jobs: Vec<Job> = (0..manifest.layout().partitions)
            .filter_map(|partition| partition_job(index, partition, policy.segments))
            .collect();
        if jobs.is_empty() || layers.counted.is_empty() {
            return None;
        }
        let is_source = |segment: &&Arc<Segment>| {
            let mut sources = jobs.iter().flat_map(|job| &job.entries);
            sources.any(|source| source.segment == segment.id())
        };
        let sources = index.segments.iter().filter(is_source);
        let gone = sources.filter_map(|segment| {
            let gone: &Arc<Deletions> = segment.deletions.as_ref()?;
            Some((segment.id(), Arc::clone(gone)))
        });
        let first = manifest.next_segment.max(policy.next_segment);
        Some(MergeJob {
            gone: gone.collect(),
            reservation: MergeReservation {
                segments: first..first + manifest.layout().partitions,
                layers: layers.deleted.len(),
            },
            jobs,
            manifest,
        })
    }

    /// Returns the numbers and files that commits must leave to this merge until it is installed or given up.
    pub fn reservation(&self) -> &MergeReservation {
        &self.reservation
    }

    /// Counts the live documents that the merge writes.
    pub fn documents_count(&self) -> u64 {
        let sources = self.jobs.iter().flat_map(|job| &job.entries);
        let live = sources.map(|entry| {
            let gone = self.gone.get(&entry.segment).map_or(0, |gone| gone.count());
            u64::from(entry.documents_count.saturating_sub(gone))
        });
        live.sum()
    }
}

/// Returns the sources in a partition; `None` where no merge is due.
fn partition_job(index: &Index, partition: u32, segments: usize) -> Option<Job> {
    let chunks = index.layout().chunks_of(partition);
    // Segments laid out otherwise are left to `optimize`.
    let entries = index.manifest().segments.iter().zip(&index.segments);
    let entries = entries.filter(|(entry, _)| entry.chunks.range() == chunks);
    let sized = entries.map(|(entry, segment)| (segment.live_documents_count(), entry));
    let mut sized: Vec<(u32, &SegmentEntry)> = sized.collect();
    let documents: u64 = sized.iter().map(|&(live, _)| u64::from(live)).sum();
    let mut chosen: Vec<SegmentEntry> = if sized.len() > segments.max(1) {
        sized.sort_by_key(|&(live, _)| live);
        let documents_max = DOCUMENTS_MAX.max(documents / SHARE_MAX);
        let count = merged_count(sized.iter().map(|&(live, _)| live), documents_max);
        let smallest = sized.iter().take(count);
        smallest.map(|&(_, entry)| entry.clone()).collect()
    } else {
        let is_worth = |&&(live, entry): &&(u32, &SegmentEntry)| {
            let all = u64::from(entry.documents_count);
            u64::from(live) * 2 < all && all * ALONE_SHARE_MIN >= documents
        };
        let alone = sized.iter().find(is_worth);
        return alone.map(|&(_, entry)| Job {
            number: partition,
            entries: vec![entry.clone()],
        });
    };
    // Documents in the order of their segments' ages.
    chosen.sort_by_key(|entry| entry.segment);
    (chosen.len() > 1).then_some(Job {
        number: partition,
        entries: chosen,
    })
}
