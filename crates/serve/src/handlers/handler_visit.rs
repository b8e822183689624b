//! A handler at the ends of the ranges of a query: progress, and whether it stays.

use crate::handlers::shared_board::{SharedBoard, Visiting};
use schedule::board::{Progress, Visit};
use search::Visitor;
use std::time::Instant;

/// A handler at the ends of the ranges of a search.
pub(crate) struct HandlerVisit<'a> {
    visiting: &'a Visiting,
    handler: usize,
    board: &'a SharedBoard,
    pub(crate) ranges_count: u64,
    pub(crate) ranges_ns: u64,
    range_began: Instant,
}

impl HandlerVisit<'_> {
    pub(crate) fn new<'a>(
        visiting: &'a Visiting,
        handler: usize,
        board: &'a SharedBoard,
    ) -> HandlerVisit<'a> {
        HandlerVisit {
            visiting,
            handler,
            board,
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
        self.board
            .emulate_speed(self.handler, self.range_began.elapsed());
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
            left_ns: progress.left_ns(),
            ..self.visiting.visit
        };
        let seen = self.board.signals().seen(self.handler);
        let policy = self.board.policy();
        if !policy.stays(&visit, &seen) {
            progress.range_taken(u32::try_from(live).unwrap_or(u32::MAX));
            return false;
        }
        progress.range_taken(u32::try_from(live - 1).unwrap_or(u32::MAX));
        if seen.idle > 0 && policy.calls_helpers() {
            self.board.wake(visit.now_ns);
        }
        true
    }
}
