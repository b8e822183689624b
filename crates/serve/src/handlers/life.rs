//! Life of a handler: it works and sleeps as the board says.
//!
//! ```text
//! query A   [ A1 ][ A2 ] leaves A                      resumes A with its lists open [ A3 ]
//!                        └► query B   [ B1 ][ B2 ] answers B ┘                           in the interlude of A
//! ```

use crate::handlers::figures::Figures;
use crate::handlers::shared_board::{Ended, Handler, Interludes, Job, Next, SharedBoard, Visiting};
use schedule::board::Left;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Interludes within interludes at most: each keeps the lists of a query open.
const DEPTH_MAX: usize = 16;

/// The life of a handler, on its thread.
pub(crate) struct Life<'a> {
    number: usize,
    board: &'a SharedBoard,
    figures: &'a Figures,
    /// Jobs that it has left for an interlude and keeps open, the latest last.
    kept: RefCell<Vec<Arc<dyn Job>>>,
    /// Next work, which the board gave in the interlude of a later job.
    given: Cell<Option<Visiting>>,
    /// Whether the thread is a guest: it brought one job, and works in the place of an idle handler.
    is_guest: bool,
}

impl<'a> Life<'a> {
    /// Returns the life of a handler without work.
    pub(crate) fn new(number: usize, board: &'a SharedBoard, figures: &'a Figures) -> Life<'a> {
        Life {
            number,
            board,
            figures,
            kept: RefCell::default(),
            given: Cell::new(None),
            is_guest: false,
        }
    }

    /// Works on a job on the calling thread, in the place of an idle handler: this saves two wake-ups, which take longer than
    /// most searches. Where none idles or something waits, and where the job takes long, handlers do it.
    pub(crate) fn work_as_guest(board: &'a SharedBoard, figures: &'a Figures, job: Arc<dyn Job>) {
        let Some((number, visiting)) = board.enqueue_here(job) else {
            return;
        };
        let guest = Life {
            is_guest: true,
            ..Life::new(number, board, figures)
        };
        guest.work_on_counted(&visiting);
        board.give_back(number);
    }

    /// Works and sleeps as the board says, until it is closed and nothing waits.
    pub(crate) fn live(&self) {
        self.board.run_by_this_thread(self.number);
        loop {
            match self.board.turn(self.number) {
                Next::Visit(visiting) => self.work_on_counted(&visiting),
                Next::Rest => self.board.rest(self.number),
                Next::End => return,
            }
        }
    }

    fn work_on_counted(&self, visiting: &Visiting) {
        self.figures.busy.fetch_add(1, Ordering::Relaxed);
        self.work_on(visiting);
        self.figures.busy.fetch_sub(1, Ordering::Relaxed);
    }

    /// Works on a job, and answers if this handler is the last one that leaves it. A bug that panics costs one query,
    /// whose reply is dropped and reported, not the handler.
    fn work_on(&self, visiting: &Visiting) {
        let job = &*visiting.job;
        let kept_count = self.kept.borrow().len();
        let handler = Handler {
            number: self.number,
            board: self.board,
            figures: self.figures,
            interludes: self,
            is_guest: self.is_guest,
        };
        let visit = || job.visit(visiting, &handler);
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
            // The rest of a job that takes long is no job parked for another.
            Left::Parked if self.is_guest => {}
            Left::Parked => {
                self.figures.parked.fetch_add(1, Ordering::Relaxed);
            }
            Left::Others => {}
        }
    }
}

impl Interludes for Life<'_> {
    fn interlude(&self, visiting: &Visiting) -> Option<Visiting> {
        self.leave(visiting, false);
        if self.is_guest {
            return None;
        }
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
