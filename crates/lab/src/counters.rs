//! Do hardware counters count? Opening one proves nothing: in some guests they open and stand still.
//!
//! So a loop of known length is counted, and then one twice as long: a counter that does not double
//! is `invalid`, not a small number.
use crate::capability::{Capability, State};
use crate::tree::Tree;
use perf_event::Builder;
use perf_event::events::Hardware;
use std::hint::black_box;
use std::io::ErrorKind;

const ROUNDS: u64 = 2_000_000;
/// A second run twice as long may count this much more or less than twice the first.
const TOLERANCE: f64 = 0.1;
/// Share of the time that the counter must really have counted.
const RUNNING_MIN: f64 = 0.99;

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
    // A counter that shared its register with others was not counting all the time.
    Ok(if running < RUNNING_MIN {
        0
    } else {
        counted.count
    })
}
