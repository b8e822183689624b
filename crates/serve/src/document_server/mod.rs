//! Document server: summaries of texts for a query.
//!
//! The caller's thread makes the summaries itself at first. It calls the pool's threads for help only
//! if they take long: waking a thread costs tens of microseconds. Most pages of summaries are complete
//! by then, but texts of a hundred thousand words are not. After a few milliseconds a thread for blocking work takes
//! the caller's part, so that the request can be cancelled.

mod batch;
mod figures;
mod job;

pub(crate) use figures::DocumentFigures;

use crate::api::backend::{DocumentServer, Server};
use crate::api::chunks::Chunks;
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::api::messages::{Status, StatusRequest, SummariesRequest, TextSummary};
use crate::api::reply::Reply;
use crate::api::server_error::ServerError;
use crate::net::blocking::beside_io;
use crate::snapshot::served::Served;
use batch::Batch;
use crossbeam_channel::{Receiver, Sender, bounded};
use engine::Generations;
use index::{StoredDocument, TextKey};
use job::Job;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Time after which work is shared with the pool.
const SHARE_AFTER: Duration = Duration::from_micros(100);
/// Upper limit on the further time in the caller's thread. A connection that waits for its own thread cannot notice
/// that its client has gone.
const CALLER_TIME_MAX: Duration = Duration::from_millis(5);
/// Upper limit on the calls that wait for the pool; more would find no work left.
const CALLS_WAITING_MAX: usize = 64;

/// Document server of some chunks in this process, with a small pool of threads.
pub struct InProcessDocumentServer {
    served: Served,
    /// Queue of the pool; `None` only while dropping, because closing it ends the threads.
    calls: Option<Sender<Arc<Batch>>>,
    threads: Vec<JoinHandle<()>>,
    figures: Arc<DocumentFigures>,
}

impl InProcessDocumentServer {
    /// Starts a pool of `threads` threads for the texts of some chunks.
    pub fn start(
        generations: Arc<Generations>,
        chunks: Chunks,
        threads: usize,
        draining: Draining,
    ) -> Result<InProcessDocumentServer, ServeError> {
        let (sender, receiver) = bounded(CALLS_WAITING_MAX);
        let mut started = Vec::with_capacity(threads);
        for number in 0..threads {
            let receiver = receiver.clone();
            let thread = thread::Builder::new()
                .name(format!("summaries-{number}"))
                .spawn(move || help(&receiver))
                .map_err(|source| ServeError::System {
                    operation: "start a thread",
                    source,
                })?;
            started.push(thread);
        }
        Ok(InProcessDocumentServer {
            served: Served::new(generations, chunks, draining),
            calls: Some(sender),
            threads: started,
            figures: Arc::default(),
        })
    }

    /// Returns the chunks whose texts the server has.
    pub fn chunks(&self) -> &Chunks {
        &self.served.chunks
    }

    pub(crate) fn generations(&self) -> &Arc<Generations> {
        &self.served.generations
    }

    pub(crate) fn threads_count(&self) -> usize {
        self.threads.len()
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
                "never begun: nobody waits any more"
            );
            return reply.send(Err(ServerError::Expired));
        }
        // A document that a newer generation still has is unchanged there.
        let index = self.served.generations.get(request.generation);
        let index = index.unwrap_or_else(|| self.served.generations.newest());
        let job = Job::new(index, request, Arc::clone(&self.figures), reply);
        let Some(job) = job.work_for(SHARE_AFTER) else {
            return;
        };
        self.call_for_help(job.batch());
        match (job.work_for(CALLER_TIME_MAX), Handle::try_current()) {
            (Some(job), Ok(runtime)) => {
                runtime.spawn_blocking(move || job.work());
            }
            (Some(job), Err(_)) => job.work(),
            (None, _) => {}
        }
    }

    fn call_for_help(&self, batch: &Arc<Batch>) {
        // One summary stays for the caller.
        let others = batch.left_count().saturating_sub(1);
        for _ in 0..others.min(self.threads.len()) {
            let sent = self
                .calls
                .as_ref()
                .map(|calls| calls.try_send(Arc::clone(batch)));
            if !matches!(sent, Some(Ok(()))) {
                // No thread is free, so the caller goes on alone.
                break;
            }
        }
    }
}

impl DocumentServer for InProcessDocumentServer {
    fn summaries(&self, request: SummariesRequest, reply: Reply<Vec<Option<TextSummary>>>) {
        beside_io(|| self.make(request, reply));
    }

    fn document(&self, url: &str, reply: Reply<Option<StoredDocument>>) {
        let index = self.served.generations.newest();
        let since = index.read_start();
        let found = beside_io(|| index.document(url));
        let verify = || index.verify_texts([TextKey::Url(url)].into_iter(), since);
        reply.send_verified(found.map_err(ServerError::from), verify);
    }
}

impl Server for InProcessDocumentServer {
    fn status(&self, request: &StatusRequest, reply: Reply<Status>) {
        self.served.status(request, reply);
    }

    fn reload(&self, reply: Reply<u64>) {
        self.served.reload(reply);
    }
}

impl Drop for InProcessDocumentServer {
    fn drop(&mut self) {
        self.calls = None;
        for thread in self.threads.drain(..) {
            // The threads catch panics, so the result holds no information.
            let _ = thread.join();
        }
    }
}

/// Runs a pool thread: helps with batches until the server is dropped.
fn help(calls: &Receiver<Arc<Batch>>) {
    while let Ok(batch) = calls.recv() {
        while batch.work_on_one() {}
    }
}
