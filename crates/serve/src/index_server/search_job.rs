//! A search on the board: planned and cut by its first handler, worked on by any number of them, answered by the last
//! one that leaves.

use crate::api::messages::{PartitionHits, Planned, Query};
use crate::api::reply::Reply;
use crate::api::server_error::ServerError;
use crate::index_server::deadline::{Deadline, is_due};
use crate::index_server::figures::Figures;
use crate::index_server::handler_visit::HandlerVisit;
use crate::index_server::shared_board::{Job, SharedBoard, Visiting};
use engine::Part;
use schedule::board::Turn;
use schedule::cost::{Prediction, Work};
use search::{After, Cut, FilterRun, PlanCost, SearchTask, Share, Stop, watch_filters};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A search on the board.
#[derive(Debug)]
pub(super) struct SearchJob {
    pub(super) query: Arc<Query>,
    pub(super) opened: Arc<Part>,
    pub(super) deadline: Deadline,
    pub(super) k: usize,
    pub(super) counted: bool,
    pub(super) after: Option<Arc<After>>,
    /// Whether the reply says how tests of values ran.
    pub(super) trace: bool,
    /// Taken by whoever answers.
    pub(super) reply: Mutex<Option<Reply<PartitionHits>>>,
    /// Set by the first handler.
    pub(super) begun: OnceLock<Begun>,
    pub(super) found: Mutex<Found>,
}

/// Plan and task of a search, made by the first handler.
#[derive(Debug)]
pub(super) struct Begun {
    taken: Instant,
    /// After planning.
    started: Instant,
    planned: Arc<Planned>,
    task: SearchTask,
    work: Work,
    predicted: Prediction,
}

/// Shares of the handlers so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    shares: Vec<Share>,
    filters: Vec<FilterRun>,
    error: Option<ServerError>,
    /// Handler time, planning included.
    worked: Duration,
    /// Ranges and time of owners, and of helpers.
    owned: (u64, Duration),
    helped: (u64, Duration),
}

impl SearchJob {
    /// Returns whether the client has gone.
    pub(super) fn is_abandoned(&self) -> bool {
        let reply = lock(&self.reply);
        reply.as_ref().is_none_or(Reply::is_abandoned)
    }

    /// Answers with an error.
    pub(super) fn fail(&self, error: ServerError) {
        if let Some(reply) = lock(&self.reply).take() {
            reply.send(Err(error));
        }
    }

    /// Plans and predicts; false where the search ends here, answered.
    fn begin(
        &self,
        taken: Instant,
        visiting: &Visiting,
        board: &SharedBoard,
        figures: &Figures,
    ) -> bool {
        if taken >= self.deadline.at || self.is_abandoned() {
            figures.never_begun.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(query = self.query.id, "never begun: expired or cancelled");
            self.fail(match taken >= self.deadline.at {
                true => ServerError::Expired,
                false => ServerError::Cancelled,
            });
            return false;
        }
        let planned = match self.query.planned(self.opened.index()) {
            Ok(planned) => planned,
            Err(error) => {
                self.fail(error.into());
                return false;
            }
        };
        let work = work_of(planned.plan.cost(), self.k, self.opened.segments().len());
        let predicted = board.predict(&work);
        let start = board.start(visiting.id, predicted.likely_ns);
        // Ranges that are too long by far would hold helpers for as long.
        let ranges = match predicted.is_trusted || board.trusts_all() {
            true => start.ranges(predicted.high_ns),
            false => 1,
        };
        let task = self.opened.task(&planned.plan, self.k, self.counted);
        let task = task.after(self.after.as_deref().cloned());
        let task = match ranges {
            1 => task,
            _ => task.cut_by_first(Cut {
                ranges_max: ranges as usize,
                postings_min: board.range_postings_min(),
            }),
        };
        let begun = Begun {
            taken,
            started: Instant::now(),
            planned,
            task,
            work,
            predicted,
        };
        self.begun.set(begun).is_ok()
    }
}

impl Job for SearchJob {
    fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    fn visit(
        &self,
        visiting: &Visiting,
        handler: usize,
        board: &SharedBoard,
        figures: &Figures,
    ) -> bool {
        let _span = tracing::debug_span!("handler", query = self.query.id).entered();
        let taken = Instant::now();
        if let Turn::Begin(_) = visiting.turn
            && !self.begin(taken, visiting, board, figures)
        {
            return true;
        }
        let Some(begun) = self.begun.get() else {
            return true;
        };
        let is_abandoned = || self.is_abandoned();
        let is_due = is_due(taken, self.deadline.at, &is_abandoned);
        let stop = Stop::when(&is_due);
        let mut visitor = HandlerVisit::new(visiting, handler, board);
        let mut visit = || begun.task.visit(&stop, &mut visitor);
        let (share, filters) = match self.trace {
            true => watch_filters(visit),
            false => (visit(), Vec::new()),
        };
        let (ranges_count, ranges_ns) = (visitor.ranges_count, visitor.ranges_ns);
        let mut found = lock(&self.found);
        found.filters.extend(filters);
        match share {
            Ok(share) => found.shares.push(share),
            Err(error) => {
                begun.task.abandon();
                found.error.get_or_insert(error.into());
            }
        }
        found.worked += board.at_full_speed(handler, taken.elapsed());
        let of_role = match visiting.visit.is_owner {
            true => &mut found.owned,
            false => &mut found.helped,
        };
        of_role.0 += ranges_count;
        of_role.1 += board.at_full_speed(handler, Duration::from_nanos(ranges_ns));
        drop(found);
        begun.task.is_exhausted()
    }

    fn finish(&self, board: &SharedBoard, figures: &Figures) {
        let Some(begun) = self.begun.get() else {
            return;
        };
        let Some(reply) = lock(&self.reply).take() else {
            return;
        };
        let mut found = std::mem::take(&mut *lock(&self.found));
        let search_us = begun.started.elapsed().as_micros() as u64;
        let verify = || self.opened.verify(begun.planned.since);
        if let Some(error) = found.error.take() {
            return reply.send_verified(Err(error), verify);
        }
        let merged = begun.task.merged(std::mem::take(&mut found.shares));
        if merged.documents_searched < merged.documents_count {
            figures.ended_early.fetch_add(1, Ordering::Relaxed);
            let (query, done) = (self.query.id, merged.documents_searched);
            tracing::debug!(query, done, of = merged.documents_count, "ended early");
        } else {
            board.observe(&begun.work, &begun.predicted, found.worked, figures);
        }
        if found.helped.0 > 0 && found.owned.0 > 0 {
            figures.helped.fetch_add(1, Ordering::Relaxed);
            let of = |(ranges, time): (u64, Duration)| time.as_secs_f64() / ranges as f64;
            board.observe_efficiency(of(found.owned) / of(found.helped), figures);
        }
        let found = PartitionHits {
            is_cut: match merged.count_is_exact && self.after.is_none() {
                true => merged.matches_count > merged.hits.len() as u64,
                false => merged.hits.len() >= self.k,
            },
            hits: merged.hits,
            sort_values: Vec::new(),
            matches_count: merged.matches_count,
            count_is_exact: merged.count_is_exact,
            documents_searched: merged.documents_searched,
            documents_count: merged.documents_count,
            generation: begun.planned.generation,
            parse_us: begun.planned.parse_us,
            queueing_us: (begun.taken - self.deadline.arrived).as_micros() as u64,
            search_us,
            warnings: begun.planned.warnings.clone(),
            summary_terms: begun.planned.summary_terms.clone(),
            filters: FilterRun::merged(std::mem::take(&mut found.filters)),
        };
        if let Some(times) = figures.times.get() {
            times.searched(&found);
        }
        reply.send_verified(Ok::<_, ServerError>(found), verify);
    }

    fn abandon(&self) {
        if let Some(begun) = self.begun.get() {
            begun.task.abandon();
        }
        // Dropped unanswered, it is an error at the other end.
        drop(lock(&self.reply).take());
    }
}

/// Returns what predicts the time of a search.
fn work_of(cost: PlanCost, k: usize, segments: usize) -> Work {
    Work {
        kind: cost.kind as usize,
        postings: cost.postings,
        lists: cost.lists,
        k: u32::try_from(k.saturating_mul(segments.max(1))).unwrap_or(u32::MAX),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
