//! Interference on the machine during a run: stolen time, and tasks that waited for a core.
//!
//! Read from `/proc`; a counter that the kernel does not report gives `None`, never 0.
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Share of time with tasks waiting for a core above which a run counts as contended.
pub const PRESSURE_MAX: f64 = 0.05;
/// Share of time stolen by the hypervisor above which a run counts as contended.
pub const STEAL_MAX: f64 = 0.005;

/// Shares of the run's time, 0 to 1; `None` if the kernel does not report one.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Noise {
    /// Share of time in which at least one task waited for a core (PSI `some`).
    pub pressure: Option<f64>,
    /// Share of core time that the hypervisor gave to other guests.
    pub steal: Option<f64>,
    /// Share of core time in which any task ran.
    pub busy: Option<f64>,
}

impl Noise {
    /// Returns whether something else may have used the cores. The load itself causes pressure where client and server
    /// share them.
    pub fn is_contended(&self) -> bool {
        self.pressure.is_some_and(|share| share > PRESSURE_MAX) || self.is_stolen()
    }

    /// Returns whether other guests took a share of the cores that decides times: comparisons leave the run out.
    pub fn is_stolen(&self) -> bool {
        self.steal.is_some_and(|share| share > STEAL_MAX)
    }
}

/// Difference of the kernel's counters between start and stop.
#[derive(Debug)]
pub struct NoiseMeter {
    proc: PathBuf,
    started: Instant,
    pressure_us: Option<u64>,
    ticks: Option<Ticks>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Ticks {
    total: u64,
    idle: u64,
    steal: u64,
}

impl NoiseMeter {
    /// Reads the counters of `/proc` and starts the measurement.
    pub fn start() -> NoiseMeter {
        NoiseMeter::start_at(Path::new("/proc"))
    }

    /// Reads the counters of another directory in place of `/proc` and starts the measurement.
    pub fn start_at(proc: &Path) -> NoiseMeter {
        NoiseMeter {
            proc: proc.to_owned(),
            started: Instant::now(),
            pressure_us: pressure_us(proc),
            ticks: ticks(proc),
        }
    }

    /// Returns the noise since the start.
    pub fn stop(self) -> Noise {
        let elapsed_us = self.started.elapsed().as_micros().max(1) as f64;
        let pressure = self.pressure_us.zip(pressure_us(&self.proc));
        let ticks = self
            .ticks
            .zip(ticks(&self.proc))
            .map(|(before, after)| Ticks {
                total: after.total.saturating_sub(before.total),
                idle: after.idle.saturating_sub(before.idle),
                steal: after.steal.saturating_sub(before.steal),
            });
        // A run shorter than a tick gives no value.
        let ticks = ticks.filter(|ticks| ticks.total > 0);
        let share = |of: u64, ticks: Ticks| of as f64 / ticks.total as f64;
        Noise {
            pressure: pressure
                .map(|(before, after)| after.saturating_sub(before) as f64 / elapsed_us),
            steal: ticks.map(|ticks| share(ticks.steal, ticks)),
            busy: ticks.map(|ticks| 1.0 - share(ticks.idle, ticks)),
        }
    }
}

/// Parses `some avg10=0.00 avg60=0.00 avg300=0.00 total=4299691686`.
fn pressure_us(proc: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(proc.join("pressure/cpu")).ok()?;
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split_once("total=")?.1.trim().parse().ok()
}

/// Parses `cpu user nice system idle iowait irq softirq steal guest guest_nice`.
fn ticks(proc: &Path) -> Option<Ticks> {
    let text = std::fs::read_to_string(proc.join("stat")).ok()?;
    let line = text.lines().find(|line| line.starts_with("cpu "))?;
    let fields: Option<Vec<u64>> = line
        .split_ascii_whitespace()
        .skip(1)
        .take(8)
        .map(|field| field.parse().ok())
        .collect();
    let fields = fields.filter(|fields| fields.len() == 8)?;
    Some(Ticks {
        total: fields.iter().sum(),
        idle: fields[3] + fields[4],
        steal: fields[7],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_between_two_readings() {
        let proc = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(proc.path().join(name), text).unwrap();
        std::fs::create_dir(proc.path().join("pressure")).unwrap();
        write("stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3 4\n");
        write(
            "pressure/cpu",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\nfull x\n",
        );
        let meter = NoiseMeter::start_at(proc.path());
        write("stat", "cpu  150 0 130 790 110 0 0 20 0 0\n");
        let noise = meter.stop();
        assert_eq!(noise.steal, Some(0.1));
        assert_eq!(noise.busy, Some(0.5));
        assert_eq!(noise.pressure, Some(0.0));
        assert!(noise.is_contended());
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_not_zero() {
        let proc = tempfile::tempdir().unwrap();
        std::fs::write(proc.path().join("stat"), "cpu  1 2\n").unwrap();
        let noise = NoiseMeter::start_at(proc.path()).stop();
        assert_eq!(noise, Noise::default());
        assert!(!noise.is_contended());
    }
}
