//! Which chunks of a generation are rewritten, by whom, and what the generation is then made of.

use super::OptimizeProgress;
use super::chunk::{ChunkWork, Phase, Rewritten, work_of};
use crate::manifest::{Manifest, SegmentEntry};
use crate::order::GapBits;
use crate::{IndexError, Order};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use vfs::SharedStorage;

/// What the program takes beside, however little memory there is.
const FIXED_BYTES: u64 = 24 << 20;

/// How to rewrite.
pub(crate) struct RewriteOptions<'p> {
    pub(crate) order: Order,
    pub(crate) memory_bytes: u64,
    pub(crate) threads: usize,
    pub(crate) list_bytes_max: Option<u64>,
    pub(crate) progress: &'p (dyn Fn(OptimizeProgress) + Sync),
}

/// What was rewritten.
#[derive(Debug, Default)]
pub(crate) struct RewriteOutcome {
    pub(crate) chunks: u64,
    pub(crate) gaps_before: GapBits,
    pub(crate) gaps_after: GapBits,
    pub(crate) terms_left_out: u64,
}

/// Writes every chunk that needs it as one segment, and puts the new segments into `manifest` in place of the old ones.
/// The statistics file is the caller's to renew.
pub(crate) fn rewrite(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    options: &RewriteOptions<'_>,
) -> Result<RewriteOutcome, IndexError> {
    let jobs = jobs(&manifest.segments, options.order);
    let mut outcome = RewriteOutcome::default();
    if jobs.is_empty() {
        return Ok(outcome);
    }
    let done = run(storage, manifest, &jobs, options);
    let mut new = Vec::with_capacity(done.len());
    for (_, rewritten) in done {
        let rewritten = rewritten?;
        outcome.chunks += 1;
        outcome.gaps_before.join(rewritten.gaps_before);
        outcome.gaps_after.join(rewritten.gaps_after);
        outcome.terms_left_out += rewritten.terms_left_out;
        new.extend(rewritten.entry);
    }
    for job in jobs.iter().rev() {
        manifest.segments.drain(job.clone());
    }
    manifest.segments.extend(new);
    manifest
        .segments
        .sort_by_key(|entry| (entry.chunk, entry.segment));
    manifest.next_segment += manifest.chunks;
    Ok(outcome)
}

/// The segments of every chunk that is not yet one segment, free of deletions, in the order asked for.
fn jobs(entries: &[SegmentEntry], order: Order) -> Vec<Range<usize>> {
    let mut jobs = Vec::new();
    let mut start = 0;
    for chunk in entries.chunk_by(|a, b| a.chunk == b.chunk) {
        let ordered = |entry: &SegmentEntry| order.is_arrival() || entry.order == order;
        let done = matches!(chunk, [only] if only.deletions.is_none() && ordered(only));
        if !done {
            jobs.push(start..start + chunk.len());
        }
        start += chunk.len();
    }
    jobs
}

type Done = (u32, Result<Rewritten, IndexError>);

/// Runs all jobs, several chunks at a time; outcomes by chunk. After a failure no further chunk is begun.
fn run(
    storage: &SharedStorage,
    manifest: &Manifest,
    jobs: &[Range<usize>],
    options: &RewriteOptions<'_>,
) -> Vec<Done> {
    let threads = options.threads.max(1);
    let workers = threads.min(jobs.len());
    let memory_bytes = options.memory_bytes.saturating_sub(FIXED_BYTES) / workers as u64;
    let both = [Phase::Ordering, Phase::Writing];
    let entries = |job: &Range<usize>| &manifest.segments[job.clone()];
    let work = |job| both.map(|phase| work_of(entries(job), options.order, phase));
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
            let chunk = ChunkWork {
                storage,
                manifest,
                entries: entries(job),
                order: options.order,
                memory_bytes,
                list_bytes_max: options.list_bytes_max,
                threads: threads / workers,
                progress: &progress,
            };
            let number = chunk.entries[0].chunk;
            let rewritten = chunk.rewrite(manifest.next_segment + number);
            if rewritten.is_err() {
                next.store(jobs.len(), Ordering::Relaxed);
            }
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((number, rewritten));
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
    done.sort_by_key(|&(chunk, _)| chunk);
    done
}
