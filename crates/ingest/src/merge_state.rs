//! State of the merge beside refreshes: planned, under way, finished, or given up for a while.

use index::{Index, MergeJob, MergeReservation, MergedSegments};
use std::time::{Duration, Instant};

/// Pause after a merge that failed; it doubles with every further failure, up to the second.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// State of the merge.
#[derive(Debug, Default)]
pub(crate) struct Merging {
    pub(crate) stage: Stage,
    /// Segments and files reserved for the merge under way.
    pub(crate) reservation: Option<MergeReservation>,
    /// First segment number that no merge had yet.
    pub(crate) next_segment: u32,
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
    /// Returns whether the merge thread has work, or is at it.
    pub(crate) fn is_under_way(&self) -> bool {
        matches!(self.stage, Stage::Planned(_) | Stage::Running)
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.stage, Stage::Finished(_))
    }

    /// Takes the planned merge, which is then under way.
    pub(crate) fn take_planned(&mut self) -> Option<MergeJob> {
        match std::mem::replace(&mut self.stage, Stage::Running) {
            Stage::Planned(job) => Some(job),
            other => {
                self.stage = other;
                None
            }
        }
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

    /// Returns whether the files of a merge that will not be installed may be there; the threads have ended. Once.
    pub(crate) fn is_abandoned(&mut self) -> bool {
        let had_failed = self.failure.is_some();
        self.stage = Stage::Idle;
        self.reservation.take().is_some() || had_failed
    }

    pub(crate) fn may_plan(&self) -> bool {
        let is_waiting = self.retry_at.is_some_and(|at| at > Instant::now());
        matches!(self.stage, Stage::Idle) && self.reservation.is_none() && !is_waiting
    }
}

/// Returns the segments of the partition with the most.
pub(crate) fn segments_of(index: &Index) -> usize {
    let layout = index.layout();
    let partitions = 0..layout.partitions;
    let counts = partitions.map(|number| index.segments(layout.chunks_of(number)).count());
    counts.max().unwrap_or(0)
}
