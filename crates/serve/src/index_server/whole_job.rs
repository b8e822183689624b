//! Details, counts of matches and words near those typed: jobs that one handler does in one go, each under its deadline.
//!
//! A job plans its query itself, so that planning too is queued, counted and cancelled.

use crate::api::messages::{
    Counted, DetailsRequest, HitDetails, NearWordsRequest, Planned, Query, TypedWord,
};
use crate::api::reply::Reply;
use crate::handlers::deadline::{Deadline, IsAbandoned, is_due};
use crate::handlers::figures::Figures;
use crate::handlers::shared_board::{Ended, Handler, Job, SharedBoard, Visiting};
use crate::index_server::details::details;
use engine::Part;
use engine::calls::PartError;
use search::Stop;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Work that one handler does in one go.
#[derive(Debug)]
pub(crate) struct WholeJob {
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
    CountMatches {
        counted: Counted,
        reply: Reply<Vec<u64>>,
    },
    NearWords {
        request: NearWordsRequest,
        reply: Reply<Vec<TypedWord>>,
    },
}

impl Work {
    fn fail(self, error: PartError) {
        match self {
            Work::Details { reply, .. } => reply.send(Err(error)),
            Work::CountMatches { reply, .. } => reply.send(Err(error)),
            Work::NearWords { reply, .. } => reply.send(Err(error)),
        }
    }

    fn is_abandoned(&self) -> bool {
        match self {
            Work::Details { reply, .. } => reply.is_abandoned(),
            Work::CountMatches { reply, .. } => reply.is_abandoned(),
            Work::NearWords { reply, .. } => reply.is_abandoned(),
        }
    }
}

impl WholeJob {
    pub(crate) fn new(
        query: Arc<Query>,
        opened: Arc<Part>,
        deadline: Deadline,
        work: Work,
    ) -> WholeJob {
        WholeJob {
            query,
            opened,
            deadline,
            work: Mutex::new(Some(work)),
        }
    }

    /// Does the work and replies.
    fn run(&self, figures: &Figures) {
        let work = self
            .work
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(work) = work else { return };
        let taken = Instant::now();
        if taken >= self.deadline.at || work.is_abandoned() {
            figures.never_begun.fetch_add(1, Ordering::Relaxed);
            let (query, index) = (self.query.id, self.query.index());
            tracing::debug!(query, index, "never begun: expired or cancelled");
            return match taken >= self.deadline.at {
                true => work.fail(PartError::Expired),
                false => work.fail(PartError::Cancelled),
            };
        }
        let _span =
            tracing::debug_span!("handler", query = self.query.id, index = self.query.index())
                .entered();
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
            Work::CountMatches { counted, reply } => {
                let counts = under_way.count_matches(&counted, &|| reply.is_abandoned());
                reply.send_verified(counts, verify);
            }
            Work::NearWords { request, reply } => {
                let words = self.opened.near_words(&request);
                reply.send_verified(words.map_err(PartError::from), verify);
            }
        }
    }
}

impl Job for WholeJob {
    fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    fn visit(&self, _: &Visiting, handler: &Handler<'_>) -> Ended {
        self.run(handler.figures);
        Ended::Exhausted
    }

    fn finish(&self, _: &SharedBoard, _: &Figures) {}

    fn abandon(&self) {}
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
    ) -> Result<Vec<HitDetails>, PartError> {
        let is_due = is_due(self.taken, self.deadline, is_abandoned);
        let stop = Stop::when(&is_due);
        let plan = Some(&*self.planned.plan);
        let details = details(self.opened, request, plan, &stop);
        if matches!(details, Err(PartError::Expired)) {
            self.note_early_end(0, request.hits.len() as u64);
        }
        details
    }

    fn count_matches(
        &self,
        counted: &Counted,
        is_abandoned: IsAbandoned<'_>,
    ) -> Result<Vec<u64>, PartError> {
        let is_due = is_due(self.taken, self.deadline, is_abandoned);
        let stop = Stop::when(&is_due);
        let counts = (self.opened).count_matches(&self.planned.plan, counted, &stop)?;
        if is_due() || stop.is_cancelled() {
            self.note_early_end(0, counted.counts_len() as u64);
            return Err(PartError::Expired);
        }
        Ok(counts)
    }

    fn note_early_end(&self, done: u64, of: u64) {
        self.figures.ended_early.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(query = self.query, done, of, "ended early");
    }
}
