//! A search on the board: answered by the last handler that leaves it.

use crate::api::messages::{HandlerTimes, PartitionHits};
use crate::api::reply::Reply;
use crate::handlers::deadline::Deadline;
use crate::handlers::figures::Figures;
use crate::handlers::shared_board::{Ended, Handler, Job, SharedBoard, Visiting};
use crate::index_server::found::Found;
use crate::index_server::ranged::{Begun, Ranged, lock};
use crate::index_server::visits::visits;
use engine::calls::PartError;
use search::{FilterRun, Share};
use std::sync::{Arc, Mutex};
use wire::Schedule;

/// A search on the board.
#[derive(Debug)]
pub(super) struct SearchJob {
    ranged: Ranged<Share>,
    /// Field by which hits are collapsed.
    collapse: Option<Arc<str>>,
    /// Taken by the thread that replies.
    reply: Mutex<Option<Reply<PartitionHits>>>,
}

impl SearchJob {
    pub(super) fn new(
        ranged: Ranged<Share>,
        collapse: Option<Arc<str>>,
        reply: Reply<PartitionHits>,
    ) -> SearchJob {
        SearchJob {
            ranged,
            collapse,
            reply: Mutex::new(Some(reply)),
        }
    }

    /// Returns whether the client has gone.
    fn is_abandoned(&self) -> bool {
        let reply = lock(&self.reply);
        reply.as_ref().is_none_or(Reply::is_abandoned)
    }

    /// Returns how handlers shared the search, which took `search_us` and was `stopped` before its end or not.
    fn schedule(
        &self,
        begun: &Begun,
        found: &mut Found<Share>,
        (search_us, stopped): (u64, bool),
        board: &SharedBoard,
        handlers: usize,
    ) -> Schedule {
        Schedule {
            part: String::new(),
            policy: board.policy().name(),
            handlers: u32::try_from(handlers).unwrap_or(u32::MAX),
            ranges_cut: u32::try_from(begun.task.len()).unwrap_or(u32::MAX),
            predicted_us: begun.predicted.likely_ns / 1000,
            predicted_high_us: begun.predicted.high_ns / 1000,
            prediction_is_trusted: begun.predicted.is_trusted || board.trusts_all(),
            worked_us: found.worked.as_micros() as u64,
            search_us,
            stopped,
            visits: visits(std::mem::take(&mut found.stays), begun.started),
        }
    }
}

impl Job for SearchJob {
    fn deadline(&self) -> &Deadline {
        &self.ranged.deadline
    }

    fn visit(&self, visiting: &Visiting, handler: &Handler<'_>) -> Ended {
        let is_abandoned = || self.is_abandoned();
        let visited = (self.ranged).visit(visiting, handler, &is_abandoned);
        visited.unwrap_or_else(|error| {
            if let Some(reply) = lock(&self.reply).take() {
                reply.send(Err(error));
            }
            Ended::Exhausted
        })
    }

    fn finish(&self, board: &SharedBoard, figures: &Figures) {
        let Some(begun) = self.ranged.begun() else {
            return;
        };
        let Some(reply) = lock(&self.reply).take() else {
            return;
        };
        let mut found = self.ranged.take();
        let search_us = begun.started.elapsed().as_micros() as u64;
        let planned = &begun.planned;
        let verify = || self.ranged.opened.verify(planned.since);
        if let Some(error) = found.error.take() {
            return reply.send_verified(Err(error), verify);
        }
        let merged = begun.task.merged(std::mem::take(&mut found.shares));
        let (searched, documents) = (merged.documents_searched, merged.documents_count);
        (self.ranged).learn(begun, &found, (searched, documents), board, figures);
        let schedule = self.ranged.is_traced.then(|| {
            let ended = (search_us, searched < documents);
            Box::new(self.schedule(begun, &mut found, ended, board, figures.handlers))
        });
        let is_later = self.ranged.after.is_some();
        let found = PartitionHits {
            queueing_us: (begun.taken - self.ranged.deadline.arrived).as_micros() as u64,
            search_us,
            filters: FilterRun::merged(std::mem::take(&mut found.filters)),
            schedule,
            handlers_us: begun.is_measured.then_some(HandlerTimes {
                cpu: found.times.cpu.as_micros() as u64,
                run_queue: found.times.run_queue.as_micros() as u64,
            }),
            ..PartitionHits::of_scores(merged, self.ranged.k, is_later).planned_by(planned)
        };
        let found = match found.grouped(&self.ranged.opened, self.collapse.as_deref()) {
            Ok(found) => found,
            Err(error) => return reply.send_verified(Err(error.into()), verify),
        };
        if let Some(times) = figures.times.get() {
            times.searched(&found);
        }
        reply.send_verified(Ok::<_, PartError>(found), verify);
    }

    fn abandon(&self) {
        self.ranged.abandon();
        // Dropped unanswered, it is an error at the other end.
        drop(lock(&self.reply).take());
    }
}
