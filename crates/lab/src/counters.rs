//! Hardware counters and the test that they count.
//!
//! Opening a counter proves nothing: in some guests counters open and stand still. The test counts a
//! loop of known length, then one twice as long; a counter that does not double is `invalid`, not
//! small.
use crate::capability::{Capability, State};
use crate::tree::Tree;
use perf_event::events::{Hardware, Software};
use perf_event::{Builder, Counter};
use std::hint::black_box;
use std::io::ErrorKind;
use std::time::Duration;

const ROUNDS: u64 = 2_000_000;
/// Tolerance of the ratio of the two counts, as a share of 2.
const TOLERANCE: f64 = 0.1;
/// Lower limit on the share of time in which the counter must have been running.
const RUNNING_MIN: f64 = 0.99;

/// An event that can be counted for a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    ContextSwitches,
    Migrations,
    PageFaults,
    Instructions,
    Cycles,
    CacheReferences,
    CacheMisses,
    BranchMisses,
    StallsFrontEnd,
    StallsBackEnd,
}

impl Event {
    pub(crate) const ALL: [Event; 10] = [
        Event::ContextSwitches,
        Event::Migrations,
        Event::PageFaults,
        Event::Instructions,
        Event::Cycles,
        Event::CacheReferences,
        Event::CacheMisses,
        Event::BranchMisses,
        Event::StallsFrontEnd,
        Event::StallsBackEnd,
    ];

    /// Returns the name used by `perf list`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Event::ContextSwitches => "context-switches",
            Event::Migrations => "cpu-migrations",
            Event::PageFaults => "page-faults",
            Event::Instructions => "instructions",
            Event::Cycles => "cycles",
            Event::CacheReferences => "cache-references",
            Event::CacheMisses => "cache-misses",
            Event::BranchMisses => "branch-misses",
            Event::StallsFrontEnd => "stalled-cycles-frontend",
            Event::StallsBackEnd => "stalled-cycles-backend",
        }
    }

    /// Returns whether the processor counts the event, rather than the kernel.
    pub(crate) fn is_of_processor(self) -> bool {
        !matches!(
            self,
            Event::ContextSwitches | Event::Migrations | Event::PageFaults
        )
    }

    /// Returns the id of the capability that the event needs.
    pub(crate) fn capability(self) -> &'static str {
        match self.is_of_processor() {
            true => "counters",
            false => "software-counters",
        }
    }

    /// Opens and starts a counter for a thread.
    pub(crate) fn open(self, thread: i32) -> std::io::Result<Counter> {
        let software = |event: Software| {
            let mut builder = Builder::new(event);
            // These events occur in the kernel.
            builder.include_kernel();
            builder
        };
        let mut builder = match self {
            Event::ContextSwitches => software(Software::CONTEXT_SWITCHES),
            Event::Migrations => software(Software::CPU_MIGRATIONS),
            Event::PageFaults => software(Software::PAGE_FAULTS),
            Event::Instructions => Builder::new(Hardware::INSTRUCTIONS),
            Event::Cycles => Builder::new(Hardware::CPU_CYCLES),
            Event::CacheReferences => Builder::new(Hardware::CACHE_REFERENCES),
            Event::CacheMisses => Builder::new(Hardware::CACHE_MISSES),
            Event::BranchMisses => Builder::new(Hardware::BRANCH_MISSES),
            Event::StallsFrontEnd => Builder::new(Hardware::STALLED_CYCLES_FRONTEND),
            Event::StallsBackEnd => Builder::new(Hardware::STALLED_CYCLES_BACKEND),
        };
        let mut counter = builder.observe_pid(thread).build()?;
        counter.enable()?;
        Ok(counter)
    }
}

/// Returns the state that the failure to open a counter implies.
pub(crate) fn state_of(error: &std::io::Error) -> State {
    match error.kind() {
        ErrorKind::PermissionDenied => State::Forbidden,
        _ => State::Unavailable,
    }
}

/// Tests whether the kernel counts events of its own for a thread.
pub(crate) fn probe_software(tree: &Tree) -> Capability {
    let id = "software-counters";
    let devices = tree.names("sys/bus/event_source/devices");
    let listed = format!("/sys/bus/event_source/devices: {}", devices.join(" "));
    if !tree.is_here() {
        return match devices.iter().any(|name| name == "software") {
            true => {
                Capability::new(id, State::Untested, "listed; can only be tried there").seen(listed)
            }
            false => Capability::new(id, State::Unavailable, "no device `software`").seen(listed),
        };
    }
    match naps_seen() {
        Ok(switches) if switches >= NAPS => {
            let reason = "context switches, migrations, page faults";
            Capability::new(id, State::Available, reason)
                .seen(format!("{NAPS} naps: {switches} context switches"))
        }
        Ok(switches) => {
            Capability::new(id, State::Invalid, "the counter opens, but does not count")
                .seen(format!("{NAPS} naps: {switches} context switches"))
        }
        Err(error) => Capability::new(id, state_of(&error), "the kernel does not count for us")
            .seen(format!("perf_event_open(context-switches): {error}"))
            .remedy("run as root, or lower kernel.perf_event_paranoid to 1"),
    }
}

/// Sleeps of the thread in the test, each of which must be counted.
const NAPS: u64 = 3;

fn naps_seen() -> std::io::Result<u64> {
    // Thread 0 is the calling thread.
    let mut counter = Event::ContextSwitches.open(0)?;
    for _ in 0..NAPS {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(counter.read_count_and_time()?.count)
}

pub(crate) fn probe(tree: &Tree) -> Capability {
    let id = "counters";
    let devices = tree.names("sys/bus/event_source/devices");
    let has_device = devices
        .iter()
        .any(|name| name == "cpu" || name.starts_with("cpu_"));
    let listed = format!("/sys/bus/event_source/devices: {}", devices.join(" "));
    let remedy = "use bare metal, or a virtual machine with a virtual PMU";
    if !tree.is_here() {
        return match has_device {
            true => {
                Capability::new(id, State::Untested, "listed; can only be tried there").seen(listed)
            }
            false => Capability::new(id, State::Unavailable, "no device `cpu`")
                .seen(listed)
                .remedy(remedy),
        };
    }
    match count_twice() {
        Ok((once, twice)) => {
            let evidence = format!(
                "{ROUNDS} rounds: {once} instructions, {} rounds: {twice}",
                2 * ROUNDS
            );
            let ratio = twice as f64 / once.max(1) as f64;
            match once >= ROUNDS && (ratio - 2.0).abs() <= 2.0 * TOLERANCE {
                true => Capability::new(id, State::Available, "instructions count as they should")
                    .seen(listed)
                    .seen(evidence),
                false => {
                    Capability::new(id, State::Invalid, "the counter opens, but does not count")
                        .seen(listed)
                        .seen(evidence)
                        .remedy(remedy)
                }
            }
        }
        Err(error) => {
            let (state, remedy) = match error.kind() {
                ErrorKind::PermissionDenied => (
                    State::Forbidden,
                    "run as root, or lower kernel.perf_event_paranoid to 1",
                ),
                ErrorKind::ResourceBusy => {
                    (State::Degraded, "another profiler has the counters; end it")
                }
                _ => (State::Unavailable, remedy),
            };
            Capability::new(id, state, "no hardware counters")
                .seen(format!("perf_event_open(instructions): {error}"))
                .seen(listed)
                .remedy(remedy)
        }
    }
}

fn count_twice() -> std::io::Result<(u64, u64)> {
    Ok((count(ROUNDS)?, count(2 * ROUNDS)?))
}

fn count(rounds: u64) -> std::io::Result<u64> {
    let mut counter = Builder::new(Hardware::INSTRUCTIONS).build()?;
    counter.enable()?;
    let mut sum = 0u64;
    for round in 0..rounds {
        sum = black_box(sum.wrapping_add(round));
    }
    counter.disable()?;
    let counted = counter.read_count_and_time()?;
    let running = counted.time_running as f64 / counted.time_enabled.max(1) as f64;
    // A counter that shared its register with others did not count all the time.
    Ok(if running < RUNNING_MIN {
        0
    } else {
        counted.count
    })
}
