//! Life of a handler: it works and sleeps as the board says.

use crate::handlers::figures::Figures;
use crate::handlers::shared_board::{Next, SharedBoard, Visiting};
use schedule::board::Left;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// The life of a handler: works and sleeps as the board says, until it is closed and nothing waits.
pub(crate) fn handle(handler: usize, board: &SharedBoard, figures: &Figures) {
    board.run_by_this_thread(handler);
    loop {
        match board.turn(handler) {
            Next::Visit(visiting) => {
                let waiting = board.signals().claimable() as usize;
                figures.waiting.store(waiting, Ordering::Relaxed);
                figures.busy.fetch_add(1, Ordering::Relaxed);
                visit(&visiting, handler, board, figures);
                figures.busy.fetch_sub(1, Ordering::Relaxed);
            }
            Next::Rest => board.rest(handler),
            Next::End => return,
        }
    }
}

/// Works on a job, and answers if this handler is the last one that leaves it. A bug that panics costs one query, whose
/// reply is dropped and reported, not the handler.
fn visit(visiting: &Visiting, handler: usize, board: &SharedBoard, figures: &Figures) {
    let job = &*visiting.job;
    let visit = || job.visit(visiting, handler, board, figures);
    let is_exhausted = catch_unwind(AssertUnwindSafe(visit)).unwrap_or_else(|_| {
        job.abandon();
        true
    });
    match board.leave(handler, visiting.id, is_exhausted) {
        Left::Finished => {
            let _ = catch_unwind(AssertUnwindSafe(|| job.finish(board, figures)));
        }
        Left::Parked => {
            figures.parked.fetch_add(1, Ordering::Relaxed);
        }
        Left::Others => {}
    }
}
