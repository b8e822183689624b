//! CPU affinity and CPU time of threads of other programs, by thread id.
//!
//! Linux alone. The kernel allows it for threads of the same user; [`crate::platform::thread`] pins the calling thread.

use std::io;

/// A thread was not pinned. It runs where it ran before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PinError {
    /// A thread must run somewhere.
    #[error("a thread cannot be pinned to no CPU; give it one")]
    NoCpus,
    /// The kernel's call takes no such CPU.
    #[error("a thread cannot be pinned to CPU {cpu}; {max} is the highest that the call takes")]
    TooHigh {
        /// The CPU.
        cpu: u32,
        /// The highest.
        max: u32,
    },
    /// The kernel refused: all of the CPUs are switched off, or kept from this process.
    #[error(
        "the kernel does not let this thread run on CPU {cpus:?}: {source}; \
         see Cpus_allowed_list in /proc/self/status for what it may use"
    )]
    Refused {
        /// The CPUs asked for.
        cpus: Vec<u32>,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// This system cannot pin threads.
    #[error("this system cannot pin threads; use --placement none")]
    Unavailable,
}

/// Returns the CPUs that thread `tid` may use, in increasing order. `tid` 0 is the calling thread.
///
/// # Errors
/// What the kernel says: `ESRCH` for a thread that has ended.
#[cfg(target_os = "linux")]
pub fn affinity(tid: u32) -> io::Result<Vec<u32>> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let mask = sched_getaffinity(pid(tid)?)?;
    let cpus = 0..CpuSet::MAX_CPU;
    Ok(cpus
        .filter(|&cpu| mask.is_set(cpu))
        .map(|cpu| cpu as u32)
        .collect())
}

/// Limits thread `tid` to `cpus`. `tid` 0 is the calling thread.
///
/// # Errors
/// [`PinError::NoCpus`] and [`PinError::TooHigh`] for a set that no thread can have; [`PinError::Refused`]
/// with the kernel's reason, such as `ESRCH` for a thread that has ended or `EPERM` for another user's.
#[cfg(target_os = "linux")]
pub fn set_affinity(tid: u32, cpus: impl IntoIterator<Item = u32>) -> Result<(), PinError> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let cpus: Vec<u32> = cpus.into_iter().collect();
    if cpus.is_empty() {
        return Err(PinError::NoCpus);
    }
    let mut mask = CpuSet::new();
    for &cpu in &cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            let max = CpuSet::MAX_CPU as u32 - 1;
            return Err(PinError::TooHigh { cpu, max });
        }
        mask.set(cpu as usize);
    }
    let set = pid(tid).and_then(|pid| Ok(sched_setaffinity(pid, &mask)?));
    set.map_err(|source| PinError::Refused { cpus, source })
}

/// Returns the id of the calling thread in the kernel, as `/proc` shows it.
#[cfg(target_os = "linux")]
pub fn thread_id() -> u32 {
    rustix::thread::gettid()
        .as_raw_nonzero()
        .get()
        .unsigned_abs()
}

/// Returns the CPU that the calling thread is on. The thread may move at any time.
#[cfg(target_os = "linux")]
pub fn current_cpu() -> u32 {
    rustix::thread::sched_getcpu() as u32
}

/// Returns the CPU time that the calling thread has used.
#[cfg(target_os = "linux")]
pub fn thread_cpu_time() -> std::time::Duration {
    duration_of(rustix::time::ClockId::ThreadCPUTime)
}

/// Returns the CPU time that all threads of this process have used.
#[cfg(target_os = "linux")]
pub fn process_cpu_time() -> std::time::Duration {
    duration_of(rustix::time::ClockId::ProcessCPUTime)
}

#[cfg(target_os = "linux")]
fn duration_of(clock: rustix::time::ClockId) -> std::time::Duration {
    let time = rustix::time::clock_gettime(clock);
    std::time::Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Returns the time that the calling thread has waited in run queues: it could run, and other threads had the CPUs. `None`
/// where the kernel does not count it. A call takes about a microsecond: the file stays open for the thread.
#[cfg(target_os = "linux")]
pub fn thread_run_queue_wait() -> Option<std::time::Duration> {
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    thread_local! {
        static COUNTERS: Option<File> = File::open("/proc/thread-self/schedstat").ok();
    }
    let mut line = [0; 64];
    let count = COUNTERS.with(|file| file.as_ref()?.read_at(&mut line, 0).ok())?;
    // Time on CPUs, time in run queues, number of time slices.
    let mut figures = std::str::from_utf8(&line[..count]).ok()?.split_whitespace();
    let wait_ns = figures.nth(1)?.parse().ok()?;
    Some(std::time::Duration::from_nanos(wait_ns))
}

/// Returns the id for the kernel's calls, `None` for the calling thread.
#[cfg(target_os = "linux")]
fn pid(tid: u32) -> io::Result<Option<rustix::process::Pid>> {
    let raw = i32::try_from(tid).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    Ok(rustix::process::Pid::from_raw(raw))
}

/// Fails: this system has no call for it.
#[cfg(not(target_os = "linux"))]
pub fn affinity(_tid: u32) -> io::Result<Vec<u32>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails: this system has no call for it.
#[cfg(not(target_os = "linux"))]
pub fn set_affinity(_tid: u32, _cpus: impl IntoIterator<Item = u32>) -> Result<(), PinError> {
    Err(PinError::Unavailable)
}

/// Knows nothing: this system has no such count.
#[cfg(not(target_os = "linux"))]
pub fn thread_run_queue_wait() -> Option<std::time::Duration> {
    None
}

/// Knows nothing: this system has no call for it.
#[cfg(not(target_os = "linux"))]
pub fn thread_cpu_time() -> std::time::Duration {
    std::time::Duration::ZERO
}

/// Knows nothing: this system has no call for it.
#[cfg(not(target_os = "linux"))]
pub fn process_cpu_time() -> std::time::Duration {
    std::time::Duration::ZERO
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn another_thread_is_limited_and_given_back() {
        let (say, heard) = channel();
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn(move || {
            say.send(thread_id()).unwrap();
            let _ = ended.recv();
            affinity(0).unwrap()
        });
        let tid = heard.recv().unwrap();
        let before = affinity(tid).unwrap();
        set_affinity(tid, [before[0]]).unwrap();
        assert_eq!(affinity(tid).unwrap(), [before[0]]);
        assert_eq!(affinity(0).unwrap(), before, "the caller stays as it was");
        set_affinity(tid, before.iter().copied()).unwrap();
        end.send(()).unwrap();
        assert_eq!(thread.join().unwrap(), before);
    }

    #[test]
    fn impossible_threads_and_sets_are_refused() {
        // The highest id of a 64-bit Linux is 2^22.
        for tid in [4_194_305, u32::MAX] {
            assert!(affinity(tid).is_err());
            let refused = set_affinity(tid, [0]);
            assert!(matches!(refused, Err(PinError::Refused { .. })));
        }
        assert!(matches!(set_affinity(0, []), Err(PinError::NoCpus)));
        let too_high = set_affinity(0, [1024]);
        assert!(matches!(too_high, Err(PinError::TooHigh { cpu: 1024, .. })));
    }

    #[test]
    fn threads_that_share_a_cpu_wait_for_it() {
        let cpu = current_cpu();
        let spin = || {
            set_affinity(0, [cpu]).unwrap();
            let start = thread_run_queue_wait()?;
            let cpu_start = thread_cpu_time();
            while thread_cpu_time() - cpu_start < std::time::Duration::from_millis(20) {
                std::hint::spin_loop();
            }
            Some(thread_run_queue_wait()? - start)
        };
        let waits: Vec<_> = std::thread::scope(|scope| {
            let threads = [scope.spawn(spin), scope.spawn(spin)];
            threads.map(|one| one.join().unwrap()).into()
        });
        // A kernel without the counts says nothing at all.
        if let [Some(one), Some(other)] = waits[..] {
            assert!(one.max(other) > std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn cpu_time_grows_with_work() {
        let start = thread_cpu_time();
        let mut sum = 0u64;
        while thread_cpu_time() - start < std::time::Duration::from_millis(2) {
            sum = std::hint::black_box(sum.wrapping_mul(31) + 1);
        }
        assert!(thread_cpu_time() > start);
    }
}
