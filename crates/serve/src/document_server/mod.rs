//! Document server: summaries of texts for a query.
//!
//! The caller's thread makes the summaries itself at first. It calls the pool's threads for help only
//! if they take long: waking a thread costs tens of microseconds. Most pages of summaries are complete
//! by then, but texts of a hundred thousand words are not.
use crate::api::backend::DocumentServer;
use crate::api::chunks::Chunks;
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::api::messages::{Status, StatusRequest, SummariesOf, SummariesRequest, TextSummary};
use crate::api::reply::Reply;
use crate::api::server_error::ServerError;
use crate::net::blocking::beside_io;
use crate::snapshot::generations::Generations;
use crate::snapshot::partition_maps::PartitionMaps;
use crate::snapshot::status::{reloaded, status_of};
use crossbeam_channel::{Receiver, Sender, bounded};
use index::{DocumentStore, StoredDocument, TextKey, Texts};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use text::summary::{SummaryOptions, SummaryQuery};

/// Time after which work is shared with the pool.
const SHARE_AFTER: Duration = Duration::from_micros(100);
/// Upper limit on the calls that wait for the pool; more would find no work left.
const CALLS_WAITING_MAX: usize = 64;

/// Document server of some chunks in this process, with a small pool of threads.
pub struct InProcessDocumentServer {
    generations: Arc<Generations>,
    chunks: Chunks,
    /// Queue of the pool; `None` only while dropping, because closing it ends the threads.
    calls: Option<Sender<Arc<Batch>>>,
    threads: Vec<JoinHandle<()>>,
    draining: Draining,
    partition_maps: PartitionMaps,
    figures: Arc<DocumentFigures>,
}

/// Counters of a document server, readable at any time.
#[derive(Debug, Default)]
pub(crate) struct DocumentFigures {
    /// Number of summary requests in work.
    pub(crate) busy: AtomicUsize,
    /// Number of summaries made.
    pub(crate) made: AtomicU64,
    /// Number of requests never begun, because their deadline had passed or they were cancelled.
    pub(crate) expired: AtomicU64,
    /// Number of requests that expired or were cancelled during the work.
    pub(crate) ended_early: AtomicU64,
    /// Histogram of the time for a page of summaries; set when metrics register.
    pub(crate) times: OnceLock<metrics::Histogram>,
}

/// Result for one summary: `None` if the text is missing; empty in an index without texts.
type Summary = Result<Option<TextSummary>, ServerError>;

/// Summaries of one request, shared by the caller and the pool.
#[derive(Debug)]
struct Batch {
    store: Arc<DocumentStore>,
    of: SummariesOf,
    query: SummaryQuery,
    deadline: Instant,
    /// Whether the request was cancelled.
    is_cancelled: AtomicBool,
    /// Index of the next summary to make.
    next: AtomicUsize,
    done: Mutex<Done>,
    all_done: Condvar,
}

#[derive(Debug)]
struct Done {
    count: usize,
    /// Summaries made; an entry stays `None` if making it panicked.
    summaries: Vec<Option<Summary>>,
}

thread_local! {
    /// Buffer for decompressed texts, kept so that a page of summaries allocates no memory for them.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
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
            generations,
            chunks,
            calls: Some(sender),
            threads: started,
            draining,
            partition_maps: PartitionMaps::default(),
            figures: Arc::default(),
        })
    }

    /// Returns the chunks whose texts the server has.
    pub fn chunks(&self) -> &Chunks {
        &self.chunks
    }

    pub(crate) fn generations(&self) -> &Arc<Generations> {
        &self.generations
    }

    pub(crate) fn threads_count(&self) -> usize {
        self.threads.len()
    }

    pub(crate) fn figures(&self) -> Arc<DocumentFigures> {
        Arc::clone(&self.figures)
    }

    /// Makes summaries, counted and timed.
    fn summaries_counted(
        &self,
        request: SummariesRequest,
        is_abandoned: impl Fn() -> bool,
    ) -> Result<Vec<Option<TextSummary>>, ServerError> {
        let (figures, query) = (&self.figures, request.query_id);
        let begun = Instant::now();
        if begun >= request.deadline || is_abandoned() {
            figures.expired.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(query, "never begun: nobody waits any more");
            return Err(ServerError::Expired);
        }
        let _span = tracing::debug_span!("texts", query).entered();
        figures.busy.fetch_add(1, Ordering::Relaxed);
        let made = self.summaries_now(request, is_abandoned);
        figures.busy.fetch_sub(1, Ordering::Relaxed);
        match &made {
            Ok(summaries) => {
                let count = summaries.iter().flatten().count() as u64;
                figures.made.fetch_add(count, Ordering::Relaxed);
                if let Some(times) = figures.times.get() {
                    times.record(begun.elapsed().as_secs_f64());
                }
            }
            Err(ServerError::Expired) => {
                figures.ended_early.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(query, "ended early");
            }
            Err(error) => tracing::debug!(query, %error, "no summaries"),
        }
        made
    }

    fn summaries_now(
        &self,
        request: SummariesRequest,
        is_abandoned: impl Fn() -> bool,
    ) -> Result<Vec<Option<TextSummary>>, ServerError> {
        // A document that a newer generation still has is unchanged there.
        let index = self.generations.get(request.generation);
        let index = index.unwrap_or_else(|| self.generations.newest());
        let terms = request.terms.to_vec();
        let query = SummaryQuery::new(index.analyzer(), terms, SummaryOptions::default());
        let count = request.of.count();
        let since = index.read_start();
        let batch = Arc::new(Batch {
            store: Arc::clone(index.documents()),
            of: request.of,
            query,
            deadline: request.deadline,
            is_cancelled: AtomicBool::new(false),
            next: AtomicUsize::new(0),
            done: Mutex::new(Done {
                count: 0,
                summaries: (0..count).map(|_| None).collect(),
            }),
            all_done: Condvar::new(),
        });
        let started = Instant::now();
        let mut shared = false;
        while batch.work_on_one() {
            if is_abandoned() {
                // The helping threads skip the remaining summaries too.
                batch.is_cancelled.store(true, Ordering::Relaxed);
                return Err(ServerError::Expired);
            }
            if !shared && started.elapsed() > SHARE_AFTER {
                shared = true;
                self.call_for_help(&batch);
            }
        }
        let made = batch.wait();
        // Errors are verified too, since changed bytes may have caused them.
        let keys = (0..count).filter_map(|at| batch.of.key(at));
        index.verify_texts(keys, since)?;
        made
    }

    fn call_for_help(&self, batch: &Arc<Batch>) {
        let taken = batch.next.load(Ordering::Relaxed);
        // One summary stays for the caller.
        let left = batch.of.count().saturating_sub(taken + 1);
        for _ in 0..left.min(self.threads.len()) {
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
        let made = beside_io(|| self.summaries_counted(request, || reply.is_abandoned()));
        reply.send(made);
    }

    fn document(&self, url: &str, reply: Reply<Option<StoredDocument>>) {
        let index = self.generations.newest();
        let since = index.read_start();
        let found = beside_io(|| index.documents().document(url));
        let verify = || index.verify_texts([TextKey::Url(url)].into_iter(), since);
        reply.send_verified(found.map_err(ServerError::from), verify);
    }

    fn status(&self, request: &StatusRequest, reply: Reply<Status>) {
        let (generations, chunks) = (&self.generations, &self.chunks);
        let status = status_of(
            generations,
            chunks,
            &self.draining,
            &self.partition_maps,
            request,
        );
        reply.send(Ok(status));
    }

    fn reload(&self, reply: Reply<u64>) {
        reply.send(reloaded(&self.generations));
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

impl Batch {
    /// Makes the next summary; returns `false` if none is left.
    fn work_on_one(&self) -> bool {
        let taken = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(key) = self.of.key(taken) else {
            return false;
        };
        // Every summary must be counted as done, even after a panic, or its caller would wait for ever.
        let summary = catch_unwind(AssertUnwindSafe(|| self.summary(key))).ok();
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.summaries[taken] = summary;
        done.count += 1;
        if done.count == self.of.count() {
            self.all_done.notify_one();
        }
        true
    }

    fn summary(&self, key: TextKey<'_>) -> Summary {
        if self.store.texts() == Texts::None {
            return Ok(Some(TextSummary::default()));
        }
        if self.is_cancelled.load(Ordering::Relaxed) || Instant::now() >= self.deadline {
            return Err(ServerError::Expired);
        }
        let mut buffer = TEXT.take();
        let mut summary = None;
        let found = self.store.with_text(key, &mut buffer, |url, body| {
            summary = Some(TextSummary {
                url: url.to_owned(),
                html: self.query.summarize(body),
            });
        });
        TEXT.replace(buffer);
        found?;
        Ok(summary)
    }

    fn wait(&self) -> Result<Vec<Option<TextSummary>>, ServerError> {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = self
            .all_done
            .wait_while(done, |done| done.count < self.of.count())
            .unwrap_or_else(PoisonError::into_inner);
        let summaries = std::mem::take(&mut done.summaries);
        summaries
            .into_iter()
            .enumerate()
            .map(|(at, summary)| match summary {
                Some(summary) => summary,
                None => Err(ServerError::NotServed {
                    reason: format!(
                        "it failed at the text of {}; please report this",
                        match self.of.key(at) {
                            Some(TextKey::Url(url)) => url.to_owned(),
                            Some(TextKey::UrlHash(hash)) => format!("the URL with hash {hash:#x}"),
                            None => "a document".to_owned(),
                        }
                    ),
                }),
            })
            .collect()
    }
}
