//! A handler at the ends of the ranges of a query: progress, and whether it stays.

use crate::handlers::asking::Asking;
use crate::handlers::shared_board::{Handler, SharedBoard, Visiting};
use schedule::board::{Give, Progress, Turn, Visit};
use search::{Split, Visitor};
use std::time::{Duration, Instant};

/// A handler at the ends of the ranges of a search.
pub(crate) struct HandlerVisit<'a> {
    visiting: &'a Visiting,
    handler: usize,
    board: &'a SharedBoard,
    /// Requests for a part, where the query is in one piece.
    asking: Option<&'a Asking<'a>>,
    pub(crate) ranges_count: u64,
    /// Time of the ranges on the clock of the handler's CPU time; on the wall's for a search in one piece.
    pub(crate) ranges_time: Duration,
    /// Time of the ranges on the wall's clock.
    pub(crate) ranges_wall: Duration,
    range_began: Instant,
    /// CPU time of the thread when the range began, of a search in several ranges. By the wall's clock a range in which
    /// the thread lost its CPU would look as if the rest took long, too.
    cpu_at_begin: Option<Duration>,
}

impl<'a> HandlerVisit<'a> {
    pub(crate) fn new(visiting: &'a Visiting, handler: &Handler<'a>) -> HandlerVisit<'a> {
        HandlerVisit {
            visiting,
            handler: handler.number,
            board: handler.board,
            asking: None,
            ranges_count: 0,
            ranges_time: Duration::ZERO,
            ranges_wall: Duration::ZERO,
            range_began: Instant::now(),
            cpu_at_begin: match visiting.turn {
                Turn::Begin(_) => None,
                _ => Some(vfs::platform::thread_cpu_time()),
            },
        }
    }

    /// Lets the search give parts away, as `asking` says.
    pub(crate) fn asked(mut self, asking: &'a Asking<'a>) -> Self {
        asking.owns(self.visiting.visit.is_owner);
        self.asking = Some(asking);
        self
    }

    /// Measures the CPU time of the opening, too. By the wall's clock, an opening in which the thread lost its CPU
    /// would make joining look as expensive, so that no handler would join and the query would not be parked.
    pub(crate) fn with_cpu_time_of_opening(mut self) -> Self {
        self.cpu_at_begin = Some(vfs::platform::thread_cpu_time());
        self
    }

    /// Returns whether the search has several ranges, so that the CPU time of each was measured.
    pub(crate) fn has_cpu_time(&self) -> bool {
        self.cpu_at_begin.is_some()
    }

    /// Ends a range. Returns its time.
    fn range_ended(&mut self, now: Instant) -> Duration {
        let wall = now - self.range_began;
        self.range_began = now;
        let time = match &mut self.cpu_at_begin {
            Some(at_begin) => {
                let cpu = vfs::platform::thread_cpu_time();
                let began = std::mem::replace(at_begin, cpu);
                cpu.saturating_sub(began)
            }
            None => wall,
        };
        self.ranges_count += 1;
        self.ranges_wall += wall;
        self.ranges_time += time;
        time
    }

    fn progress(&self) -> &Progress {
        &self.visiting.progress
    }
}

impl Visitor for HandlerVisit<'_> {
    fn opened(&mut self, ranges_count: usize) {
        if ranges_count > 1 {
            let cpu = vfs::platform::thread_cpu_time();
            let joined = match self.cpu_at_begin {
                Some(at_begin) => cpu.saturating_sub(at_begin),
                None => self.range_began.elapsed(),
            };
            (self.board).open(self.visiting.id, ranges_count, joined);
            self.cpu_at_begin = Some(cpu);
        } else {
            self.cpu_at_begin = None;
        }
        self.range_began = Instant::now();
    }

    fn on_range(&mut self, live: usize) -> bool {
        self.board
            .emulate_speed(self.handler, self.range_began.elapsed());
        let now = Instant::now();
        let time = self.range_ended(now);
        let progress = self.progress();
        progress.range_done(time.as_nanos() as u64);
        if live == 0 {
            progress.range_taken(0);
            return true;
        }
        let visit = Visit {
            now_ns: self.board.ns_of(now),
            left_ns: progress.left_ns(),
            join_ns: progress.join_ns(),
            stay_ns: self.ranges_time.as_nanos() as u64,
            ..self.visiting.visit
        };
        let seen = self.board.signals().seen(self.handler);
        let policy = self.board.policy();
        let is_over = self.asking.is_some_and(Asking::is_over);
        if is_over || !policy.stays(&visit, &seen) {
            progress.range_taken(u32::try_from(live).unwrap_or(u32::MAX));
            return false;
        }
        progress.range_taken(u32::try_from(live - 1).unwrap_or(u32::MAX));
        if seen.idle > 0 && policy.calls_helpers() {
            self.board.wake(visit.now_ns);
        }
        true
    }

    fn split(&mut self, searched: u64, left: u64) -> Split {
        let Some(asking) = self.asking else {
            return Split::Keep;
        };
        match asking.gives() {
            Give::Nothing => Split::Keep,
            Give::All => Split::All,
            Give::Half => {
                let spent = self.range_began.elapsed();
                let left = match searched {
                    0 => Duration::ZERO,
                    _ => spent.mul_f64(left as f64 / searched as f64),
                };
                if self.board.shares(self.visiting.id, left) {
                    return Split::Half;
                }
                asking.waits();
                Split::Keep
            }
        }
    }

    fn gave(&mut self, live: usize) {
        // What joining takes is not known yet: the mean of the machine.
        self.board.open(self.visiting.id, live, Duration::ZERO);
    }
}
