//! For how much of the time the CPUs of a server are busy, whoever has them: front-ends, clients and other programs too.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use vfs::platform::CpuTicks;

/// Time between two measurements: the kernel counts in ticks of 10 ms, and reading them takes up to 100 µs.
const INTERVAL: Duration = Duration::from_millis(100);

/// Use of the CPUs that this process may run on.
#[derive(Debug)]
pub(crate) struct CpuUse {
    cpus: Vec<u32>,
    last: Mutex<Option<(Instant, CpuTicks)>>,
}

impl CpuUse {
    pub(crate) fn new() -> CpuUse {
        CpuUse {
            cpus: cpus(),
            last: Mutex::new(None),
        }
    }

    /// Returns the share of the time since the last measurement in which the CPUs were busy; `None` where there was one a
    /// moment ago, and where the kernel does not tell.
    pub(crate) fn measure(&self) -> Option<f64> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(&*last, Some((at, _)) if at.elapsed() < INTERVAL) {
            return None;
        }
        let ticks = CpuTicks::now();
        let before = last.replace((Instant::now(), ticks.clone()));
        drop(last);
        let shares = ticks.busy_since(&before?.1);
        let shares = self.cpus.iter().filter_map(|cpu| shares.get(cpu));
        let (count, sum) = shares.fold((0, 0.0), |(count, sum), share| (count + 1, sum + share));
        (count > 0).then(|| sum / f64::from(count))
    }
}

#[cfg(target_os = "linux")]
fn cpus() -> Vec<u32> {
    vfs::platform::affinity(0).unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
fn cpus() -> Vec<u32> {
    Vec::new()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_busy_thread_is_seen() {
        let cpu_use = CpuUse::new();
        assert_eq!(cpu_use.measure(), None);
        let began = Instant::now();
        while began.elapsed() < 2 * INTERVAL {
            std::hint::spin_loop();
        }
        let share = cpu_use.measure().unwrap();
        let least = 0.5 / cpu_use.cpus.len() as f64;
        assert!((least..=1.0).contains(&share), "{share}");
        assert_eq!(cpu_use.measure(), None);
    }
}
