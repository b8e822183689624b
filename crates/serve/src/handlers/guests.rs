//! Guests: threads that brought a job and work on it in the place of an idle handler, which sleeps on.
//!
//! ```text
//! thread that reads requests   [ reads ][ searches as handler 1 ][ answers ][ reads …
//! handler 1                      asleep
//! ```
//!
//! A hand-over costs two wake-ups, which take longer than most searches. To the board a guest is the handler: the limit on
//! handlers at work, the order, helpers and parking are the same.

use crate::handlers::shared_board::{Job, SharedBoard, Visiting};
use schedule::board::Turn;
use std::sync::Arc;
use std::time::Duration;

/// Time after which a guest leaves its job to a handler. Its thread has connections to serve, which other threads of the kind
/// take over meanwhile.
pub(crate) const GUEST_MAX: Duration = Duration::from_millis(1);
/// Predicted time from which a guest leaves a job to a handler as soon as it is planned, in ns.
pub(crate) const GUEST_LIKELY_NS_MAX: u64 = 400_000;

impl SharedBoard {
    /// Puts a job on the board, for the calling thread to begin it in the place of an idle handler. Returns the number of that
    /// handler, which is to be given back ([`Self::give_back`]); `None` where none is idle or something waits: the job waits
    /// as any other.
    pub(crate) fn enqueue_here(&self, job: Arc<dyn Job>) -> Option<(usize, Visiting)> {
        if !self.have_guests {
            self.enqueue(job);
            return None;
        }
        let mut state = self.state();
        let id = self.put(&mut state, job);
        let now_ns = self.now_ns();
        let begun = state.board.begin_in_place(now_ns, id);
        let Some((handler, visiting)) = begun.and_then(|handler| {
            let visiting = state.visiting(now_ns, handler, Turn::Begin(id), id)?;
            Some((handler, visiting))
        }) else {
            let woken = self.wake_in(&mut state, now_ns);
            drop(state);
            self.unpark(woken);
            return None;
        };
        state.has_guest[handler] = true;
        Some((handler, visiting))
    }

    /// Gives its place back to a handler, and wakes one where there is more to do.
    pub(crate) fn give_back(&self, handler: usize) {
        let now_ns = self.now_ns();
        let mut state = self.state();
        state.has_guest[handler] = false;
        state.board.rests(now_ns, handler);
        let woken = match state.is_closed {
            // The handler had no turn while a guest had its place: it ends now.
            true => Some(handler),
            false => self.wake_in(&mut state, now_ns),
        };
        drop(state);
        self.unpark(woken);
    }
}
