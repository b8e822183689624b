//! Synthetic searches: ranges that spin for given times, on the board and the handlers of real ones.
//!
//! They judge the scheduling alone: the laboratory compares their response times with those that the simulator predicts
//! from the same times (`docs/parallelism.md`).

use crate::api::reply::Reply;
use crate::handlers::asking::Asking;
use crate::handlers::deadline::Deadline;
use crate::handlers::figures::Figures;
use crate::handlers::handler_visit::HandlerVisit;
use crate::handlers::shared_board::{Ended, Handler, Job, SharedBoard, Visiting};
use rustix::time::{ClockId, clock_gettime};
use schedule::board::{BLOCK_NS, Turn};
use search::{Split, Visitor};
use std::hint;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
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
        self.spin_until(self.now() + time);
    }

    /// Occupies the calling thread until an instant of this clock.
    fn spin_until(self, instant: Duration) {
        while self.now() < instant {
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
    pub(super) begun: OnceLock<Begun>,
    pub(super) next: AtomicU32,
    /// Parts of a search in one piece that no handler works on: the whole of it at first.
    pub(super) parts: Mutex<Vec<Duration>>,
    /// Bits of the handlers that took ranges.
    pub(super) handlers: AtomicU64,
}

/// Beginning of a synthetic search.
#[derive(Debug)]
pub(super) struct Begun {
    taken: Instant,
    ranges: u32,
    /// Whether it is in one piece, of which handlers may ask for parts.
    is_on_request: bool,
}

/// Time between two instants at which a search in one piece hears requests.
const BLOCK: Duration = Duration::from_nanos(BLOCK_NS);

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
            parts: Mutex::new(vec![request.time]),
            handlers: AtomicU64::new(0),
        }
    }

    fn parts(&self) -> MutexGuard<'_, Vec<Duration>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_handler(&self, handler: &Handler<'_>) {
        let bit = 1u64.checked_shl(handler.number as u32).unwrap_or(0);
        self.handlers.fetch_or(bit, Ordering::Relaxed);
    }

    /// Spins for the parts of a search in one piece, and gives some away.
    fn take_parts(
        &self,
        visitor: &mut HandlerVisit<'_>,
        asking: &Asking<'_>,
        handler: &Handler<'_>,
    ) {
        loop {
            let Some(mut left) = self.parts().pop() else {
                return;
            };
            self.next.fetch_add(1, Ordering::Relaxed);
            self.note_handler(handler);
            let mut searched = Duration::ZERO;
            let began = self.request.clock.now();
            while !left.is_zero() {
                // From the beginning of the part, so that the ends of blocks do not add up.
                let block = left.min(BLOCK);
                let ends = began + searched + block;
                self.request.clock.spin_until(ends);
                (searched, left) = (searched + block, left - block);
                if left.is_zero() || !asking.is_asked() {
                    continue;
                }
                let split = visitor.split(searched.as_nanos() as u64, left.as_nanos() as u64);
                let given = match split {
                    Split::Keep => continue,
                    Split::Half => left / 2,
                    Split::All => left,
                };
                left -= given;
                let live = {
                    let mut parts = self.parts();
                    parts.push(given);
                    parts.len()
                };
                visitor.gave(live);
            }
            let live = self.parts().len();
            if !visitor.on_range(live) {
                return;
            }
        }
    }

    fn take_ranges(&self, ranges: u32, visitor: &mut HandlerVisit<'_>, handler: &Handler<'_>) {
        let range = self.request.time / ranges;
        while self.next.fetch_add(1, Ordering::Relaxed) < ranges {
            self.note_handler(handler);
            self.request.clock.spin(range);
            let left = ranges.saturating_sub(self.next.load(Ordering::Relaxed));
            if !visitor.on_range(left as usize) {
                break;
            }
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
        let asking = Asking::new(handler);
        let mut visitor = HandlerVisit::new(visiting, handler);
        if let Turn::Begin(_) = visiting.turn {
            let taken = Instant::now();
            let start = handler
                .board
                .start(visiting.id, self.request.likely.as_nanos() as u64);
            let begun = Begun {
                taken,
                ranges: start.ranges(self.request.high.as_nanos() as u64),
                is_on_request: start.is_on_request(),
            };
            if !begun.is_on_request {
                visitor.opened(begun.ranges as usize);
            }
            let _ = self.begun.set(begun);
        }
        let Some(begun) = self.begun.get() else {
            return Ended::Exhausted;
        };
        if begun.is_on_request {
            let mut visitor = visitor.asked(&asking);
            self.take_parts(&mut visitor, &asking, handler);
            return Ended::of(self.parts().is_empty());
        }
        self.take_ranges(begun.ranges, &mut visitor, handler);
        Ended::of(self.next.load(Ordering::Relaxed) >= begun.ranges)
    }

    fn finish(&self, _board: &SharedBoard, _figures: &Figures) {
        if let (Some(reply), Some(begun)) = (self.taken_reply(), self.begun.get()) {
            reply.send(Ok(SyntheticTimes {
                queueing: begun.taken - self.deadline.arrived,
                search: begun.taken.elapsed(),
                ranges: match begun.is_on_request {
                    true => self.next.load(Ordering::Relaxed),
                    false => begun.ranges,
                },
                handlers: self.handlers.load(Ordering::Relaxed).count_ones(),
            }));
        }
    }

    fn abandon(&self) {
        self.next.store(u32::MAX / 2, Ordering::Relaxed);
        self.parts().clear();
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
