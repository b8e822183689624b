//! CPU time and run-queue wait of a handler's thread during a visit.
//!
//! The two clocks cost 0.5 to 5 µs a visit, depending on the kernel. So they are read for searches that take long by their
//! prediction, and for those that are traced.

use std::time::Duration;

/// Predicted time from which searches are measured, in ns: the clocks then cost 1 % at most.
const MEASURED_MIN_NS: u64 = 500_000;

/// Returns whether a search of a predicted time is measured.
pub(crate) fn is_measured(is_traced: bool, likely_ns: u64) -> bool {
    is_traced || likely_ns >= MEASURED_MIN_NS
}

/// Clocks of the calling thread at an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadClock {
    cpu: Duration,
    run_queue: Option<Duration>,
}

/// CPU time and run-queue wait of a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ThreadTimes {
    pub(crate) cpu: Duration,
    /// Zero where the kernel does not count it.
    pub(crate) run_queue: Duration,
}

impl ThreadClock {
    /// Reads the clocks of the calling thread.
    pub(crate) fn now() -> ThreadClock {
        ThreadClock {
            run_queue: vfs::platform::thread_run_queue_wait(),
            cpu: vfs::platform::thread_cpu_time(),
        }
    }

    /// Returns the times of the calling thread since this instant.
    pub(crate) fn elapsed(&self) -> ThreadTimes {
        let cpu = vfs::platform::thread_cpu_time();
        let waits = vfs::platform::thread_run_queue_wait().zip(self.run_queue);
        ThreadTimes {
            cpu: cpu.saturating_sub(self.cpu),
            run_queue: waits.map_or(Duration::ZERO, |(now, then)| now.saturating_sub(then)),
        }
    }
}

impl std::ops::AddAssign for ThreadTimes {
    fn add_assign(&mut self, other: ThreadTimes) {
        self.cpu += other.cpu;
        self.run_queue += other.run_queue;
    }
}
