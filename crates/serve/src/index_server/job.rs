//! Work for a handler: searches, details, counts of sites, each under its deadline.
//!
//! A job plans its query itself, so that planning too is queued, counted and cancelled.

use crate::api::messages::{DetailsRequest, HitDetails, Planned, Query};
use crate::api::reply::Reply;
use crate::api::server_error::ServerError;
use crate::index_server::details::details;
use crate::index_server::figures::Figures;
use crate::index_server::search_job::SearchJob;
use crate::index_server::synthetic::SyntheticJob;
use engine::Part;
use search::Stop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Work that has run for this long is heavy: it yields its core that often. The kernel would make others wait
/// for a slice of milliseconds, which is longer than most searches take.
const HEAVY_AFTER: Duration = Duration::from_millis(2);
const YIELDS_EVERY: Duration = Duration::from_micros(250);

/// Arrival and deadline of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) arrived: Instant,
    pub(crate) at: Instant,
}

impl Deadline {
    /// Returns the deadline of a request that arrives now, at most `cut_off` away.
    pub(crate) fn now(at: Instant, cut_off: Option<Duration>) -> Deadline {
        let arrived = Instant::now();
        Deadline {
            arrived,
            at: cut_off.map_or(at, |cut_off| at.min(arrived + cut_off)),
        }
    }
}

/// Work for handlers.
#[derive(Debug)]
pub(crate) enum Job {
    /// A search: several handlers can share it.
    Search(Box<SearchJob>),
    /// A search that spins, for the laboratory.
    Synthetic(SyntheticJob),
    /// Details or counts: one handler does them in one go.
    Other(OtherJob),
}

impl Job {
    pub(crate) fn arrived(&self) -> Instant {
        match self {
            Job::Search(search) => search.deadline.arrived,
            Job::Synthetic(synthetic) => synthetic.deadline.arrived,
            Job::Other(other) => other.deadline.arrived,
        }
    }

    pub(crate) fn deadline(&self) -> Instant {
        match self {
            Job::Search(search) => search.deadline.at,
            Job::Synthetic(synthetic) => synthetic.deadline.at,
            Job::Other(other) => other.deadline.at,
        }
    }
}

/// Work that one handler does in one go.
#[derive(Debug)]
pub(crate) struct OtherJob {
    query: Arc<Query>,
    opened: Arc<Part>,
    deadline: Deadline,
    /// Taken by the handler.
    work: Mutex<Option<Work>>,
}

#[derive(Debug)]
pub(crate) enum Work {
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

impl Work {
    fn fail(self, error: ServerError) {
        match self {
            Work::Details { reply, .. } => reply.send(Err(error)),
            Work::CountSites { reply, .. } => reply.send(Err(error)),
        }
    }

    fn is_abandoned(&self) -> bool {
        match self {
            Work::Details { reply, .. } => reply.is_abandoned(),
            Work::CountSites { reply, .. } => reply.is_abandoned(),
        }
    }
}

impl OtherJob {
    pub(crate) fn new(
        query: Arc<Query>,
        opened: Arc<Part>,
        deadline: Deadline,
        work: Work,
    ) -> OtherJob {
        OtherJob {
            query,
            opened,
            deadline,
            work: Mutex::new(Some(work)),
        }
    }

    /// Does the work and replies.
    pub(crate) fn run(&self, figures: &Figures) {
        let work = self
            .work
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(work) = work else { return };
        let taken = Instant::now();
        if taken >= self.deadline.at || work.is_abandoned() {
            figures.never_begun.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(query = self.query.id, "never begun: expired or cancelled");
            return match taken >= self.deadline.at {
                true => work.fail(ServerError::Expired),
                false => work.fail(ServerError::Cancelled),
            };
        }
        let _span = tracing::debug_span!("handler", query = self.query.id).entered();
        let planned = match self.query.planned(self.opened.index()) {
            Ok(planned) => planned,
            Err(error) => return work.fail(error.into()),
        };
        let under_way = UnderWay {
            query: self.query.id,
            planned: &planned,
            opened: &self.opened,
            taken,
            deadline: self.deadline.at,
            figures,
        };
        let verify = || self.opened.verify(planned.since);
        match work {
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

/// Whether the client has gone.
type IsAbandoned<'a> = &'a (dyn Fn() -> bool + Sync);

/// Returns what work asks every few dozen microseconds: whether it is past its deadline or without a client. Heavy work
/// yields its core meanwhile.
pub(super) fn is_due<'f>(
    taken: Instant,
    deadline: Instant,
    is_abandoned: IsAbandoned<'f>,
) -> impl Fn() -> bool + Sync + 'f {
    let yields_at_us = AtomicU64::new(HEAVY_AFTER.as_micros() as u64);
    move || {
        let now = Instant::now();
        let worked_us = now.saturating_duration_since(taken).as_micros() as u64;
        if worked_us >= yields_at_us.load(Ordering::Relaxed) {
            thread::yield_now();
            let next_us = worked_us + YIELDS_EVERY.as_micros() as u64;
            yields_at_us.store(next_us, Ordering::Relaxed);
        }
        now >= deadline || is_abandoned()
    }
}

/// A job on its handler.
struct UnderWay<'a> {
    query: u64,
    planned: &'a Planned,
    opened: &'a Part,
    taken: Instant,
    deadline: Instant,
    figures: &'a Figures,
}

impl UnderWay<'_> {
    fn details(
        &self,
        request: &DetailsRequest,
        is_abandoned: IsAbandoned<'_>,
    ) -> Result<Vec<HitDetails>, ServerError> {
        let is_due = is_due(self.taken, self.deadline, is_abandoned);
        let stop = Stop::when(&is_due);
        let plan = Some(&*self.planned.plan);
        let details = details(self.opened, request, plan, &stop);
        if matches!(details, Err(ServerError::Expired)) {
            self.note_early_end(0, request.hits.len() as u64);
        }
        details
    }

    /// Matches of each site in all segments, up to `limit`.
    fn count_sites(
        &self,
        sites: &[String],
        limit: u64,
        is_abandoned: IsAbandoned<'_>,
    ) -> Result<Vec<u64>, ServerError> {
        let is_due = is_due(self.taken, self.deadline, is_abandoned);
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
