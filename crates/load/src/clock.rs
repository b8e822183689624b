//! Monotonic clock and precise wake-ups of threads.
//!
//! Timers of async runtimes count whole milliseconds. Here a thread sleeps until an absolute instant of
//! the monotonic clock, wakes slightly early and spins for the rest. Overhead: one `clock_nanosleep`
//! and at most [`SPIN_NS`] of a core per wake-up.
use rustix::thread::{ClockId, Timespec, clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::clock_gettime;
use std::num::NonZeroU64;

/// Time in ns between the wake-up and the requested instant: about the latency of a wake-up, so the
/// spin hides it, and short enough to cost a shared core almost nothing.
const SPIN_NS: u64 = 40_000;
const NS_PER_S: u64 = 1_000_000_000;

/// Clock in nanoseconds since an origin shared by all threads of a run.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// Returns a clock that reads 0 now.
    pub fn start() -> Clock {
        Clock {
            origin_ns: monotonic_ns(),
        }
    }

    /// Returns the nanoseconds since the origin; 0 before it.
    pub fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.origin_ns)
    }

    /// Returns the same clock with its origin `ns` later.
    pub fn later(self, ns: u64) -> Clock {
        Clock {
            origin_ns: self.origin_ns + ns,
        }
    }

    /// Sleeps until `at_ns`; returns at once if that instant has passed. Returns early only after a
    /// signal.
    pub fn sleep_until(&self, at_ns: u64) {
        let at_ns = self.origin_ns + at_ns;
        let wake_ns = at_ns.saturating_sub(SPIN_NS);
        if monotonic_ns() < wake_ns {
            let wake = Timespec {
                tv_sec: (wake_ns / NS_PER_S) as i64,
                tv_nsec: (wake_ns % NS_PER_S) as i64,
            };
            // A signal interrupted the sleep: the caller checks its flags and sleeps again.
            if clock_nanosleep_absolute(ClockId::Monotonic, &wake).is_err() {
                return;
            }
        }
        while monotonic_ns() < at_ns {
            std::hint::spin_loop();
        }
    }
}

/// Sets the timer slack of this thread to its minimum (the default delays wake-ups by up to 50 µs to
/// batch them). If the kernel refuses, the schedule lag grows, and the lag is measured.
pub fn wake_precisely() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Raises the scheduling priority of this thread where permitted. The thread needs a core for
/// microseconds, and would otherwise wait for a server thread to use up its time slice. If the kernel
/// refuses, the schedule lag grows, and the lag is measured.
pub fn run_first() {
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
