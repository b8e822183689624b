//! Effect of SMT and partitioning on response times, by M/M/c.
//!
//! The four scenarios of Antoniou 2019 (thesis, chapter 2), for m cores that serve μ queries a second
//! each:
//!
//! | scenario     | servers | each serves | because                                                   |
//! |--------------|---------|-------------|-----------------------------------------------------------|
//! | noSMT-noPart | m       | μ           | a query has a core                                        |
//! | SMT-noPart   | 2m      | μ/d         | two contexts a core, each slower by d                     |
//! | noSMT-Part   | m/P     | s·μ         | a query has P cores and is faster by s                    |
//! | SMT-Part     | 2m/P    | s·μ/d       | both                                                      |
//!
//! s = P is the perfect split. With it partitioning never loses; with a smaller s it loses above some
//! rate.

use super::fork_join::harmonic;
use super::mmc::Mmc;
use crate::error::{ModelError, checked, positive, servers};

/// Assumptions beyond [`super::mmc::ASSUMPTIONS`].
pub const ASSUMPTIONS: &str = "\
a context is slower by the SMT slow-down at all times, also while its sibling idles; a split query \
occupies all its cores from the start of the first part to the end of the last";

/// Cores, their service rate, and the effect of SMT and partitioning on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Physical cores, m.
    pub cores: usize,
    /// Service rate μ of a core with one thread, in whole queries per second.
    pub service_per_s: f64,
    /// Slow-down d of a query on an SMT context beside a busy one: 1 to 2.
    pub smt_slowdown: f64,
    /// Partitions P of a query; must divide the contexts.
    pub partitions: usize,
    /// Speed-up s of a split query; equal to `partitions` for a perfect split.
    pub speed_up: f64,
}

/// One of the four scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scenario {
    /// Whether each core runs two SMT contexts.
    pub smt: bool,
    /// Whether queries are split into partitions.
    pub partitioned: bool,
}

impl Scenario {
    /// All four scenarios, in the order of the publication.
    pub const ALL: [Scenario; 4] = [
        Scenario {
            smt: false,
            partitioned: false,
        },
        Scenario {
            smt: true,
            partitioned: false,
        },
        Scenario {
            smt: false,
            partitioned: true,
        },
        Scenario {
            smt: true,
            partitioned: true,
        },
    ];

    /// Returns the the published name.
    pub fn name(self) -> &'static str {
        match (self.smt, self.partitioned) {
            (false, false) => "noSMT-noPart",
            (true, false) => "SMT-noPart",
            (false, true) => "noSMT-Part",
            (true, true) => "SMT-Part",
        }
    }
}

impl Machine {
    /// Returns the queue of a scenario at `rate_per_s`.
    ///
    /// # Errors
    /// [`ModelError::Overloaded`]; [`ModelError::Outside`] if a number is not finite or out of range,
    /// or if the partitions do not divide the cores.
    pub fn queue(&self, scenario: Scenario, rate_per_s: f64) -> Result<Mmc, ModelError> {
        let cores = servers("the number of cores", self.cores)?;
        positive("the service rate (queries/s)", self.service_per_s)?;
        checked(
            "the SMT slow-down",
            self.smt_slowdown,
            self.smt_slowdown >= 1.0,
            "1 or more",
        )?;
        positive("the speed-up", self.speed_up)?;
        let contexts = if scenario.smt { 2 * cores } else { cores };
        let pace = if scenario.smt {
            1.0 / self.smt_slowdown
        } else {
            1.0
        };
        if !scenario.partitioned {
            return Mmc::new(rate_per_s, self.service_per_s * pace, contexts);
        }
        let parts = self.partitions;
        let divides = parts >= 1 && contexts.is_multiple_of(parts);
        checked(
            "the number of partitions",
            parts as f64,
            divides,
            "a divisor of the contexts",
        )?;
        Mmc::new(
            rate_per_s,
            self.service_per_s * pace * self.speed_up,
            contexts / parts,
        )
    }

    /// Returns the capacity of a scenario, in queries per second.
    pub fn capacity_per_s(&self, scenario: Scenario) -> Result<f64, ModelError> {
        let idle = self.queue(scenario, 0.0)?;
        Ok(idle.service_per_s() * idle.servers() as f64)
    }
}

/// Returns the speed-up of a query whose P parts take independent exponential times on one core each:
/// the last part ends after H_P/P of the whole.
pub fn independent_parts_speed_up(partitions: usize) -> f64 {
    partitions as f64 / harmonic(partitions)
}
