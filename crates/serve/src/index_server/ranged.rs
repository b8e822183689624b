//! A query in ranges on the board: planned and cut by its first handler, worked on by any number of them.

use crate::api::messages::{Planned, Query};
use crate::handlers::asking::Asking;
use crate::handlers::deadline::{Deadline, IsAbandoned, is_due};
use crate::handlers::figures::Figures;
use crate::handlers::guests::GUEST_LIKELY_NS_MAX;
use crate::handlers::handler_visit::HandlerVisit;
use crate::handlers::shared_board::{Ended, Handler, SharedBoard, Visiting};
use crate::handlers::thread_times::{ThreadClock, is_measured};
use crate::index_server::found::{Found, RangesShare};
use crate::index_server::visits::Stay;
use engine::Part;
use engine::calls::PartError;
use schedule::board::Turn;
use schedule::cost::{Prediction, Work};
use search::{After, Cut, PlanCost, PlanKind, SearchTask, Stop, Worker, watch_filters};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A query in ranges.
#[derive(Debug)]
pub(super) struct Ranged<S> {
    pub(super) query: Arc<Query>,
    pub(super) opened: Arc<Part>,
    pub(super) deadline: Deadline,
    /// Hits wanted; 0 where matches are gathered.
    pub(super) k: usize,
    pub(super) counted: bool,
    /// Place up to which hits are left out.
    pub(super) after: Option<Arc<After>>,
    /// Whether the stays of handlers are kept, and how tests of values ran.
    pub(super) is_traced: bool,
    begun: OnceLock<Begun>,
    found: Mutex<Found<S>>,
}

/// Plan and ranges of a query, made by its first handler.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) taken: Instant,
    /// Instant after planning.
    pub(super) started: Instant,
    pub(super) planned: Arc<Planned>,
    pub(super) task: SearchTask,
    work: Work,
    pub(super) predicted: Prediction,
    /// Whether the first handler cuts it into ranges.
    is_cut: bool,
    /// Whether it is in one piece, of which handlers may ask for parts.
    is_on_request: bool,
    /// Whether CPU time and run-queue waits are measured.
    pub(super) is_measured: bool,
}

impl<S: RangesShare> Ranged<S> {
    /// Returns a query that no handler has begun, for the `k` best hits.
    pub(super) fn new(
        query: Arc<Query>,
        opened: Arc<Part>,
        deadline: Deadline,
        (k, counted): (usize, bool),
        is_traced: bool,
    ) -> Ranged<S> {
        Ranged {
            query,
            opened,
            deadline,
            k,
            counted,
            after: None,
            is_traced,
            begun: OnceLock::new(),
            found: Mutex::default(),
        }
    }

    /// Leaves out the hits up to a place.
    pub(super) fn after(self, after: Option<Arc<After>>) -> Ranged<S> {
        Ranged { after, ..self }
    }

    /// Returns plan and ranges; `None` where the query ended before they were made.
    pub(super) fn begun(&self) -> Option<&Begun> {
        self.begun.get()
    }

    /// Plans and predicts; an error where the query ends here.
    fn begin(
        &self,
        taken: Instant,
        visiting: &Visiting,
        handler: &Handler<'_>,
        is_abandoned: IsAbandoned<'_>,
    ) -> Result<(), PartError> {
        let Handler { board, figures, .. } = handler;
        if taken >= self.deadline.at || is_abandoned() {
            figures.never_begun.fetch_add(1, Ordering::Relaxed);
            let (query, index) = (self.query.id, self.query.index());
            tracing::debug!(query, index, "never begun: expired or cancelled");
            return Err(match taken >= self.deadline.at {
                true => PartError::Expired,
                false => PartError::Cancelled,
            });
        }
        let planned = self.query.planned(self.opened.index())?;
        let cost = planned.plan.cost();
        let work = work_of::<S>(cost, (self.k, self.counted), self.opened.segments().len());
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
            _ => {
                let cut = Cut {
                    ranges_max: ranges as usize,
                    postings_min: board.range_postings_min(),
                };
                task.cut_by_first(cut.for_lists(cost.lists))
            }
        };
        let begun = Begun {
            taken,
            started: Instant::now(),
            planned,
            task,
            work,
            predicted,
            is_cut: ranges > 1,
            is_on_request: start.is_on_request() || handler.is_guest && ranges == 1,
            is_measured: is_measured(self.is_traced, predicted.likely_ns),
        };
        // The board lets one handler begin.
        let _ = self.begun.set(begun);
        Ok(())
    }

    /// Works on the ranges of the query until none is left or the policy sends the handler elsewhere for good; an error
    /// where the query ends before it was begun.
    pub(super) fn visit(
        &self,
        visiting: &Visiting,
        handler: &Handler<'_>,
        is_abandoned: IsAbandoned<'_>,
    ) -> Result<Ended, PartError> {
        let _span =
            tracing::debug_span!("handler", query = self.query.id, index = self.query.index())
                .entered();
        let taken = Instant::now();
        if let Turn::Begin(_) = visiting.turn {
            self.begin(taken, visiting, handler, is_abandoned)?;
        }
        let Some(begun) = self.begun.get() else {
            return Ok(Ended::Exhausted);
        };
        if handler.is_guest && (begun.is_cut || begun.predicted.likely_ns > GUEST_LIKELY_NS_MAX) {
            if self.is_traced {
                lock(&self.found).stays.push(Stay::of_guest(
                    handler.number,
                    visiting,
                    begun.started,
                ));
            }
            return Ok(Ended::Leaves);
        }
        let is_due = is_due(taken, self.deadline.at, is_abandoned);
        let asking = Asking::new(handler);
        let is_asked = || asking.is_asked();
        let stop = match begun.is_on_request {
            true => Stop::when(&is_due).asked_by(&is_asked),
            false => Stop::when(&is_due),
        };
        let mut worker = begun.task.worker(&stop);
        self.take_ranges(begun, &mut worker, (visiting, taken), (handler, &asking));
        let mut back;
        let mut visiting = visiting;
        while !begun.task.is_exhausted() {
            match handler.interludes.interlude(visiting) {
                Some(next) => back = next,
                None => return Ok(Ended::HasLeft),
            }
            visiting = &back;
            let again = (visiting, Instant::now());
            self.take_ranges(begun, &mut worker, again, (handler, &asking));
        }
        Ok(Ended::Exhausted)
    }

    /// Takes ranges until none is left or the policy sends the handler elsewhere, and keeps their hits or matches.
    fn take_ranges(
        &self,
        begun: &Begun,
        worker: &mut Worker<'_>,
        (visiting, taken): (&Visiting, Instant),
        (handler, asking): (&Handler<'_>, &Asking<'_>),
    ) {
        let board = handler.board;
        let clock = begun.is_measured.then(ThreadClock::now);
        let start = taken.max(begun.started);
        let mut visitor = HandlerVisit::new(visiting, handler);
        if begun.is_cut && matches!(visiting.turn, Turn::Begin(_)) {
            visitor = visitor.with_cpu_time_of_opening();
        }
        if begun.is_on_request {
            visitor = visitor.asked(asking);
        }
        let mut visit = || S::of(worker, &mut visitor);
        let (share, filters) = match self.is_traced {
            true => watch_filters(visit),
            false => (visit(), Vec::new()),
        };
        let times = clock.map(|clock| clock.elapsed());
        if visitor.has_cpu_time() {
            board.observe_cpu(visitor.ranges_time, visitor.ranges_wall);
        } else if begun.is_on_request
            && let Some(times) = times
        {
            board.observe_cpu(times.cpu, taken.elapsed());
        }
        let (ranges_count, ranges_time) = (visitor.ranges_count, visitor.ranges_time);
        let mut found = lock(&self.found);
        if self.is_traced {
            found.stays.push(Stay {
                handler: handler.number,
                turn: visiting.turn,
                number: visiting.number,
                start,
                end: Instant::now(),
                ranges_searched: ranges_count,
                ranges_skipped: share.as_ref().map_or(0, S::ranges_skipped),
                times,
                is_stopped: share.as_ref().is_ok_and(S::is_stopped),
                is_exhausted: begun.task.is_exhausted(),
            });
        }
        found.times += times.unwrap_or_default();
        found.filters.extend(filters);
        let documents_count = share.as_ref().map_or(0, S::documents_count);
        match share {
            Ok(share) => found.shares.push(share),
            Err(error) => {
                begun.task.abandon();
                found.error.get_or_insert(error.into());
            }
        }
        found.worked += board.at_full_speed(handler.number, taken.elapsed());
        let of_role = match visiting.visit.is_owner {
            true => &mut found.owned,
            false => &mut found.helped,
        };
        of_role.0 += documents_count;
        of_role.1 += board.at_full_speed(handler.number, ranges_time);
    }

    /// Returns the findings of all handlers, once the last one has left.
    pub(super) fn take(&self) -> Found<S> {
        std::mem::take(&mut *lock(&self.found))
    }

    /// Learns from a query that ended without an error and searched `searched` of its documents.
    pub(super) fn learn(
        &self,
        begun: &Begun,
        found: &Found<S>,
        (searched, documents): (u64, u64),
        board: &SharedBoard,
        figures: &Figures,
    ) {
        if searched < documents {
            figures.ended_early.fetch_add(1, Ordering::Relaxed);
            let query = self.query.id;
            tracing::debug!(query, done = searched, of = documents, "ended early");
        } else {
            // What handlers waited for a CPU is not the work of the search.
            let worked = found.worked.saturating_sub(found.times.run_queue);
            board.observe(&begun.work, &begun.predicted, worked, figures);
        }
        if found.helped.0 > 0 && found.owned.0 > 0 {
            figures.helped.fetch_add(1, Ordering::Relaxed);
            let of = |(documents, time): (u64, Duration)| time.as_secs_f64() / documents as f64;
            board.observe_efficiency(of(found.owned) / of(found.helped), figures);
        }
    }

    /// Leaves the rest undone.
    pub(super) fn abandon(&self) {
        if let Some(begun) = self.begun.get() {
            begun.task.abandon();
        }
    }
}

/// Returns the features that predict the time of a search. Gathering and exact counts have kinds of their own.
fn work_of<S: RangesShare>(cost: PlanCost, (k, counted): (usize, bool), segments: usize) -> Work {
    let wanted = match (S::GATHERS, counted) {
        (false, false) => 0,
        (false, true) => 1,
        (true, _) => 2,
    };
    Work {
        kind: cost.kind as usize + wanted * PlanKind::ALL.len(),
        postings: cost.postings,
        lists: cost.lists,
        k: u32::try_from(k.saturating_mul(segments.max(1))).unwrap_or(u32::MAX),
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
