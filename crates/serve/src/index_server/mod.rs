//! An index server: handlers that search one partition, from one board.
//!
//! ```text
//! request ─► board (arrival stamped) ─► handlers: plan, search ranges ─► the last one merges and replies
//!    │          full: refused at once      expired or cancelled: never begun, or ended where it is
//!    └► a handler idles, nothing waits: the caller's thread searches in its place, and leaves what takes long to the board
//! ```
//!
//! A hand-over to another thread and back takes longer than most searches.
//! The details of a usual page are small reads of mapped memory. The caller's thread reads them,
//! because a hand-over would cost more than the reads. So it does with the words that each hit lacks, where the plan is
//! known and has few words. A handler reads the details of large pages, and makes explanations.

mod details;
mod found;
mod gather_job;
mod ranged;
mod search_job;
pub(crate) mod synthetic;
mod visits;
mod whole_job;

use crate::api::backend::{IndexServer, Server};
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::api::messages::{
    CountFacetsRequest, CountMatchesRequest, DetailsRequest, HitDetails, NearWordsRequest,
    PartitionHits, Planned, Query, SearchRequest, Status, StatusRequest, TypedWord,
};
use crate::api::reply::Reply;
use crate::handlers::deadline::Deadline;
use crate::handlers::figures::Figures;
use crate::handlers::options::HandlerOptions;
use crate::handlers::shared_board::Job;
use crate::handlers::workers::Handlers;
use crate::index_server::details::details;
use crate::index_server::gather_job::{Asked, GatherJob};
use crate::index_server::ranged::Ranged;
use crate::index_server::search_job::SearchJob;
use crate::index_server::synthetic::{SyntheticJob, SyntheticRequest, SyntheticTimes};
use crate::index_server::whole_job::{WholeJob, Work};
use crate::net::blocking::may_search_here;
use crate::snapshot::served::Served;
use engine::Generations;
use engine::Part;
use engine::calls::Chunks;
use engine::calls::PartError;
use fields::FacetCounts;
use index::Index;
use search::Stop;
use std::sync::{Arc, PoisonError, RwLock};

/// An index server for the chunks of one partition, with handler threads of its own or those of all indexes.
pub struct InProcessIndexServer {
    served: Served,
    /// Open generations, the newest first.
    opened: RwLock<Vec<Arc<Part>>>,
    handlers: Arc<Handlers>,
}

/// Upper limit on the hits whose details the thread of the request reads itself: about thirty
/// microseconds.
const DETAILS_INLINE_MAX: usize = 16;

/// Upper limit on the words that are looked for in those hits.
const LACKS_INLINE_MAX: usize = 8;

impl InProcessIndexServer {
    /// Starts the handlers for `chunks` of an index. It fails if the cut divides chunks that share a
    /// segment.
    pub fn start(
        generations: Arc<Generations>,
        chunks: Chunks,
        options: &HandlerOptions,
        draining: Draining,
    ) -> Result<InProcessIndexServer, ServeError> {
        let name = format!("handler-{}", chunks.start());
        let handlers = Arc::new(Handlers::start(&name, options)?);
        InProcessIndexServer::by_handlers(generations, chunks, handlers, draining)
    }

    /// Returns a server for `chunks` of an index by handlers that others share. It fails if the cut divides chunks that
    /// share a segment.
    pub(crate) fn by_handlers(
        generations: Arc<Generations>,
        chunks: Chunks,
        handlers: Arc<Handlers>,
        draining: Draining,
    ) -> Result<InProcessIndexServer, ServeError> {
        vfs::survive_lost_pages();
        generations.serve(chunks.clone())?;
        let opened = Part::new(generations.newest(), chunks.clone());
        Ok(InProcessIndexServer {
            served: Served::new(generations, chunks, draining),
            opened: RwLock::new(vec![Arc::new(opened)]),
            handlers,
        })
    }

    /// Returns the counters of the handlers and the queue.
    pub fn figures(&self) -> Arc<Figures> {
        self.handlers.figures()
    }

    /// Returns the chunks of this partition.
    pub fn chunks(&self) -> &Chunks {
        &self.served.chunks
    }

    pub(crate) fn generations(&self) -> &Arc<Generations> {
        &self.served.generations
    }

    /// Makes handlers spin in place of a search, for the laboratory.
    pub fn spin(&self, request: SyntheticRequest, reply: Reply<SyntheticTimes>) {
        if let Some(waiting) = self.handlers.full() {
            return reply.send(Err(PartError::Overloaded { waiting }));
        }
        let deadline = Deadline::now(request.deadline, self.handlers.cut_off());
        let job = SyntheticJob::new(request, deadline, reply);
        self.handlers.enqueue(Arc::new(job));
    }

    /// Returns the generation asked for, with this partition's segments at hand.
    fn opened(&self, generation: u64) -> Result<Arc<Part>, PartError> {
        let index = self.served.generations.get(generation);
        let index = index.ok_or(PartError::GenerationGone { generation })?;
        let opened = self.opened_of(index);
        // An index known to be damaged is not searched.
        opened.ensure_trusted()?;
        Ok(opened)
    }

    fn opened_of(&self, index: Arc<Index>) -> Arc<Part> {
        // Compare the indexes and not their numbers: a damaged generation may have been opened again.
        let find = |opened: &[Arc<Part>]| {
            let mut opened = opened.iter();
            opened.find(|one| Arc::ptr_eq(one.index(), &index)).cloned()
        };
        let held = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&held) {
            return found;
        }
        drop(held);
        let mut held = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&held) {
            return found;
        }
        let generation = index.generation();
        held.retain(|one| one.index().generation() != generation);
        let opened = Arc::new(Part::new(index, self.served.chunks.clone()));
        held.insert(0, Arc::clone(&opened));
        // The same number as `Generations` keeps.
        held.truncate(2);
        opened
    }

    /// Closes generations that no search can begin with any more. Their files may be removed, and take space while they
    /// are open.
    fn close_gone(&self) {
        let (newest, before) = self.served.generations.held();
        let is_held = |one: &Arc<Part>| {
            let mut held = [Some(&newest), before.as_ref()].into_iter().flatten();
            held.any(|index| Arc::ptr_eq(one.index(), index))
        };
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        opened.retain(is_held);
    }

    /// Returns a job on an open generation; answers at once where it is not open.
    fn job<T>(
        &self,
        opened: Result<Arc<Part>, PartError>,
        deadline: std::time::Instant,
        reply: Reply<T>,
        job: impl FnOnce(Arc<Part>, Deadline, Reply<T>) -> Arc<dyn Job>,
    ) -> Option<Arc<dyn Job>> {
        match opened {
            Ok(opened) => {
                let deadline = Deadline::now(deadline, self.handlers.cut_off());
                Some(job(opened, deadline, reply))
            }
            Err(error) => {
                reply.send(Err(error));
                None
            }
        }
    }

    /// Puts a job on the board; answers at once where the generation is not open.
    fn enqueue<T>(
        &self,
        opened: Result<Arc<Part>, PartError>,
        deadline: std::time::Instant,
        reply: Reply<T>,
        job: impl FnOnce(Arc<Part>, Deadline, Reply<T>) -> Arc<dyn Job>,
    ) {
        if let Some(job) = self.job(opened, deadline, reply, job) {
            self.handlers.enqueue(job);
        }
    }

    /// Returns the generation by which details are read: that of the request; or, where it is not open and no plan of it is
    /// needed, one that has every hit unchanged.
    fn opened_for(&self, request: &DetailsRequest) -> Result<Arc<Part>, PartError> {
        match self.opened(request.generation) {
            // Scores are explained, and words are telling, by the statistics of the generation that was searched.
            Err(PartError::GenerationGone { generation }) if !request.explain && !request.lacks => {
                let (newest, before) = self.served.generations.held();
                for index in [Some(newest), before].into_iter().flatten() {
                    let opened = self.opened_of(index);
                    if opened.ensure_trusted().is_ok() && opened.holds_all(&request.hits) {
                        return Ok(opened);
                    }
                }
                Err(PartError::GenerationGone { generation })
            }
            opened => opened,
        }
    }

    /// Returns the plan of a query, where it is known and has few telling words.
    fn plan_of_few_words(&self, query: &Query, generation: u64) -> Option<Arc<Planned>> {
        let opened = self.opened(generation).ok()?;
        let planned = query.known_plan(opened.index())?;
        (planned.plan.telling_words().len() <= LACKS_INLINE_MAX).then_some(planned)
    }

    /// Reads the details of a few hits on the calling thread, and by its plan the words that they lack.
    fn details_here(
        &self,
        request: &DetailsRequest,
        planned: Option<&Planned>,
        reply: Reply<Vec<HitDetails>>,
    ) {
        let is_due = || std::time::Instant::now() >= request.deadline;
        let stop = Stop::when(&is_due);
        match self.opened_for(request) {
            Ok(opened) => {
                // The plan was made of bytes read since its own start.
                let now = || opened.index().read_start();
                let since = planned.map_or_else(now, |planned| planned.since);
                let plan = planned.map(|planned| &*planned.plan);
                let details = details(&opened, request, plan, &stop);
                reply.send_verified(details, || opened.verify(since));
            }
            Err(error) => reply.send(Err(error)),
        }
    }
}

impl IndexServer for InProcessIndexServer {
    fn search(&self, query: &Arc<Query>, request: SearchRequest, reply: Reply<PartitionHits>) {
        if let Some(waiting) = self.handlers.full() {
            self.handlers.note_refusal(query.id, query.index(), waiting);
            return reply.send(Err(PartError::Overloaded { waiting }));
        }
        let (opened, deadline) = (self.opened(request.generation), request.deadline);
        let query = Arc::clone(query);
        if !request.sort.is_empty() {
            return self.enqueue(opened, deadline, reply, |opened, deadline, reply| {
                let ranged = Ranged::new(query, opened, deadline, (0, true), request.trace);
                Arc::new(GatherJob::new(ranged, Asked::Sorted { request, reply }))
            });
        }
        // Planning a pattern may read all words.
        let is_guest = request.caller_waits && query.tree.is_of_words() && may_search_here();
        let job = self.job(opened, deadline, reply, |opened, deadline, reply| {
            let wanted = (request.k, request.counted);
            let ranged = Ranged::new(query, opened, deadline, wanted, request.trace);
            Arc::new(SearchJob::new(
                ranged.after(request.after),
                request.collapse,
                reply,
            ))
        });
        match job {
            Some(job) if is_guest => self.handlers.work_as_guest(job),
            Some(job) => self.handlers.enqueue(job),
            None => {}
        }
    }

    fn details(&self, query: &Arc<Query>, request: DetailsRequest, reply: Reply<Vec<HitDetails>>) {
        if !request.explain && request.hits.len() <= DETAILS_INLINE_MAX {
            match request.lacks {
                false => return self.details_here(&request, None, reply),
                // A look-up for each word in each hit.
                true => {
                    if let Some(planned) = self.plan_of_few_words(query, request.generation) {
                        return self.details_here(&request, Some(&planned), reply);
                    }
                }
            }
        }
        let (opened, deadline) = (self.opened_for(&request), request.deadline);
        self.enqueue(opened, deadline, reply, |opened, deadline, reply| {
            let work = Work::Details { request, reply };
            let job = WholeJob::new(Arc::clone(query), opened, deadline, work);
            Arc::new(job) as Arc<dyn Job>
        });
    }

    fn count_matches(
        &self,
        query: &Arc<Query>,
        request: CountMatchesRequest,
        reply: Reply<Vec<u64>>,
    ) {
        let (opened, deadline) = (self.opened(request.generation), request.deadline);
        self.enqueue(opened, deadline, reply, |opened, deadline, reply| {
            let counted = request.counted;
            let work = Work::CountMatches { counted, reply };
            let job = WholeJob::new(Arc::clone(query), opened, deadline, work);
            Arc::new(job) as Arc<dyn Job>
        });
    }

    fn count_facets(
        &self,
        query: &Arc<Query>,
        request: CountFacetsRequest,
        reply: Reply<Vec<FacetCounts>>,
    ) {
        let (opened, deadline) = (self.opened(request.generation), request.deadline);
        self.enqueue(opened, deadline, reply, |opened, deadline, reply| {
            let ranged = Ranged::new(Arc::clone(query), opened, deadline, (0, true), false);
            Arc::new(GatherJob::new(ranged, Asked::Facets { request, reply }))
        });
    }

    fn near_words(
        &self,
        query: &Arc<Query>,
        request: NearWordsRequest,
        reply: Reply<Vec<TypedWord>>,
    ) {
        let (opened, deadline) = (self.opened(0), request.deadline);
        self.enqueue(opened, deadline, reply, |opened, deadline, reply| {
            let work = Work::NearWords { request, reply };
            let job = WholeJob::new(Arc::clone(query), opened, deadline, work);
            Arc::new(job) as Arc<dyn Job>
        });
    }
}

impl Server for InProcessIndexServer {
    fn status(&self, request: &StatusRequest, reply: Reply<Status>) {
        self.served.status(request, reply);
    }

    fn reload(&self, reply: Reply<u64>) {
        let reloaded = self.served.reload();
        self.close_gone();
        reply.send(reloaded);
    }
}
