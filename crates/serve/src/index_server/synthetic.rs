//! Synthetic searches: ranges that spin for given times, on the board and the handlers of real ones.
//!
//! They judge the scheduling alone: the laboratory compares their response times with those that the simulator predicts
//! from the same times (`docs/parallelism.md`).

use crate::api::reply::Reply;
use crate::handlers::deadline::Deadline;
use crate::handlers::figures::Figures;
use crate::handlers::handler_visit::HandlerVisit;
use crate::handlers::shared_board::{Ended, Handler, Job, SharedBoard, Visiting};
use rustix::time::{ClockId, clock_gettime};
use schedule::board::Turn;
use search::Visitor;
use std::hint;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Clock that tells when a range has spun for its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyntheticClock {
    /// Wall-clock time, which passes while other threads have the core: judges queues.
    #[default]
    Wall,
    /// Time of the handler's thread on a core: judges the operating system's scheduler too.
    Processor,
}

impl SyntheticClock {
    /// Returns the time on this clock from an origin that is the same for a thread.
    fn now(self) -> Duration {
        let clock = match self {
            SyntheticClock::Wall => ClockId::Monotonic,
            SyntheticClock::Processor => ClockId::ThreadCPUTime,
        };
        let now = clock_gettime(clock);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    }

    /// Occupies the calling thread for a time on this clock.
    fn spin(self, time: Duration) {
        let began = self.now();
        while self.now().saturating_sub(began) < time {
            hint::spin_loop();
        }
    }
}

/// A search that spins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntheticRequest {
    /// Time on one handler.
    pub time: Duration,
    /// Predicted time.
    pub likely: Duration,
    /// Predicted time that a tenth of such searches exceeds: by it the search is cut.
    pub high: Duration,
    /// Deadline of the request.
    pub deadline: Instant,
    /// Clock of the time.
    pub clock: SyntheticClock,
}

/// Times of a synthetic search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntheticTimes {
    /// Time from arrival to the first handler.
    pub queueing: Duration,
    /// Time from the first handler to the end of the last range.
    pub search: Duration,
    /// Ranges.
    pub ranges: u32,
    /// Handlers that took ranges, of the first 64.
    pub handlers: u32,
}

/// A synthetic search on the board.
#[derive(Debug)]
pub(super) struct SyntheticJob {
    pub(super) deadline: Deadline,
    pub(super) request: SyntheticRequest,
    pub(super) reply: Mutex<Option<Reply<SyntheticTimes>>>,
    pub(super) begun: OnceLock<(Instant, u32)>,
    pub(super) next: AtomicU32,
    /// Bits of the handlers that took ranges.
    pub(super) handlers: AtomicU64,
}

impl SyntheticJob {
    pub(super) fn new(
        request: SyntheticRequest,
        deadline: Deadline,
        reply: Reply<SyntheticTimes>,
    ) -> SyntheticJob {
        SyntheticJob {
            deadline,
            request,
            reply: Mutex::new(Some(reply)),
            begun: OnceLock::new(),
            next: AtomicU32::new(0),
            handlers: AtomicU64::new(0),
        }
    }

    fn taken_reply(&self) -> Option<Reply<SyntheticTimes>> {
        let mut reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner);
        reply.take()
    }
}

impl Job for SyntheticJob {
    fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    fn visit(&self, visiting: &Visiting, handler: &Handler<'_>) -> Ended {
        let mut visitor = HandlerVisit::new(visiting, handler);
        if let Turn::Begin(_) = visiting.turn {
            let taken = Instant::now();
            let start = handler
                .board
                .start(visiting.id, self.request.likely.as_nanos() as u64);
            let ranges = start.ranges(self.request.high.as_nanos() as u64);
            let _ = self.begun.set((taken, ranges));
            visitor.opened(ranges as usize);
        }
        let Some(&(_, ranges)) = self.begun.get() else {
            return Ended::Exhausted;
        };
        let range = self.request.time / ranges;
        while self.next.fetch_add(1, Ordering::Relaxed) < ranges {
            let bit = 1u64.checked_shl(handler.number as u32).unwrap_or(0);
            self.handlers.fetch_or(bit, Ordering::Relaxed);
            self.request.clock.spin(range);
            let left = ranges.saturating_sub(self.next.load(Ordering::Relaxed));
            if !visitor.on_range(left as usize) {
                break;
            }
        }
        Ended::of(self.next.load(Ordering::Relaxed) >= ranges)
    }

    fn finish(&self, _board: &SharedBoard, _figures: &Figures) {
        if let (Some(reply), Some(&(taken, ranges))) = (self.taken_reply(), self.begun.get()) {
            reply.send(Ok(SyntheticTimes {
                queueing: taken - self.deadline.arrived,
                search: taken.elapsed(),
                ranges,
                handlers: self.handlers.load(Ordering::Relaxed).count_ones(),
            }));
        }
    }

    fn abandon(&self) {
        self.next.store(u32::MAX / 2, Ordering::Relaxed);
        drop(self.taken_reply());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_takes_its_time_on_either_clock() {
        let time = Duration::from_millis(3);
        for clock in [SyntheticClock::Wall, SyntheticClock::Processor] {
            let (began, began_here) = (Instant::now(), clock.now());
            clock.spin(time);
            assert!(clock.now() - began_here >= time);
            // Time on a core is never more than that of day.
            assert!(began.elapsed() >= time, "{clock:?}");
        }
    }
}
