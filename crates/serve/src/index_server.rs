//! An index server: handlers that search one partition, fed by one short queue.
//!
//! ```text
//! request ─► plan ─► queue (arrival stamped) ─► handler ─► reply
//!              │       full: refused at once      │ deadline passed or nobody waits: never started,
//!              └ on the caller's thread           └ or ended where it is
//! ```
//!
//! Handlers only search. Details are small reads of mapped memory and are answered on the caller's
//! thread: a hand-over would cost more than the reading.

use crate::ServeError;
use crate::draining::Draining;
use crate::generations::Generations;
use crate::handlers::{Figures, Handlers, Job, Work};
use crate::reply::Reply;
use crate::tables::Tables;
use crate::transport::{
    Chunks, CountSitesRequest, DetailsRequest, HitDetails, IndexServer, PartitionHits, Planned,
    Query, SearchRequest, ServerError, Status, StatusRequest, explained, reloaded, status_of,
};
use index::{DocId, Field, Index, IndexError, Segment};
use search::exhaustive;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// How an index server searches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HandlerOptions {
    /// Handlers.
    pub handlers: usize,
    /// Requests that may wait; 0 lets the server decide by how long searches take.
    pub queue_length: usize,
    /// Where each handler runs; none leaves it to the kernel.
    pub places: Vec<crate::pinning::Place>,
    /// The most time that a search gets on its handler, whatever the client's deadline (the classic
    /// "cut-off latency").
    pub cut_off: Option<std::time::Duration>,
}

/// An index server for the chunks of one partition, with handler threads of its own.
pub struct InProcessIndexServer {
    generations: Arc<Generations>,
    chunks: Chunks,
    /// The newest first.
    opened: RwLock<Vec<Arc<Opened>>>,
    handlers: Handlers,
    draining: Draining,
    tables: Tables,
}

/// One generation's part of the index.
pub(crate) struct Opened {
    pub(crate) index: Arc<Index>,
    pub(crate) segments: Vec<Arc<Segment>>,
    by_id: HashMap<u32, Arc<Segment>>,
}

impl InProcessIndexServer {
    /// Starts the handlers for `chunks` of an index; refused where they cut what the index has in one segment.
    pub fn start(
        generations: Arc<Generations>,
        chunks: Chunks,
        options: &HandlerOptions,
        draining: Draining,
    ) -> Result<InProcessIndexServer, ServeError> {
        generations.serve(chunks.clone())?;
        let handlers = Handlers::start(*chunks.start(), options)?;
        let opened = Opened::new(generations.newest(), &chunks);
        Ok(InProcessIndexServer {
            generations,
            chunks,
            opened: RwLock::new(vec![Arc::new(opened)]),
            handlers,
            draining,
            tables: Tables::default(),
        })
    }

    /// What the handlers and their queue do at this moment.
    pub fn figures(&self) -> Arc<Figures> {
        self.handlers.figures()
    }

    /// The chunks that it searches.
    pub fn chunks(&self) -> &Chunks {
        &self.chunks
    }

    pub(crate) fn generations(&self) -> &Arc<Generations> {
        &self.generations
    }

    /// The generation asked for, with this partition's segments at hand.
    fn opened(&self, generation: u64) -> Result<Arc<Opened>, ServerError> {
        let index = self.generations.get(generation);
        let index = index.ok_or_else(|| ServerError::Unavailable {
            reason: format!("it no longer has generation {generation} of the index open"),
        })?;
        let generation = index.generation();
        let find = |opened: &[Arc<Opened>]| {
            let mut opened = opened.iter();
            let found = opened.find(|one| one.index.generation() == generation);
            found.cloned()
        };
        let held = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&held) {
            return Ok(found);
        }
        drop(held);
        let mut held = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&held) {
            return Ok(found);
        }
        let opened = Arc::new(Opened::new(index, &self.chunks));
        held.insert(0, Arc::clone(&opened));
        // As many as `Generations` keeps.
        held.truncate(2);
        Ok(opened)
    }

    /// Queues what `work` makes of the plan and a reply; answers at once where that cannot be.
    fn enqueue<T>(
        &self,
        query: &Arc<Query>,
        generation: u64,
        deadline: std::time::Instant,
        reply: Reply<T>,
        work: impl FnOnce(Reply<T>) -> Work,
    ) {
        let planned = self
            .opened(generation)
            .and_then(|opened| Ok((query.planned(&opened.index)?, opened)));
        match planned {
            Ok((planned, opened)) => {
                let job = Job::new(query.id, planned, opened, deadline, work(reply));
                self.handlers.enqueue(job);
            }
            Err(error) => reply.send(Err(error)),
        }
    }

    fn hit_details(
        &self,
        query: &Arc<Query>,
        request: &DetailsRequest,
    ) -> Result<Vec<HitDetails>, ServerError> {
        let opened = self.opened(request.generation)?;
        let planned = match request.explain {
            true => Some(query.planned(&opened.index)?),
            false => None,
        };
        let hits = request.hits.iter();
        hits.map(|&(segment, doc)| opened.details(segment, doc, planned.as_deref()))
            .collect()
    }
}

impl Opened {
    fn new(index: Arc<Index>, chunks: &Chunks) -> Opened {
        let segments: Vec<_> = index.segments(chunks.clone()).cloned().collect();
        Opened {
            by_id: segments
                .iter()
                .map(|segment| (segment.id(), Arc::clone(segment)))
                .collect(),
            segments,
            index,
        }
    }

    fn details(
        &self,
        segment: u32,
        doc: DocId,
        planned: Option<&Planned>,
    ) -> Result<HitDetails, ServerError> {
        let found = self.by_id.get(&segment);
        let segment = found.ok_or_else(|| ServerError::Unavailable {
            reason: format!("it does not serve segment {segment}"),
        })?;
        if doc.0 >= segment.documents_count() {
            return Err(ServerError::Unavailable {
                reason: format!("segment {} has no document {}", segment.id(), doc.0),
            });
        }
        let details = segment.details(doc)?;
        let explanation = match planned {
            Some(planned) => exhaustive::explain(&planned.plan, segment, doc)?,
            None => None,
        };
        Ok(HitDetails {
            site_documents_count: self.site_documents_count(&details.site)?,
            details,
            explanation: explained(explanation),
        })
    }

    /// Documents of a site in the whole index, 0 where the index cannot tell.
    fn site_documents_count(&self, site: &str) -> Result<u64, IndexError> {
        // A name that long may have been cut in the index, where this look-up would miss it.
        if site.len() >= text::TERM_BYTES_MAX {
            return Ok(0);
        }
        let statistics = self.index.statistics();
        statistics.document_frequency(Field::Site, site)
    }
}

impl IndexServer for InProcessIndexServer {
    fn search(&self, query: &Arc<Query>, request: SearchRequest, reply: Reply<PartitionHits>) {
        if let Some(waiting) = self.handlers.full() {
            self.handlers.note_refusal(query.id, waiting);
            return reply.send(Err(ServerError::Overloaded { waiting }));
        }
        self.enqueue(
            query,
            request.generation,
            request.deadline,
            reply,
            |reply| Work::Search {
                k: request.k,
                counted: request.counted,
                reply,
            },
        );
    }

    fn details(&self, query: &Arc<Query>, request: DetailsRequest, reply: Reply<Vec<HitDetails>>) {
        reply.send(self.hit_details(query, &request));
    }

    fn count_sites(&self, query: &Arc<Query>, request: CountSitesRequest, reply: Reply<Vec<u64>>) {
        self.enqueue(
            query,
            request.generation,
            request.deadline,
            reply,
            |reply| Work::CountSites {
                sites: request.sites,
                limit: request.limit,
                reply,
            },
        );
    }

    fn status(&self, request: &StatusRequest, reply: Reply<Status>) {
        let (generations, chunks) = (&self.generations, &self.chunks);
        let status = status_of(generations, chunks, &self.draining, &self.tables, request);
        reply.send(Ok(status));
    }

    fn reload(&self, reply: Reply<u64>) {
        reply.send(reloaded(&self.generations));
    }
}
