//! Document server: summaries of texts for a query.
//!
//! ```text
//! request ─► the caller's thread: the first texts ─► all made: answered, nobody woken
//!                      │ more than 250 µs
//!                      ▼
//!            board ─► handlers: a text or a piece of one, beside the caller for 5 ms ─► whoever makes the last one answers
//! ```
//!
//! Waking a thread costs tens of microseconds, and most pages of summaries are complete by then; texts of a hundred thousand
//! words are not. They go to a board as searches do: texts and pieces of long texts are the ranges, short requests go first,
//! idle handlers help, and deadlines and cancellation end them. The caller's thread leaves after a few milliseconds, so that
//! its connection can notice that the client has gone.

mod batch;
mod figures;
mod job;
mod long_text;

pub(crate) use figures::DocumentFigures;

use crate::addresses::hash_of;
use crate::api::backend::{DocumentServer, Server};
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::api::messages::{Status, StatusRequest, SummariesRequest, TextSummary};
use crate::api::reply::Reply;
use crate::handlers::options::HandlerOptions;
use crate::handlers::shared_board::Job;
use crate::handlers::workers::Handlers;
use crate::net::blocking::beside_io;
use crate::snapshot::served::Served;
use engine::Generations;
use engine::calls::Chunks;
use engine::calls::PartError;
use index::{StoredDocument, TextKey};
use job::SummariesJob;
use schedule::board::PolicyChoice;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time after which work is shared with the handlers.
const SHARE_AFTER: Duration = Duration::from_micros(250);
/// Upper limit on the bytes of texts that an I/O thread summarizes itself, without another one that takes over its
/// connections: half a millisecond at most.
const SHORT_BYTES_MAX: u64 = 256 << 10;
/// Upper limit on the further time in the caller's thread. A connection that waits for its own thread cannot notice
/// that its client has gone.
const CALLER_TIME_MAX: Duration = Duration::from_millis(5);

/// Document server of some chunks in this process, with a few handlers.
pub struct InProcessDocumentServer {
    served: Served,
    handlers: Arc<Handlers>,
    figures: Arc<DocumentFigures>,
    /// Name of the index, where the process has several; for logs.
    name: Option<Arc<str>>,
}

impl InProcessDocumentServer {
    /// Starts `handlers` threads, at least one, for the texts of some chunks.
    pub fn start(
        generations: Arc<Generations>,
        chunks: Chunks,
        handlers: usize,
        policy: &PolicyChoice,
        draining: Draining,
    ) -> Result<InProcessDocumentServer, ServeError> {
        let options = HandlerOptions {
            handlers: handlers.max(1),
            policy: policy.clone(),
            ..HandlerOptions::default()
        };
        let handlers = Arc::new(Handlers::start("summaries", &options)?);
        Ok(InProcessDocumentServer::by_handlers(
            generations,
            chunks,
            (handlers, Arc::default()),
            draining,
        ))
    }

    /// Returns a server for the texts of some chunks by handlers, with their counters, that others share.
    pub(crate) fn by_handlers(
        generations: Arc<Generations>,
        chunks: Chunks,
        (handlers, figures): (Arc<Handlers>, Arc<DocumentFigures>),
        draining: Draining,
    ) -> InProcessDocumentServer {
        vfs::survive_lost_pages();
        InProcessDocumentServer {
            served: Served::new(generations, chunks, draining),
            handlers,
            figures,
            name: None,
        }
    }

    /// Sets the name of the index.
    pub(crate) fn of_index(self, name: &Arc<str>) -> InProcessDocumentServer {
        InProcessDocumentServer {
            name: Some(Arc::clone(name)),
            ..self
        }
    }

    /// Returns the chunks whose texts the server has.
    pub fn chunks(&self) -> &Chunks {
        &self.served.chunks
    }

    pub(crate) fn generations(&self) -> &Arc<Generations> {
        &self.served.generations
    }

    pub(crate) fn handlers_count(&self) -> usize {
        self.handlers.figures().handlers
    }

    pub(crate) fn figures(&self) -> Arc<DocumentFigures> {
        Arc::clone(&self.figures)
    }

    /// Makes summaries and answers; work that takes long goes on beside the caller.
    fn make(&self, request: SummariesRequest, reply: Reply<Vec<Option<TextSummary>>>) {
        let begun = Instant::now();
        if begun >= request.deadline || reply.is_abandoned() {
            self.figures.expired.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(
                query = request.query_id,
                index = self.name.as_deref(),
                "never begun: nobody waits any more"
            );
            return reply.send(Err(PartError::Expired));
        }
        // A document that a newer generation still has is unchanged there.
        let index = self.served.generations.get(request.generation);
        let index = index.unwrap_or_else(|| self.served.generations.newest());
        let figures = Arc::clone(&self.figures);
        let job = SummariesJob::new(index, self.name.clone(), request, figures, reply);
        match job.bytes() <= SHORT_BYTES_MAX {
            true => self.work_on(job),
            false => beside_io(|| self.work_on(job)),
        }
    }

    /// Makes the summaries on the calling thread and, where they take long, beside it.
    fn work_on(&self, job: SummariesJob) {
        if !job.work_for(SHARE_AFTER) {
            return;
        }
        let job = Arc::new(job);
        self.handlers.enqueue(Arc::clone(&job) as Arc<dyn Job>);
        job.work_for(CALLER_TIME_MAX);
    }
}

impl DocumentServer for InProcessDocumentServer {
    fn summaries(&self, request: SummariesRequest, reply: Reply<Vec<Option<TextSummary>>>) {
        self.make(request, reply);
    }

    fn document(&self, url: &str, reply: Reply<Option<StoredDocument>>) {
        let index = self.served.generations.newest();
        let key = match hash_of(url) {
            Some(hash) => TextKey::UrlHash(hash),
            None => TextKey::Url(url),
        };
        // Examined already.
        let found = beside_io(|| index.document_of(key));
        reply.send(found.map_err(PartError::from));
    }
}

impl Server for InProcessDocumentServer {
    fn status(&self, request: &StatusRequest, reply: Reply<Status>) {
        self.served.status(request, reply);
    }

    fn reload(&self, reply: Reply<u64>) {
        reply.send(self.served.reload());
    }
}
