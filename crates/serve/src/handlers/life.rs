//! Life of a handler: it works and sleeps as the board says.
//!
//! ```text
//! query A   [ A1 ][ A2 ] leaves A                      resumes A with its lists open [ A3 ]
//!                        └► query B   [ B1 ][ B2 ] answers B ┘                           in the interlude of A
//! ```

use crate::handlers::figures::Figures;
use crate::handlers::shared_board::{Job, Next, SharedBoard, Visiting};
use schedule::board::Left;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Interludes within interludes at most: each keeps the lists of a query open.
const DEPTH_MAX: usize = 16;

/// A handler, on its thread.
pub(crate) struct Handler<'a> {
    pub(crate) number: usize,
    pub(crate) board: &'a SharedBoard,
    pub(crate) figures: &'a Figures,
    /// Jobs that it has left for an interlude and keeps open, the latest last.
    kept: RefCell<Vec<Arc<dyn Job>>>,
    /// Next work, which the board gave in the interlude of a later job.
    given: Cell<Option<Visiting>>,
}

/// End of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Nothing is left to take.
    Exhausted,
    /// The policy sends the handler elsewhere.
    Leaves,
    /// The same, and the board knows.
    HasLeft,
}

impl Ended {
    /// Returns the end of a visit that takes no interludes.
    pub(crate) fn of(is_exhausted: bool) -> Ended {
        match is_exhausted {
            true => Ended::Exhausted,
            false => Ended::Leaves,
        }
    }
}

impl Handler<'_> {
    /// Returns a handler without work.
    pub(crate) fn new<'a>(
        number: usize,
        board: &'a SharedBoard,
        figures: &'a Figures,
    ) -> Handler<'a> {
        Handler {
            number,
            board,
            figures,
            kept: RefCell::default(),
            given: Cell::new(None),
        }
    }

    /// Works and sleeps as the board says, until it is closed and nothing waits.
    pub(crate) fn live(&self) {
        self.board.run_by_this_thread(self.number);
        loop {
            match self.board.turn(self.number) {
                Next::Visit(visiting) => {
                    self.figures.busy.fetch_add(1, Ordering::Relaxed);
                    self.work_on(&visiting);
                    self.figures.busy.fetch_sub(1, Ordering::Relaxed);
                }
                Next::Rest => self.board.rest(self.number),
                Next::End => return,
            }
        }
    }

    /// Works on a job, and answers if this handler is the last one that leaves it. A bug that panics costs one query,
    /// whose reply is dropped and reported, not the handler.
    fn work_on(&self, visiting: &Visiting) {
        let waiting = self.board.signals().claimable() as usize;
        self.figures.waiting.store(waiting, Ordering::Relaxed);
        let job = &*visiting.job;
        let kept_count = self.kept.borrow().len();
        let visit = || job.visit(visiting, self);
        let ended = catch_unwind(AssertUnwindSafe(visit)).unwrap_or_else(|_| {
            job.abandon();
            self.kept.borrow_mut().truncate(kept_count);
            Ended::Exhausted
        });
        match ended {
            Ended::Exhausted => self.leave(visiting, true),
            Ended::Leaves => self.leave(visiting, false),
            Ended::HasLeft => {}
        }
    }

    fn leave(&self, visiting: &Visiting, is_exhausted: bool) {
        match (self.board).leave(self.number, visiting.id, is_exhausted) {
            Left::Finished => {
                let finish = || visiting.job.finish(self.board, self.figures);
                let _ = catch_unwind(AssertUnwindSafe(finish));
            }
            Left::Parked => {
                self.figures.parked.fetch_add(1, Ordering::Relaxed);
            }
            Left::Others => {}
        }
    }

    /// Leaves a job at the end of a range and does what goes before it, while the job keeps what it has opened. Returns
    /// the visit with which the handler comes back to it; `None` where it does not, and the visit is to end with
    /// [`Ended::HasLeft`]. What the handler has found so far must be where the last handler merges it: another one may
    /// answer the query meanwhile.
    pub(crate) fn interlude(&self, visiting: &Visiting) -> Option<Visiting> {
        self.leave(visiting, false);
        let depth = self.kept.borrow().len();
        if depth == DEPTH_MAX {
            return None;
        }
        self.kept.borrow_mut().push(Arc::clone(&visiting.job));
        let back = loop {
            let next = match self.given.take() {
                Some(next) => next,
                None => match self.board.turn(self.number) {
                    Next::Visit(next) => next,
                    Next::Rest | Next::End => break None,
                },
            };
            if Arc::ptr_eq(&next.job, &visiting.job) {
                break Some(next);
            }
            let is_kept = |one: &Arc<dyn Job>| Arc::ptr_eq(one, &next.job);
            if self.kept.borrow()[..depth].iter().any(is_kept) {
                // An earlier job goes on: this one ends, and gives way to it.
                self.given.set(Some(next));
                break None;
            }
            self.work_on(&next);
        };
        self.kept.borrow_mut().truncate(depth);
        back
    }
}
