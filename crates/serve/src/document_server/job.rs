//! Request for summaries, from its first summary to its reply: begun by the caller's thread, and gone on with by handlers.

use super::batch::{Batch, Worked};
use super::figures::DocumentFigures;
use crate::api::messages::{SummariesRequest, TextSummary};
use crate::api::reply::Reply;
use crate::handlers::deadline::Deadline;
use crate::handlers::figures::Figures;
use crate::handlers::handler_visit::HandlerVisit;
use crate::handlers::shared_board::{Ended, Handler, Job, SharedBoard, Visiting};
use engine::calls::PartError;
use index::{Index, ReadStart};
use schedule::board::Turn;
use search::Visitor;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Request for summaries. Its texts are its ranges, or their pieces, and the thread that makes the last summary
/// replies. Dropped without an answer, it is an error for its caller.
pub(super) struct SummariesJob {
    batch: Batch,
    index: Arc<Index>,
    /// Start of the reading of the index.
    since: ReadStart,
    deadline: Deadline,
    query: u64,
    /// Name of the index, where the process has several; for logs.
    name: Option<Arc<str>>,
    /// Taken by the thread that replies.
    open: Mutex<Option<Open>>,
}

/// Parts of a request that its answer ends.
struct Open {
    busy: Busy,
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

impl fmt::Debug for SummariesJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SummariesJob")
            .field("query", &self.query)
            .finish_non_exhaustive()
    }
}

impl SummariesJob {
    pub(super) fn new(
        index: Arc<Index>,
        name: Option<Arc<str>>,
        request: SummariesRequest,
        figures: Arc<DocumentFigures>,
        reply: Reply<Vec<Option<TextSummary>>>,
    ) -> SummariesJob {
        SummariesJob {
            since: index.read_start(),
            query: request.query_id,
            name,
            deadline: Deadline::now(request.deadline, None),
            batch: Batch::new(Arc::clone(&index), request),
            index,
            open: Mutex::new(Some(Open {
                busy: Busy::new(figures),
                reply,
            })),
        }
    }

    /// Returns the bytes of text to read, about.
    pub(super) fn bytes(&self) -> u64 {
        self.batch.bytes()
    }

    /// Makes summaries on the calling thread for about `limit`. Returns whether ranges are left to take.
    pub(super) fn work_for(&self, limit: Duration) -> bool {
        let _span = self.span().entered();
        if self.batch.is_empty() {
            self.answer();
            return false;
        }
        let begun = Instant::now();
        while let Worked::One | Worked::Last = self.work_on_one() {
            if begun.elapsed() > limit {
                break;
            }
        }
        self.batch.left_count() > 0
    }

    fn span(&self) -> tracing::Span {
        tracing::debug_span!("texts", query = self.query, index = self.name.as_deref())
    }

    /// Does the next range, and answers after the last one.
    fn work_on_one(&self) -> Worked {
        let worked = self.batch.work_on_one();
        match worked {
            Worked::Last => self.answer(),
            Worked::One if self.is_abandoned() => self.batch.cancel(),
            _ => {}
        }
        worked
    }

    fn is_abandoned(&self) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().is_some_and(|open| open.reply.is_abandoned())
    }

    /// Answers, counted and timed. Every summary is made.
    fn answer(&self) {
        let open = self
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(Open { busy, reply }) = open else {
            return;
        };
        let made = self.batch.take();
        // Errors are verified too, since changed bytes may have caused them.
        let verified = self.index.verify_texts(self.batch.keys(), self.since);
        let made = verified.map_err(PartError::from).and(made);
        let (figures, query, index) = (&busy.0, self.query, self.name.as_deref());
        match &made {
            Ok(summaries) => {
                let count = summaries.iter().flatten().count() as u64;
                figures.made.fetch_add(count, Ordering::Relaxed);
                if let Some(times) = figures.times.get() {
                    times.record(self.deadline.arrived.elapsed().as_secs_f64());
                }
            }
            Err(PartError::Expired) => {
                figures.ended_early.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(query, index, "ended early");
            }
            Err(error) => tracing::debug!(query, index, %error, "no summaries"),
        }
        drop(busy);
        reply.send(made);
    }

    /// Returns the time that the ranges left take one thread, by those done so far.
    fn likely_ns(&self) -> u64 {
        let spent_ns = self.deadline.arrived.elapsed().as_nanos() as u64;
        let (left, done) = (self.batch.left_count(), self.batch.done_count());
        spent_ns / done.max(1) as u64 * left as u64
    }
}

impl Job for SummariesJob {
    fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    fn visit(&self, visiting: &Visiting, handler: &Handler<'_>) -> Ended {
        let _span = self.span().entered();
        let mut visitor = HandlerVisit::new(visiting, handler);
        if let Turn::Begin(_) = visiting.turn {
            (handler.board).start(visiting.id, self.likely_ns());
            visitor.opened(self.batch.left_count());
        }
        loop {
            match self.work_on_one() {
                Worked::One | Worked::Last => {}
                Worked::NoneLeft => return Ended::Exhausted,
                Worked::NoneYet => {
                    // The board decides what goes before a text that is being read.
                    self.batch.wait_for_pieces();
                    return Ended::of(self.batch.left_count() == 0);
                }
            }
            if !visitor.on_range(self.batch.left_count()) {
                return Ended::of(self.batch.left_count() == 0);
            }
        }
    }

    fn finish(&self, _: &SharedBoard, _: &Figures) {}

    fn abandon(&self) {
        self.batch.cancel();
        // Dropped unanswered, it is an error at the other end.
        drop(
            self.open
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }
}
