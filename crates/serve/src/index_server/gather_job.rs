//! Facets and sorted hits on the board: handlers gather all matches, and the last one that leaves counts or sorts them.

use crate::api::messages::{CountFacetsRequest, PartitionHits, SearchRequest};
use crate::api::reply::Reply;
use crate::handlers::deadline::{Deadline, is_due};
use crate::handlers::figures::Figures;
use crate::handlers::shared_board::{Ended, Handler, Job, SharedBoard, Visiting};
use crate::index_server::ranged::{Begun, Ranged, lock};
use engine::calls::PartError;
use engine::{Aggregated, Aggregation};
use fields::FacetCounts;
use search::{FacetError, FilterRun, Gathered, MatchesShare, Stop};
use std::sync::Mutex;

/// A query whose matches are gathered.
#[derive(Debug)]
pub(super) struct GatherJob {
    ranged: Ranged<MatchesShare>,
    /// Taken by the thread that replies.
    asked: Mutex<Option<Asked>>,
}

/// Result requested of the matches.
#[derive(Debug)]
pub(super) enum Asked {
    /// Hits in an order of fields.
    Sorted {
        request: SearchRequest,
        reply: Reply<PartitionHits>,
    },
    Facets {
        request: CountFacetsRequest,
        reply: Reply<Vec<FacetCounts>>,
    },
}

impl Asked {
    fn fail<E: Into<PartError>>(self, error: PartError, verify: impl FnOnce() -> Result<(), E>) {
        match self {
            Asked::Sorted { reply, .. } => reply.send_verified(Err(error), verify),
            Asked::Facets { reply, .. } => reply.send_verified(Err(error), verify),
        }
    }

    fn is_abandoned(&self) -> bool {
        match self {
            Asked::Sorted { reply, .. } => reply.is_abandoned(),
            Asked::Facets { reply, .. } => reply.is_abandoned(),
        }
    }

    fn aggregation(&self) -> Aggregation {
        match self {
            Asked::Sorted { request, .. } => request.aggregation(),
            Asked::Facets { request, .. } => request.aggregation(),
        }
    }
}

impl GatherJob {
    pub(super) fn new(ranged: Ranged<MatchesShare>, asked: Asked) -> GatherJob {
        GatherJob {
            ranged,
            asked: Mutex::new(Some(asked)),
        }
    }

    fn is_abandoned(&self) -> bool {
        let asked = lock(&self.asked);
        asked.as_ref().is_none_or(Asked::is_abandoned)
    }

    /// Counts or sorts matches, until the deadline.
    fn aggregated(
        &self,
        begun: &Begun,
        gathered: &Gathered,
        asked: &Asked,
    ) -> Result<Aggregated, FacetError> {
        let is_abandoned = || asked.is_abandoned();
        let is_due = is_due(begun.taken, self.ranged.deadline.at, &is_abandoned);
        let stop = Stop::when(&is_due);
        let opened = &self.ranged.opened;
        opened.aggregated(gathered, &asked.aggregation(), &stop)
    }

    /// Returns the hits in the order of fields. Nothing is found where the time did not suffice for all matches.
    fn sorted(&self, begun: &Begun, found: Aggregated, filters: Vec<FilterRun>) -> PartitionHits {
        PartitionHits {
            queueing_us: (begun.taken - self.ranged.deadline.arrived).as_micros() as u64,
            search_us: begun.started.elapsed().as_micros() as u64,
            filters,
            ..PartitionHits::of_values(found).planned_by(&begun.planned)
        }
    }
}

impl Job for GatherJob {
    fn deadline(&self) -> &Deadline {
        &self.ranged.deadline
    }

    fn visit(&self, visiting: &Visiting, handler: &Handler<'_>) -> Ended {
        let is_abandoned = || self.is_abandoned();
        let visited = (self.ranged).visit(visiting, handler, &is_abandoned);
        visited.unwrap_or_else(|error| {
            if let Some(asked) = lock(&self.asked).take() {
                asked.fail(error, || Ok::<_, PartError>(()));
            }
            Ended::Exhausted
        })
    }

    fn finish(&self, board: &SharedBoard, figures: &Figures) {
        let Some(begun) = self.ranged.begun() else {
            return;
        };
        let Some(asked) = lock(&self.asked).take() else {
            return;
        };
        let opened = &self.ranged.opened;
        let verify = || opened.verify(begun.planned.since);
        let mut found = self.ranged.take();
        if let Some(error) = found.error.take() {
            return asked.fail(error, verify);
        }
        let gathered = begun.task.gathered(std::mem::take(&mut found.shares));
        let coverage = (gathered.documents_searched, gathered.documents_count);
        self.ranged.learn(begun, &found, coverage, board, figures);
        let made = match self.aggregated(begun, &gathered, &asked) {
            Ok(made) => made,
            Err(error) => return asked.fail(error.into(), verify),
        };
        match asked {
            Asked::Sorted { request, reply } => {
                let filters = FilterRun::merged(found.filters);
                let found = self.sorted(begun, made, filters);
                let found = match found.grouped(opened, request.collapse.as_deref()) {
                    Ok(found) => found,
                    Err(error) => return reply.send_verified(Err(error.into()), verify),
                };
                if let Some(times) = figures.times.get() {
                    times.searched(&found);
                }
                reply.send_verified(Ok::<_, PartError>(found), verify);
            }
            Asked::Facets { reply, .. } => {
                let counts = match made.is_complete() {
                    true => Ok(made.facets),
                    false => Err(PartError::Expired),
                };
                reply.send_verified(counts, verify);
            }
        }
    }

    fn abandon(&self) {
        self.ranged.abandon();
        // Dropped unanswered, it is an error at the other end.
        drop(lock(&self.asked).take());
    }
}
