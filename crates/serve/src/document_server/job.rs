//! Request for summaries, from its first summary to its reply.

use super::batch::Batch;
use super::figures::DocumentFigures;
use crate::api::messages::{SummariesRequest, TextSummary};
use crate::api::reply::Reply;
use crate::api::server_error::ServerError;
use index::{Index, ReadStart};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tracing::Span;

/// Request in work. Dropped without an answer, it is an error for its caller.
pub(super) struct Job {
    batch: Arc<Batch>,
    index: Arc<Index>,
    /// Start of the reading of the index.
    since: ReadStart,
    begun: Instant,
    query: u64,
    span: Span,
    figures: Busy,
    reply: Reply<Vec<Option<TextSummary>>>,
}

/// Counter of the requests in work, from the first summary to the reply or a panic.
struct Busy(Arc<DocumentFigures>);

impl Busy {
    fn new(figures: Arc<DocumentFigures>) -> Busy {
        figures.busy.fetch_add(1, Ordering::Relaxed);
        Busy(figures)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Job {
    pub(super) fn new(
        index: Arc<Index>,
        request: SummariesRequest,
        figures: Arc<DocumentFigures>,
        reply: Reply<Vec<Option<TextSummary>>>,
    ) -> Job {
        let query = request.query_id;
        Job {
            since: index.read_start(),
            batch: Arc::new(Batch::new(Arc::clone(&index), request)),
            index,
            begun: Instant::now(),
            query,
            span: tracing::debug_span!("texts", query),
            figures: Busy::new(figures),
            reply,
        }
    }

    pub(super) fn batch(&self) -> &Arc<Batch> {
        &self.batch
    }

    /// Makes summaries for about `limit`. Returns the job where some are left; otherwise answers it.
    pub(super) fn work_for(self, limit: Duration) -> Option<Job> {
        let begun = Instant::now();
        let entered = self.span.clone().entered();
        while self.batch.work_on_one() {
            if self.reply.is_abandoned() {
                self.batch.cancel();
                self.answer(Err(ServerError::Expired));
                return None;
            }
            if begun.elapsed() > limit {
                drop(entered);
                return Some(self);
            }
        }
        let made = self.batch.wait();
        // Errors are verified too, since changed bytes may have caused them.
        let verified = self.index.verify_texts(self.batch.keys(), self.since);
        let made = verified.map_err(ServerError::from).and(made);
        self.answer(made);
        None
    }

    /// Makes all summaries that are left, and answers.
    pub(super) fn work(self) {
        let left = self.work_for(Duration::MAX);
        debug_assert!(left.is_none(), "no time is longer");
    }

    /// Answers, counted and timed.
    fn answer(self, made: Result<Vec<Option<TextSummary>>, ServerError>) {
        let (figures, query) = (&self.figures.0, self.query);
        match &made {
            Ok(summaries) => {
                let count = summaries.iter().flatten().count() as u64;
                figures.made.fetch_add(count, Ordering::Relaxed);
                if let Some(times) = figures.times.get() {
                    times.record(self.begun.elapsed().as_secs_f64());
                }
            }
            Err(ServerError::Expired) => {
                figures.ended_early.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(query, "ended early");
            }
            Err(error) => tracing::debug!(query, %error, "no summaries"),
        }
        drop(self.figures);
        self.reply.send(made);
    }
}
