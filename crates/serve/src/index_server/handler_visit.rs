//! A handler at the ends of the ranges of a query: progress, and whether it stays.

use crate::index_server::shared_board::{SharedBoard, Visiting};
use schedule::board::{Progress, Start, Visit};
use search::Visitor;
use std::time::Instant;

/// Ranges of a query at most.
const RANGES_MAX: u64 = 256;

/// Returns the number of ranges of a query that takes `high_ns` at most, as a policy wants it.
pub(super) fn ranges_of(start: &Start, high_ns: u64) -> u64 {
    match start.range_ns {
        u64::MAX => 1,
        range_ns => high_ns.div_ceil(range_ns.max(1)).clamp(1, RANGES_MAX),
    }
}

/// A handler at the ends of the ranges of a search.
pub(super) struct HandlerVisit<'a> {
    visiting: &'a Visiting,
    handler: usize,
    board: &'a SharedBoard,
    deadline_ns: u64,
    pub(super) ranges_count: u64,
    pub(super) ranges_ns: u64,
    range_began: Instant,
}

impl HandlerVisit<'_> {
    pub(super) fn new<'a>(
        visiting: &'a Visiting,
        handler: usize,
        board: &'a SharedBoard,
        deadline: Instant,
    ) -> HandlerVisit<'a> {
        HandlerVisit {
            visiting,
            handler,
            board,
            deadline_ns: board.ns_of(deadline),
            ranges_count: 0,
            ranges_ns: 0,
            range_began: Instant::now(),
        }
    }

    fn progress(&self) -> &Progress {
        &self.visiting.progress
    }
}

impl Visitor for HandlerVisit<'_> {
    fn opened(&mut self, ranges_count: usize) {
        if ranges_count > 1 {
            self.board.open(self.visiting.id, ranges_count);
        }
        self.range_began = Instant::now();
    }

    fn range_done(&mut self, live: usize) -> bool {
        let now = Instant::now();
        let range_ns = (now - self.range_began).as_nanos() as u64;
        self.range_began = now;
        self.ranges_count += 1;
        self.ranges_ns += range_ns;
        let progress = self.progress();
        progress.range_done(range_ns);
        if live == 0 {
            progress.range_taken(0);
            return true;
        }
        let visit = Visit {
            now_ns: self.board.ns_of(now),
            is_owner: self.visiting.is_owner,
            arrived_ns: self.board.ns_of(self.visiting.job.deadline().arrived),
            left_ns: progress.left_ns(),
            deadline_ns: self.deadline_ns,
            urgent_ns: self.visiting.urgent_ns,
        };
        let seen = self.board.signals().seen(self.handler);
        let policy = self.board.policy();
        if !policy.stays(&visit, &seen) {
            progress.range_taken(u32::try_from(live).unwrap_or(u32::MAX));
            return false;
        }
        progress.range_taken(u32::try_from(live - 1).unwrap_or(u32::MAX));
        if seen.idle > 0 && visit.left_ns > policy.calls_helpers_ns() {
            self.board.wake();
        }
        true
    }
}
