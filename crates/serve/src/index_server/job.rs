//! Jobs of a handler: searches, details and site counts, each with a deadline.
//!
//! A job plans its query itself, so that planning too is queued, counted and cancelled.

use crate::api::messages::{DetailsRequest, HitDetails, PartitionHits, Planned, Query};
use crate::api::reply::Reply;
use crate::api::server_error::ServerError;
use crate::index_server::details::details;
use crate::index_server::figures::Figures;
use engine::Part;
use index::IndexError;
use search::Stop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Running time after which work is heavy, and the interval at which heavy work then yields its core.
/// The kernel would make other threads wait for a time slice of milliseconds, which is longer than most
/// searches take.
const HEAVY_AFTER: Duration = Duration::from_millis(2);
const YIELDS_EVERY: Duration = Duration::from_micros(250);

/// A job of a handler, stamped with its arrival.
pub(crate) struct Job {
    query: Arc<Query>,
    opened: Arc<Part>,
    arrived: Instant,
    deadline: Instant,
    work: Work,
}

pub(crate) enum Work {
    Search {
        k: usize,
        counted: bool,
        reply: Reply<PartitionHits>,
    },
    Details {
        request: DetailsRequest,
        reply: Reply<Vec<HitDetails>>,
    },
    CountSites {
        sites: Arc<[String]>,
        limit: u64,
        reply: Reply<Vec<u64>>,
    },
}

impl Job {
    pub(crate) fn new(query: Arc<Query>, opened: Arc<Part>, deadline: Instant, work: Work) -> Job {
        Job {
            query,
            opened,
            arrived: Instant::now(),
            deadline,
            work,
        }
    }

    /// Returns the number of the query, for logs.
    pub(crate) fn query_id(&self) -> u64 {
        self.query.id
    }

    /// Brings the deadline forward to `cut_off` after the arrival.
    pub(crate) fn cut_off(&mut self, cut_off: Duration) {
        self.deadline = self.deadline.min(self.arrived + cut_off);
    }

    /// Replies with an error.
    pub(crate) fn fail(self, error: ServerError) {
        match self.work {
            Work::Search { reply, .. } => reply.send(Err(error)),
            Work::Details { reply, .. } => reply.send(Err(error)),
            Work::CountSites { reply, .. } => reply.send(Err(error)),
        }
    }

    fn is_abandoned(&self) -> bool {
        match &self.work {
            Work::Search { reply, .. } => reply.is_abandoned(),
            Work::Details { reply, .. } => reply.is_abandoned(),
            Work::CountSites { reply, .. } => reply.is_abandoned(),
        }
    }

    /// Runs the job and replies.
    pub(crate) fn run(self, figures: &Figures) {
        let taken = Instant::now();
        if taken >= self.deadline || self.is_abandoned() {
            figures.never_begun.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(query = self.query.id, "never begun: expired or cancelled");
            return match taken >= self.deadline {
                true => self.fail(ServerError::Expired),
                false => self.fail(ServerError::Cancelled),
            };
        }
        let _span = tracing::debug_span!("handler", query = self.query.id).entered();
        let planned = match self.query.planned(self.opened.index()) {
            Ok(planned) => planned,
            Err(error) => return self.fail(error.into()),
        };
        let under_way = UnderWay {
            begun: Instant::now(),
            query: self.query.id,
            planned: &planned,
            opened: &self.opened,
            arrived: self.arrived,
            taken,
            deadline: self.deadline,
            figures,
        };
        let verify = || self.opened.verify(planned.since);
        match self.work {
            Work::Search { k, counted, reply } => {
                let found = under_way.search(k, counted, &|| reply.is_abandoned());
                reply.send_verified(found.map_err(ServerError::from), verify);
            }
            Work::Details { request, reply } => {
                let details = under_way.details(&request, &|| reply.is_abandoned());
                reply.send_verified(details, verify);
            }
            Work::CountSites {
                sites,
                limit,
                reply,
            } => {
                let counts = under_way.count_sites(&sites, limit, &|| reply.is_abandoned());
                reply.send_verified(counts, verify);
            }
        }
    }
}

/// A job that a handler is running.
struct UnderWay<'a> {
    query: u64,
    planned: &'a Planned,
    opened: &'a Part,
    arrived: Instant,
    taken: Instant,
    /// Time at which planning ended.
    begun: Instant,
    deadline: Instant,
    figures: &'a Figures,
}

/// Cancellation check: whether the client has gone.
type IsAbandoned<'a> = &'a (dyn Fn() -> bool + Sync);

impl UnderWay<'_> {
    /// Returns the stop check that a search calls every few dozen microseconds: whether the deadline
    /// has passed or the request was cancelled. Heavy work yields its core in it.
    fn is_due<'f>(&'f self, is_abandoned: IsAbandoned<'f>) -> impl Fn() -> bool + Sync + 'f {
        let yields_at_us = AtomicU64::new(HEAVY_AFTER.as_micros() as u64);
        move || {
            let now = Instant::now();
            let worked_us = now.saturating_duration_since(self.taken).as_micros() as u64;
            if worked_us >= yields_at_us.load(Ordering::Relaxed) {
                thread::yield_now();
                let next_us = worked_us + YIELDS_EVERY.as_micros() as u64;
                yields_at_us.store(next_us, Ordering::Relaxed);
            }
            now >= self.deadline || is_abandoned()
        }
    }

    fn search(
        &self,
        k: usize,
        counted: bool,
        is_abandoned: IsAbandoned<'_>,
    ) -> Result<PartitionHits, IndexError> {
        let is_due = self.is_due(is_abandoned);
        let stop = Stop::when(&is_due);
        // One handler runs each query, so its share is the whole result.
        let found = self.opened.search(&self.planned.plan, k, counted, &stop);
        let search_us = self.begun.elapsed().as_micros() as u64;
        let worked_us = self.taken.elapsed().as_micros() as u64;
        self.figures.searched(worked_us);
        let found = found?;
        if found.documents_searched < found.documents_count {
            self.note_early_end(found.documents_searched, found.documents_count);
        }
        let found = PartitionHits {
            is_cut: match found.count_is_exact {
                true => found.matches_count > found.hits.len() as u64,
                false => found.hits.len() >= k,
            },
            hits: found.hits,
            matches_count: found.matches_count,
            count_is_exact: found.count_is_exact,
            documents_searched: found.documents_searched,
            documents_count: found.documents_count,
            generation: self.planned.generation,
            parse_us: self.planned.parse_us,
            queueing_us: (self.taken - self.arrived).as_micros() as u64,
            search_us,
            warnings: self.planned.warnings.clone(),
            summary_terms: self.planned.summary_terms.clone(),
        };
        if let Some(times) = self.figures.times.get() {
            times.searched(&found);
        }
        Ok(found)
    }

    fn details(
        &self,
        request: &DetailsRequest,
        is_abandoned: IsAbandoned<'_>,
    ) -> Result<Vec<HitDetails>, ServerError> {
        let is_due = self.is_due(is_abandoned);
        let stop = Stop::when(&is_due);
        let plan = Some(&*self.planned.plan);
        let details = details(self.opened, request, plan, &stop);
        if matches!(details, Err(ServerError::Expired)) {
            self.note_early_end(0, request.hits.len() as u64);
        }
        details
    }

    /// Counts the matches of each site in all segments, up to `limit`.
    fn count_sites(
        &self,
        sites: &[String],
        limit: u64,
        is_abandoned: IsAbandoned<'_>,
    ) -> Result<Vec<u64>, ServerError> {
        let is_due = self.is_due(is_abandoned);
        let stop = Stop::when(&is_due);
        let mut counts = Vec::with_capacity(sites.len());
        for site in sites {
            let plan = &self.planned.plan;
            counts.push(self.opened.count_site(plan, site, limit, &stop)?);
            if is_due() || stop.is_cancelled() {
                self.note_early_end(0, sites.len() as u64);
                return Err(ServerError::Expired);
            }
        }
        Ok(counts)
    }

    fn note_early_end(&self, done: u64, of: u64) {
        self.figures.ended_early.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(query = self.query, done, of, "ended early");
    }
}
