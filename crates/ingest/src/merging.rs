//! Merges beside refreshes: planned after a refresh, written by a thread of the lowest priority, installed by a refresh.
//!
//! ```text
//! refresh thread   commit ─ plan ─ commit ─ commit ─ … ─ commit with the finished merge
//! merge thread              └─ segments and statistics, paced ─┘
//! ```

use crate::merge_state::{Stage, segments_of};
use crate::pace::Pacer;
use crate::paced_storage::{Limits, PacedStorage};
use crate::shared::Shared;
use index::{Index, IndexError, MergeJob, MergePolicy, MergedSegments};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use vfs::SharedStorage;

/// Segments of a partition above which a merge keeps no pace, because they become too many.
const HURRY_SEGMENTS: usize = 20;
/// Segments of a partition at which refreshes wait for the merge under way.
pub(crate) const SEGMENTS_LIMIT: usize = 64;
/// Segments of a partition at which a recovery merges before changes are accepted. That number is left only where merges were
/// given up again and again, as on a disk that is full for hours.
pub(crate) const SEGMENTS_MAX: usize = 256;

/// Plans a merge where one is due; `snapshot` is that of the last commit. Called by the thread that commits, and before it
/// begins.
pub(crate) fn plan(shared: &Shared, snapshot: &Index) {
    shared
        .segments
        .store(segments_of(snapshot), Ordering::Relaxed);
    let mut state = shared.state();
    if state.is_ending || !state.merging.may_plan() {
        return;
    }
    let policy = MergePolicy {
        segments: shared.options.segments,
        next_segment: state.merging.next_segment,
    };
    if let Some(job) = MergeJob::plan(snapshot, &policy) {
        let reservation = job.reservation().clone();
        state.merging.next_segment = reservation.next_segment();
        state.merging.reservation = Some(reservation);
        state.merging.stage = Stage::Planned(job);
        drop(state);
        shared.merge_waits.notify_all();
    }
}

/// Writes planned merges until the writer ends.
pub(crate) fn run(shared: &Arc<Shared>) {
    vfs::platform::thread::lowest_priority();
    while let Some(job) = next_job(shared) {
        let begun = Instant::now();
        let done = write(shared, job);
        let mut state = shared.state();
        state.merging.last = begun.elapsed();
        match done {
            Ok(merged) => state.merging.stage = Stage::Finished(merged),
            Err(error) => state.merging.give_up(error.to_string()),
        }
        drop(state);
        shared.refresh_waits.notify_all();
    }
}

fn write(shared: &Arc<Shared>, job: MergeJob) -> Result<MergedSegments, IndexError> {
    let limits = Arc::new(MergeLimits::new(Arc::clone(shared)));
    let paced = Arc::new(PacedStorage::new(shared.storage.clone(), limits));
    let storage: SharedStorage = Arc::<PacedStorage>::clone(&paced);
    let step = || paced.step().map_err(IndexError::from);
    job.run(&storage, shared.options.memory_bytes, &step)
}

fn next_job(shared: &Shared) -> Option<MergeJob> {
    let mut state = shared.state();
    loop {
        if state.is_ending {
            return None;
        }
        if let Some(job) = state.merging.take_planned() {
            return Some(job);
        }
        state = shared.wait(&shared.merge_waits, state, Duration::from_secs(3600));
    }
}

/// Limits of the merge of a writer.
struct MergeLimits {
    shared: Arc<Shared>,
    pacer: Pacer,
}

impl MergeLimits {
    fn new(shared: Arc<Shared>) -> MergeLimits {
        let asked = Arc::clone(&shared);
        let pacer = Pacer::new(move || percent(&asked));
        MergeLimits { shared, pacer }
    }
}

impl Limits for MergeLimits {
    fn is_stopped(&self) -> bool {
        self.shared.is_stopped.load(Ordering::Relaxed)
    }

    fn step(&self) {
        self.pacer.step();
    }

    fn step_now(&self) {
        self.pacer.step_now();
    }
}

/// Returns the share of a core that a merge may use, in percent.
fn percent(shared: &Shared) -> u32 {
    let is_urgent = shared.segments.load(Ordering::Relaxed) > HURRY_SEGMENTS;
    if is_urgent || shared.is_stopped.load(Ordering::Relaxed) {
        return 100;
    }
    let pace = shared.hooks.pace.read();
    match pace.as_deref() {
        Ok(Some(pace)) => pace(),
        _ => shared.options.merge_percent,
    }
}
