//! Rewriting of the partitions of a generation, several at a time, and the manifest that results.

use super::progress::{OptimizeProgress, Phase};
use super::work::{PartitionWork, Rewritten, work_of};
use crate::deletions::Deletions;
use crate::manifest::{Manifest, SegmentEntry};
use crate::order::GapBits;
use crate::{IndexError, Order};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use vfs::SharedStorage;

/// Memory of the program besides partitions, independent of the limit.
const FIXED_BYTES: u64 = 24 << 20;

/// Options of a rewrite.
pub(crate) struct RewriteOptions<'p> {
    pub(crate) order: Order,
    pub(crate) memory_bytes: u64,
    pub(crate) threads: usize,
    pub(crate) list_bytes_max: Option<u64>,
    /// Deleted documents of the segments to rewrite, in place of those that the manifest names.
    pub(crate) deletions: Option<&'p GoneBySegment>,
    pub(crate) progress: &'p (dyn Fn(OptimizeProgress) + Sync),
}

/// Deleted documents, by number of the segment.
pub(crate) type GoneBySegment = BTreeMap<u32, Arc<Deletions>>;

/// Outcome of a rewrite.
#[derive(Debug, Default)]
pub(crate) struct RewriteOutcome {
    pub(crate) chunks: u64,
    pub(crate) gaps_before: GapBits,
    pub(crate) gaps_after: GapBits,
    pub(crate) terms_left_out: u64,
}

/// Rewrites every partition of the manifest's layout that needs it as one segment, and replaces its segments in
/// `manifest`. The caller must write the statistics.
pub(crate) fn rewrite(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    options: &RewriteOptions<'_>,
) -> Result<RewriteOutcome, IndexError> {
    let jobs = jobs(manifest, options.order);
    rewrite_jobs(storage, manifest, jobs, options)
}

/// Merges segments of every partition that has more than `segments_max`, and replaces them in `manifest`, as
/// [`rewrite`] does. Returns the number of segments merged. The caller must write the statistics.
pub(crate) fn merge_segments(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    segments_max: usize,
    options: &RewriteOptions<'_>,
) -> Result<u64, IndexError> {
    let jobs = merge_jobs(manifest, segments_max);
    let count = jobs.iter().map(|job| job.entries.len() as u64).sum();
    rewrite_jobs(storage, manifest, jobs, options)?;
    Ok(count)
}

/// Rewrites the segments of each job as one, and replaces them in `manifest`, as [`rewrite`] does. The segment of a
/// partition has the number `manifest.next_segment` + the number of the partition.
pub(crate) fn rewrite_jobs(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    jobs: Vec<Job>,
    options: &RewriteOptions<'_>,
) -> Result<RewriteOutcome, IndexError> {
    let mut outcome = RewriteOutcome::default();
    if jobs.is_empty() {
        return Ok(outcome);
    }
    let done = run(storage, manifest, &jobs, options);
    let mut new = Vec::with_capacity(done.len());
    for (_, rewritten) in done {
        let rewritten = rewritten?;
        outcome.gaps_before.join(rewritten.gaps_before);
        outcome.gaps_after.join(rewritten.gaps_after);
        outcome.terms_left_out += rewritten.terms_left_out;
        new.extend(rewritten.entry);
    }
    let layout = manifest.layout();
    let chunks = jobs.iter().flat_map(|job| layout.chunks_of(job.number));
    outcome.chunks = chunks.count() as u64;
    // A segment that is cut into several partitions belongs to several jobs.
    let entries = jobs.iter().flat_map(|job| &job.entries);
    let rewritten: BTreeSet<u32> = entries.map(|entry| entry.segment).collect();
    manifest
        .segments
        .retain(|entry| !rewritten.contains(&entry.segment));
    manifest.segments.extend(new);
    manifest.sort_segments();
    manifest.next_segment += layout.partitions;
    Ok(outcome)
}

/// Partition to be rewritten.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) number: u32,
    /// Segments to rewrite, with any of its chunks, in the manifest's order.
    pub(crate) entries: Vec<SegmentEntry>,
}

/// Returns a job for every partition that is not yet a single segment without deletions in the requested order.
fn jobs(manifest: &Manifest, order: Order) -> Vec<Job> {
    let layout = manifest.layout();
    let ordered = |entry: &SegmentEntry| order.is_arrival() || entry.order == order;
    let mut jobs: BTreeMap<u32, Job> = BTreeMap::new();
    for entry in &manifest.segments {
        let (first, last) = entry.chunks.range().into_inner();
        for number in layout.partition_of(first)..=layout.partition_of(last) {
            let job = jobs.entry(number).or_insert_with(|| Job {
                number,
                entries: Vec::new(),
            });
            job.entries.push(entry.clone());
        }
    }
    let is_done = |job: &Job| {
        matches!(&job.entries[..], [only] if only.chunks.range() == layout.chunks_of(job.number)
            && only.deletions.is_none() && ordered(only))
    };
    jobs.into_values().filter(|job| !is_done(job)).collect()
}

/// Smallest number of segments that are merged at once.
const MERGED_MIN: usize = 8;

/// Returns a job for every partition with more than `segments_max` segments: its smallest segments, at least
/// [`MERGED_MIN`]. A document is rewritten O(log n) times while an index grows to `n` documents.
fn merge_jobs(manifest: &Manifest, segments_max: usize) -> Vec<Job> {
    let layout = manifest.layout();
    let partitions = 0..layout.partitions;
    let jobs = partitions.filter_map(|number| {
        // Segments laid out otherwise are left to `optimize`.
        let of_partition = |entry: &&SegmentEntry| entry.chunks.range() == layout.chunks_of(number);
        let mut entries: Vec<SegmentEntry> = manifest
            .segments
            .iter()
            .filter(of_partition)
            .cloned()
            .collect();
        if entries.len() <= segments_max.max(1) {
            return None;
        }
        entries.sort_by_key(|entry| entry.documents_count);
        let sizes = entries.iter().map(|entry| entry.documents_count);
        entries.truncate(merged_count(sizes, u64::MAX));
        // Documents in the order of their segments' ages.
        entries.sort_by_key(|entry| entry.segment);
        Some(Job { number, entries })
    });
    jobs.collect()
}

/// Returns how many of the smallest segments are merged, given the sizes of all, increasing: at least [`MERGED_MIN`], and
/// each further one that is no larger than those before it together. Less where their sum would exceed `documents_max`.
pub(crate) fn merged_count(sizes: impl Iterator<Item = u32>, documents_max: u64) -> usize {
    let (mut sum, mut count) = (0u64, 0);
    for size in sizes {
        let is_large = count >= MERGED_MIN && u64::from(size) > sum;
        if is_large || sum + u64::from(size) > documents_max {
            break;
        }
        sum += u64::from(size);
        count += 1;
    }
    count
}

type Done = (u32, Result<Rewritten, IndexError>);

/// Runs all jobs, several at a time; returns outcomes by partition. Starts no further job after a failure.
fn run(
    storage: &SharedStorage,
    manifest: &Manifest,
    jobs: &[Job],
    options: &RewriteOptions<'_>,
) -> Vec<Done> {
    let threads = options.threads.max(1);
    let workers = threads.min(jobs.len());
    let memory_bytes = options.memory_bytes.saturating_sub(FIXED_BYTES) / workers as u64;
    let both = [Phase::Ordering, Phase::Writing];
    let work = |job: &Job| both.map(|phase| work_of(&job.entries, options.order, phase));
    let total = jobs.iter().flat_map(work).sum();
    let passed = AtomicU64::new(0);
    let progress = |phase, work| {
        let done = passed.fetch_add(work, Ordering::Relaxed) + work;
        (options.progress)(OptimizeProgress { phase, done, total });
    };
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Done>> = Mutex::new(Vec::with_capacity(jobs.len()));
    let work_on_jobs = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let work = PartitionWork {
                storage,
                manifest,
                number: job.number,
                entries: &job.entries,
                order: options.order,
                memory_bytes,
                list_bytes_max: options.list_bytes_max,
                deletions: options.deletions,
                threads: threads / workers,
                progress: &progress,
            };
            let rewritten = work.rewrite(manifest.next_segment + job.number);
            if rewritten.is_err() {
                next.store(jobs.len(), Ordering::Relaxed);
            }
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((job.number, rewritten));
        }
    };
    if workers == 1 {
        work_on_jobs();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(work_on_jobs);
            }
        });
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|&(number, _)| number);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_segments_are_merged_and_large_ones_wait() {
        let count = |sizes: &[u32]| merged_count(sizes.iter().copied(), u64::MAX);
        assert_eq!(count(&[1; 25]), 25);
        assert_eq!(count(&[1, 1, 1, 1, 1, 1, 1, 1, 8, 17, 1000]), 9);
        assert_eq!(
            count(&[1, 10, 100, 1_000, 10_000, 10_000, 10_000, 10_000, 10_000]),
            9
        );
        assert_eq!(count(&[5, 5]), 2);
        assert_eq!(merged_count([5, 5, 5, 6].into_iter(), 15), 3);
        assert_eq!(merged_count([5, 5].into_iter(), 4), 0);
    }

    /// A commit a second of equal size: segments stay few, and each document is rewritten a few times.
    #[test]
    fn a_long_history_stays_cheap() {
        let (mut sizes, mut written, commits) = (Vec::new(), 0u64, 20_000);
        for _ in 0..commits {
            sizes.push(1u32);
            if sizes.len() > 24 {
                sizes.sort_unstable();
                let merged: Vec<u32> = sizes
                    .drain(..merged_count(sizes.iter().copied(), u64::MAX))
                    .collect();
                written += merged.iter().map(|&size| u64::from(size)).sum::<u64>();
                sizes.push(merged.iter().sum());
            }
            assert!(sizes.len() <= 24);
        }
        assert!(written < 8 * commits, "{written}");
    }
}
