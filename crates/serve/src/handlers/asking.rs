//! A handler at work on a query in one piece, of which idle handlers ask for a part.

use crate::handlers::guests::GUEST_MAX;
use crate::handlers::shared_board::{Handler, SharedBoard};
use schedule::board::{Give, UNHEARD_NS};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Requests that a handler at work hears. Read every few dozen microseconds of its search: the signals, which are one cache line,
/// and the clock where a half is requested.
#[derive(Debug)]
pub(crate) struct Asking<'a> {
    board: &'a SharedBoard,
    handler: usize,
    began: Instant,
    is_guest: bool,
    is_owner: AtomicBool,
    /// Time from the beginning before which requests for a half are not heard, in ns.
    not_before_ns: AtomicU64,
}

impl<'a> Asking<'a> {
    /// Returns the requests for a handler that begins to work now.
    pub(crate) fn new(handler: &Handler<'a>) -> Asking<'a> {
        let not_before_ns = match handler.board.trusts_all() {
            true => 0,
            false => UNHEARD_NS,
        };
        Asking {
            board: handler.board,
            handler: handler.number,
            began: Instant::now(),
            is_guest: handler.is_guest,
            is_owner: AtomicBool::new(false),
            not_before_ns: AtomicU64::new(not_before_ns),
        }
    }

    /// Notes whether the handler owns the query or helps.
    pub(crate) fn owns(&self, is_owner: bool) {
        self.is_owner.store(is_owner, Relaxed);
    }

    /// Returns whether a part is asked for.
    pub(crate) fn is_asked(&self) -> bool {
        match self.gives() {
            Give::Nothing => false,
            Give::All => true,
            Give::Half => self.spent_ns() >= self.not_before_ns.load(Relaxed),
        }
    }

    /// Returns whether a guest has worked for its time, and leaves the rest to a handler.
    pub(crate) fn is_over(&self) -> bool {
        self.is_guest && self.began.elapsed() >= GUEST_MAX
    }

    /// Returns what the policy gives now, or the guest. Whether a half pays is for [`SharedBoard::shares`].
    pub(crate) fn gives(&self) -> Give {
        if self.is_over() {
            return Give::All;
        }
        let seen = self.board.signals().seen(self.handler);
        (self.board.policy()).gives(self.is_owner.load(Relaxed), &seen)
    }

    /// Ignores requests for a half until the search has taken twice as long: at the next blocks it would not pay either.
    pub(crate) fn waits(&self) {
        let not_before_ns = self.spent_ns().saturating_mul(2).max(1);
        self.not_before_ns.store(not_before_ns, Relaxed);
    }

    fn spent_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }
}
