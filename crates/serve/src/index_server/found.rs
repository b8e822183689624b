//! What handlers find in the ranges of a query: hits, or all matches.

use crate::handlers::handler_visit::HandlerVisit;
use crate::handlers::thread_times::ThreadTimes;
use crate::index_server::visits::Stay;
use engine::calls::PartError;
use index::IndexError;
use search::{FilterRun, MatchesShare, Share, Worker};
use std::time::Duration;

/// Share of one handler: its findings in the ranges that it took.
pub(super) trait RangesShare: Sized {
    /// Whether all matches are gathered, which takes its own time.
    const GATHERS: bool;

    /// Lets a worker visit its task.
    fn of(worker: &mut Worker<'_>, visitor: &mut HandlerVisit<'_>) -> Result<Self, IndexError>;

    /// Returns the number of documents of its ranges.
    fn documents_count(&self) -> u64;

    /// Returns the number of ranges that were skipped by their bounds.
    fn ranges_skipped(&self) -> usize;

    /// Returns whether the deadline or the client ended the work.
    fn is_stopped(&self) -> bool;
}

impl RangesShare for Share {
    const GATHERS: bool = false;

    fn of(worker: &mut Worker<'_>, visitor: &mut HandlerVisit<'_>) -> Result<Share, IndexError> {
        worker.visit(visitor)
    }

    fn documents_count(&self) -> u64 {
        self.documents_count
    }

    fn ranges_skipped(&self) -> usize {
        self.ranges_skipped
    }

    fn is_stopped(&self) -> bool {
        self.documents_searched < self.documents_count
    }
}

impl RangesShare for MatchesShare {
    const GATHERS: bool = true;

    fn of(
        worker: &mut Worker<'_>,
        visitor: &mut HandlerVisit<'_>,
    ) -> Result<MatchesShare, IndexError> {
        worker.gather(visitor)
    }

    fn documents_count(&self) -> u64 {
        self.documents_count
    }

    fn ranges_skipped(&self) -> usize {
        0
    }

    fn is_stopped(&self) -> bool {
        self.documents_searched < self.documents_count
    }
}

/// Findings of the handlers so far.
#[derive(Debug)]
pub(super) struct Found<S> {
    pub(super) shares: Vec<S>,
    /// Runs of the tests of values, for a traced query.
    pub(super) filters: Vec<FilterRun>,
    pub(super) error: Option<PartError>,
    /// Handler time, planning included.
    pub(super) worked: Duration,
    /// Documents and time of owners, and of helpers.
    pub(super) owned: (u64, Duration),
    pub(super) helped: (u64, Duration),
    /// Times of the threads of handlers, where they are measured.
    pub(super) times: ThreadTimes,
    /// Stays of handlers, for a traced query.
    pub(super) stays: Vec<Stay>,
}

impl<S> Default for Found<S> {
    fn default() -> Found<S> {
        Found {
            shares: Vec::new(),
            filters: Vec::new(),
            error: None,
            worked: Duration::ZERO,
            owned: (0, Duration::ZERO),
            helped: (0, Duration::ZERO),
            times: ThreadTimes::default(),
            stays: Vec::new(),
        }
    }
}
