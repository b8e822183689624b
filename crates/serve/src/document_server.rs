//! A document server inside this process: summaries of texts for a query.
//!
//! The caller's thread starts on the summaries itself. Only when they turn out to take long does
//! it call the pool's threads to help: waking a thread costs tens of microseconds, and most pages
//! of summaries are done by then, but texts of a hundred thousand words are not.
use crate::{SearchError, ServeError};
use crossbeam_channel::{Receiver, Sender, bounded};
use index::{DocumentStore, IndexError, StoredDocument, Texts};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use text::summary::SummaryQuery;

/// Work that has gone on for so long is shared with the pool.
const SHARE_AFTER: Duration = Duration::from_micros(100);
/// Batches that may wait for the pool; more would only find their work done.
const CALLS_WAITING_MAX: usize = 64;

/// Makes summaries, with a small pool of threads of its own.
#[derive(Debug)]
pub struct DocumentServer {
    store: Arc<DocumentStore>,
    /// `None` only while dropping: closing it is what ends the threads.
    calls: Option<Sender<Arc<Batch>>>,
    threads: Vec<JoinHandle<()>>,
}

/// A summary, or `None` where the text is missing; empty in an index without texts.
type Summary = Result<Option<String>, IndexError>;

/// Summaries of one answer, worked on by whoever has time.
#[derive(Debug)]
struct Batch {
    urls: Vec<String>,
    query: SummaryQuery,
    /// The next to be taken.
    next: AtomicUsize,
    done: Mutex<Done>,
    all_done: Condvar,
}

#[derive(Debug)]
struct Done {
    count: usize,
    /// `None` where making the summary failed in a way that it should not.
    summaries: Vec<Option<Summary>>,
}

thread_local! {
    /// Decompressed texts, kept so that a page of summaries allocates nothing for them.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl DocumentServer {
    /// Starts a pool of `threads` threads over a document store.
    pub fn start(store: Arc<DocumentStore>, threads: usize) -> Result<DocumentServer, ServeError> {
        let (sender, receiver) = bounded(CALLS_WAITING_MAX);
        let mut started = Vec::with_capacity(threads);
        for number in 0..threads {
            let (store, receiver) = (Arc::clone(&store), receiver.clone());
            let thread = thread::Builder::new()
                .name(format!("summaries-{number}"))
                .spawn(move || help(&store, &receiver))
                .map_err(|source| ServeError::System {
                    operation: "start a thread",
                    source,
                })?;
            started.push(thread);
        }
        Ok(DocumentServer {
            store,
            calls: Some(sender),
            threads: started,
        })
    }

    /// The summaries of the documents at `urls` for a query; `None` where a text is missing.
    pub fn summaries(
        &self,
        urls: Vec<String>,
        query: SummaryQuery,
    ) -> Result<Vec<Option<String>>, SearchError> {
        let count = urls.len();
        let summaries = (0..count).map(|_| None).collect();
        let batch = Arc::new(Batch {
            urls,
            query,
            next: AtomicUsize::new(0),
            done: Mutex::new(Done {
                count: 0,
                summaries,
            }),
            all_done: Condvar::new(),
        });
        let started = Instant::now();
        let mut shared = false;
        while batch.work_on_one(&self.store) {
            if !shared && started.elapsed() > SHARE_AFTER {
                shared = true;
                self.call_for_help(&batch);
            }
        }
        batch.wait()
    }

    /// Whether there are texts to make summaries of.
    pub fn has_texts(&self) -> bool {
        self.store.texts() == Texts::Stored
    }

    /// A document as stored.
    pub fn document(&self, url: &str) -> Result<Option<StoredDocument>, IndexError> {
        self.store.document(url)
    }

    fn call_for_help(&self, batch: &Arc<Batch>) {
        let taken = batch.next.load(Ordering::Relaxed);
        // One stays for the caller.
        let left = batch.urls.len().saturating_sub(taken + 1);
        for _ in 0..left.min(self.threads.len()) {
            let sent = self
                .calls
                .as_ref()
                .map(|calls| calls.try_send(Arc::clone(batch)));
            if !matches!(sent, Some(Ok(()))) {
                // Nobody has time: the caller goes on alone.
                break;
            }
        }
    }
}

impl Drop for DocumentServer {
    fn drop(&mut self) {
        self.calls = None;
        for thread in self.threads.drain(..) {
            // The threads catch panics; there is nothing to learn from the result.
            let _ = thread.join();
        }
    }
}

/// The life of a pool thread: helps with batches until the server is dropped.
fn help(store: &DocumentStore, calls: &Receiver<Arc<Batch>>) {
    while let Ok(batch) = calls.recv() {
        while batch.work_on_one(store) {}
    }
}

impl Batch {
    /// Makes the next summary; `false` when all are taken.
    fn work_on_one(&self, store: &DocumentStore) -> bool {
        let taken = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(url) = self.urls.get(taken) else {
            return false;
        };
        // Whatever happens, the summary must be counted as done, or its caller waits for ever.
        let summary = catch_unwind(AssertUnwindSafe(|| self.summary(store, url))).ok();
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.summaries[taken] = summary;
        done.count += 1;
        if done.count == self.urls.len() {
            self.all_done.notify_one();
        }
        true
    }

    fn summary(&self, store: &DocumentStore, url: &str) -> Summary {
        if store.texts() == Texts::None {
            return Ok(Some(String::new()));
        }
        let mut buffer = TEXT.take();
        let mut summary = None;
        let found = store.with_text(url, &mut buffer, |_title, body| {
            summary = Some(self.query.summarize(body));
        });
        TEXT.replace(buffer);
        found.map(|_| summary)
    }

    fn wait(&self) -> Result<Vec<Option<String>>, SearchError> {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = self
            .all_done
            .wait_while(done, |done| done.count < self.urls.len())
            .unwrap_or_else(PoisonError::into_inner);
        let summaries = std::mem::take(&mut done.summaries);
        summaries
            .into_iter()
            .zip(&self.urls)
            .map(|(summary, url)| match summary {
                Some(summary) => summary.map_err(SearchError::Index),
                None => Err(SearchError::Unavailable {
                    part: "the document server".into(),
                    reason: format!("it failed at the text of {url}; please report this"),
                }),
            })
            .collect()
    }
}
