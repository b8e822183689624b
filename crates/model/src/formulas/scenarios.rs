//! What do SMT and partitioning do to response times, by M/M/c?
//!
//! The four scenarios of Antoniou 2019 (thesis, chapter 2). Of m cores that serve μ queries a second
//! each:
//!
//! | scenario     | servers | each serves | because                                                   |
//! |--------------|---------|-------------|-----------------------------------------------------------|
//! | noSMT-noPart | m       | μ           | a query has a core                                        |
//! | SMT-noPart   | 2m      | μ/d         | two contexts a core, each slower by d                     |
//! | noSMT-Part   | m/P     | s·μ         | a query has P cores and is faster by s                    |
//! | SMT-Part     | 2m/P    | s·μ/d       | both                                                      |
//!
//! s = P is the perfect split. With it partitioning never loses; with less it does above some rate.

use super::fork_join::harmonic;
use super::mmc::Mmc;
use crate::error::{ModelError, checked, positive, servers};

/// What the model assumes beyond [`super::mmc::ASSUMPTIONS`].
pub const ASSUMPTIONS: &str = "\
a context is slower by the SMT slow-down at all times, also while its sibling idles; a split query \
occupies all its cores from the start of the first part to the end of the last";

/// Cores, what they serve, and what sharing or splitting does to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Physical cores, m.
    pub cores: usize,
    /// Whole queries that a core with one thread serves each second, μ.
    pub service_per_s: f64,
    /// By how much a query is slower on a context beside a busy one, d: 1 to 2.
    pub smt_slowdown: f64,
    /// Parts that a query is split into, P; divides the contexts.
    pub partitions: usize,
    /// By how much a split query is faster, s; `partitions` where the split is perfect.
    pub speed_up: f64,
}

/// Which of the four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scenario {
    /// Two contexts a core.
    pub smt: bool,
    /// Queries are split.
    pub partitioned: bool,
}

impl Scenario {
    /// All four, in the order of the publication.
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

    /// The published name.
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
    /// The queue of a scenario at `rate_per_s`.
    ///
    /// # Errors
    /// [`ModelError::Overloaded`]; [`ModelError::Outside`] where a number is none, or the partitions
    /// do not divide the cores.
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

    /// Queries a second that a scenario could serve at best.
    pub fn capacity_per_s(&self, scenario: Scenario) -> Result<f64, ModelError> {
        let idle = self.queue(scenario, 0.0)?;
        Ok(idle.service_per_s() * idle.servers() as f64)
    }
}

/// The speed-up of a query whose P parts take independent exponential times, one core each: the last
/// part ends after H_P/P of the whole.
pub fn independent_parts_speed_up(partitions: usize) -> f64 {
    partitions as f64 / harmonic(partitions)
}
