//! Pace of a merge: pauses in proportion to the CPU time used, between short slices of work.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wall time of a slice of work.
const SLICE: Duration = Duration::from_millis(2);
/// Upper limit on a sleep, after which the pace is read again.
const SLEEP_MAX: Duration = Duration::from_millis(50);

/// Pace of one thread.
pub(crate) struct Pacer {
    /// Returns the share of a core that may be used, in percent: 0 pauses, 100 and more is full speed.
    percent: Box<dyn Fn() -> u32 + Send + Sync>,
    slice: Mutex<Slice>,
}

/// Beginning of a slice of work.
struct Slice {
    at: Instant,
    cpu: Duration,
}

impl Slice {
    fn now() -> Slice {
        Slice {
            at: Instant::now(),
            cpu: cpu_time(),
        }
    }
}

impl Pacer {
    pub(crate) fn new(percent: impl Fn() -> u32 + Send + Sync + 'static) -> Pacer {
        Pacer {
            percent: Box::new(percent),
            slice: Mutex::new(Slice::now()),
        }
    }

    /// Does the same as [`Pacer::step_now`] after a slice of work. Called often by the one thread that does the work.
    pub(crate) fn step(&self) {
        let slice = self.slice.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = slice.at.elapsed() >= SLICE;
        drop(slice);
        if is_over {
            self.step_now();
        }
    }

    /// Sleeps where the thread used its share, and while work is paused.
    pub(crate) fn step_now(&self) {
        let mut slice = self.slice.lock().unwrap_or_else(PoisonError::into_inner);
        let used = cpu_time().saturating_sub(slice.cpu);
        let begun = Instant::now();
        while let Some(left) = rest(used, (self.percent)()).checked_sub(begun.elapsed())
            && !left.is_zero()
        {
            std::thread::sleep(left.min(SLEEP_MAX));
        }
        *slice = Slice::now();
    }
}

/// Returns the sleep that keeps `used` CPU time within `percent` of the wall time.
fn rest(used: Duration, percent: u32) -> Duration {
    match percent {
        0 => Duration::MAX,
        1..100 => used * (100 - percent) / percent,
        _ => Duration::ZERO,
    }
}

/// Returns the CPU time of this thread; where the system does not say, the time on the clock.
fn cpu_time() -> Duration {
    #[cfg(target_os = "linux")]
    return vfs::platform::thread_cpu_time();
    #[cfg(not(target_os = "linux"))]
    {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn rest_is_in_proportion() {
        let used = Duration::from_millis(10);
        for (percent, rest_ms) in [(100, 0), (500, 0), (50, 10), (25, 30), (80, 2)] {
            let found = rest(used, percent).as_micros();
            assert_eq!(found, rest_ms * 1000 + if percent == 80 { 500 } else { 0 });
        }
        assert_eq!(rest(used, 0), Duration::MAX);
    }

    #[test]
    fn a_share_is_kept_and_a_pause_ends() {
        let percent = Arc::new(AtomicU32::new(25));
        let asked = Arc::clone(&percent);
        let pacer = Pacer::new(move || asked.load(Ordering::Relaxed));
        let (begun, cpu) = (Instant::now(), cpu_time());
        while cpu_time() - cpu < Duration::from_millis(20) {
            pacer.step();
        }
        let share = Duration::from_millis(20).as_secs_f64() / begun.elapsed().as_secs_f64();
        assert!(share < 0.4, "{share}");
        percent.store(0, Ordering::Relaxed);
        std::thread::scope(|scope| {
            let paused = scope.spawn(|| {
                pacer.step_now();
            });
            std::thread::sleep(SLICE * 3);
            percent.store(100, Ordering::Relaxed);
            paused.join().unwrap();
        });
    }
}
