//! What time is it, and how does a thread wake up at an instant and not a millisecond later?
//!
//! Timers of async runtimes count in whole milliseconds. Here a thread sleeps on an absolute
//! instant of the monotonic clock, wakes a little early and spins over the rest. Overhead: one
//! `clock_nanosleep` and at most [`SPIN_NS`] of a core for each wake-up.
use rustix::thread::{ClockId, Timespec, clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::clock_gettime;
use std::num::NonZeroU64;

/// How long before the instant the thread wakes: about what a wake-up takes, so that the spin
/// hides it, and little enough that it costs a shared core next to nothing.
const SPIN_NS: u64 = 40_000;
const NS_PER_S: u64 = 1_000_000_000;

/// Nanoseconds since one origin, the same for all threads of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// A clock that reads 0 now.
    pub(crate) fn start() -> Clock {
        Clock {
            origin_ns: monotonic_ns(),
        }
    }

    /// Nanoseconds since the origin; 0 before it.
    pub(crate) fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.origin_ns)
    }

    /// The same clock with an origin `ns` later.
    pub(crate) fn later(self, ns: u64) -> Clock {
        Clock {
            origin_ns: self.origin_ns + ns,
        }
    }

    /// Returns at the instant, or at once where it is over. Seldom early, never by more than a
    /// signal makes it.
    pub(crate) fn sleep_until(&self, at_ns: u64) {
        let at_ns = self.origin_ns + at_ns;
        let wake_ns = at_ns.saturating_sub(SPIN_NS);
        if monotonic_ns() < wake_ns {
            let wake = Timespec {
                tv_sec: (wake_ns / NS_PER_S) as i64,
                tv_nsec: (wake_ns % NS_PER_S) as i64,
            };
            // Interrupted by a signal: the caller looks at its flags and sleeps again.
            if clock_nanosleep_absolute(ClockId::Monotonic, &wake).is_err() {
                return;
            }
        }
        while monotonic_ns() < at_ns {
            std::hint::spin_loop();
        }
    }
}

/// Asks the kernel not to gather this thread's wake-ups with others (it may delay them by 50 µs
/// otherwise). A kernel that refuses only makes the schedule lag larger, and that is measured.
pub(crate) fn wake_precisely() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Lets this thread run before others when its instant has come, where that is allowed: it needs a
/// core for microseconds, and would otherwise wait for a server thread to be done with its share.
/// A kernel that refuses only makes the schedule lag larger, and that is measured.
pub(crate) fn run_first() {
    let _ = rustix::process::setpriority_process(None, -15);
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_at_its_instant_and_not_before() {
        wake_precisely();
        let clock = Clock::start();
        for at_ns in [1_000, 2_000_000, 5_000_000] {
            clock.sleep_until(at_ns);
            assert!(clock.now_ns() >= at_ns);
        }
        assert_eq!(clock.later(u64::MAX / 4).now_ns(), 0);
    }
}
