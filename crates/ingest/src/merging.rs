//! Merges beside refreshes: planned after a refresh, written by a thread of the lowest priority, installed by a refresh.
//!
//! ```text
//! refresh thread   commit ─ plan ─ commit ─ commit ─ … ─ commit with the finished merge
//! merge thread              └─ segments and statistics, paced ─┘
//! ```

use crate::pace::Pacer;
use crate::paced_storage::{Limits, PacedStorage};
use crate::shared::{Shared, State};
use index::{Index, IndexError, MergeJob, MergePolicy, MergeReservation, MergedSegments};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use vfs::SharedStorage;

/// Segments of a partition above which a merge keeps no pace, because they become too many.
const HURRY_SEGMENTS: usize = 20;
/// Segments of a partition at which refreshes wait for the merge under way.
pub(crate) const SEGMENTS_LIMIT: usize = 64;
/// Pause after a merge that failed; it doubles with every further failure, up to the second.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// State of the merge.
#[derive(Debug, Default)]
pub(crate) struct Merging {
    pub(crate) stage: Stage,
    /// What commits leave to the merge under way.
    pub(crate) reservation: Option<MergeReservation>,
    next_segment: u32,
    pub(crate) finished: u64,
    pub(crate) last: Duration,
    failures: u32,
    pub(crate) failure: Option<String>,
    retry_at: Option<Instant>,
}

/// Stage of the merge.
#[derive(Debug, Default)]
pub(crate) enum Stage {
    #[default]
    Idle,
    Planned(MergeJob),
    Running,
    Finished(MergedSegments),
}

impl Merging {
    /// Whether the merge thread has work, or is at it.
    pub(crate) fn is_under_way(&self) -> bool {
        matches!(self.stage, Stage::Planned(_) | Stage::Running)
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.stage, Stage::Finished(_))
    }

    /// Takes the finished merge.
    pub(crate) fn take_finished(&mut self) -> Option<MergedSegments> {
        match std::mem::take(&mut self.stage) {
            Stage::Finished(merged) => Some(merged),
            other => {
                self.stage = other;
                None
            }
        }
    }

    /// Notes that the finished merge is installed.
    pub(crate) fn installed(&mut self) {
        self.reservation = None;
        self.finished += 1;
        (self.failures, self.failure, self.retry_at) = (0, None, None);
    }

    /// Gives the merge up for a while; the next commit removes its files.
    pub(crate) fn give_up(&mut self, reason: String) {
        tracing::warn!(%reason, "segments cannot be merged; it is tried again after a later refresh");
        (self.stage, self.reservation) = (Stage::Idle, None);
        let doubled = RETRY_MIN * 2u32.pow(self.failures.min(6));
        self.retry_at = Some(Instant::now() + doubled.min(RETRY_MAX));
        self.failures += 1;
        self.failure = Some(reason);
    }

    /// Whether the files of a merge that will not be installed may be there; the threads have ended. Once.
    pub(crate) fn is_abandoned(&mut self) -> bool {
        let had_failed = self.failure.is_some();
        self.stage = Stage::Idle;
        self.reservation.take().is_some() || had_failed
    }

    fn may_plan(&self) -> bool {
        let is_waiting = self.retry_at.is_some_and(|at| at > Instant::now());
        matches!(self.stage, Stage::Idle) && self.reservation.is_none() && !is_waiting
    }
}

/// Plans a merge where one is due; `snapshot` is that of the last commit. Called by the thread that commits.
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

/// Returns the segments of the partition with the most.
pub(crate) fn segments_of(index: &Index) -> usize {
    let layout = index.layout();
    let partitions = 0..layout.partitions;
    let counts = partitions.map(|number| index.segments(layout.chunks_of(number)).count());
    counts.max().unwrap_or(0)
}

/// Writes planned merges until the writer ends.
pub(crate) fn run(shared: &Arc<Shared>) {
    vfs::thread::lowest_priority();
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
    let paced = PacedStorage::new(shared.storage.clone(), Arc::<MergeLimits>::clone(&limits));
    let storage: SharedStorage = Arc::new(paced);
    job.run(&storage, shared.options.memory_bytes, &|| limits.step())
}

fn next_job(shared: &Shared) -> Option<MergeJob> {
    let mut state = shared.state();
    loop {
        if state.is_ending {
            return None;
        }
        if let Some(job) = take_planned(&mut state) {
            return Some(job);
        }
        state = shared.wait(&shared.merge_waits, state, Duration::from_secs(3600));
    }
}

fn take_planned(state: &mut State) -> Option<MergeJob> {
    match std::mem::replace(&mut state.merging.stage, Stage::Running) {
        Stage::Planned(job) => Some(job),
        other => {
            state.merging.stage = other;
            None
        }
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
    let pace = shared.pace.read();
    match pace.as_deref() {
        Ok(Some(pace)) => pace(),
        _ => shared.options.merge_percent,
    }
}
