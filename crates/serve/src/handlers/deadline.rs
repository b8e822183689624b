//! Deadline of a job, and what work asks while it runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Running time after which work is heavy, and the interval at which heavy work then yields its core.
/// The kernel would make other threads wait for a time slice of milliseconds, which is longer than most
/// searches take.
const HEAVY_AFTER: Duration = Duration::from_millis(2);
const YIELDS_EVERY: Duration = Duration::from_micros(250);

/// Arrival and deadline of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) arrived: Instant,
    pub(crate) at: Instant,
}

impl Deadline {
    /// Returns the deadline of a request that arrives now, at most `cut_off` away.
    pub(crate) fn now(at: Instant, cut_off: Option<Duration>) -> Deadline {
        let arrived = Instant::now();
        Deadline {
            arrived,
            at: cut_off.map_or(at, |cut_off| at.min(arrived + cut_off)),
        }
    }
}

/// Whether the client has gone.
pub(crate) type IsAbandoned<'a> = &'a (dyn Fn() -> bool + Sync);

/// Returns what work asks every few dozen microseconds: whether it is past its deadline or without a client. Heavy work
/// yields its core meanwhile.
pub(crate) fn is_due<'f>(
    taken: Instant,
    deadline: Instant,
    is_abandoned: IsAbandoned<'f>,
) -> impl Fn() -> bool + Sync + 'f {
    let yields_at_us = AtomicU64::new(HEAVY_AFTER.as_micros() as u64);
    move || {
        let now = Instant::now();
        let worked_us = now.saturating_duration_since(taken).as_micros() as u64;
        if worked_us >= yields_at_us.load(Ordering::Relaxed) {
            thread::yield_now();
            let next_us = worked_us + YIELDS_EVERY.as_micros() as u64;
            yields_at_us.store(next_us, Ordering::Relaxed);
        }
        now >= deadline || is_abandoned()
    }
}
