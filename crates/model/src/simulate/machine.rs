//! Cores of the simulated machine and layout of its queues.

use crate::error::{ModelError, checked, not_negative, positive, servers};

/// A core, or one of its two SMT contexts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Core {
    /// Work done per unit of time; 1 for the core that search times were measured on.
    pub speed: f64,
    /// Number of the other context of the same core.
    pub sibling: Option<usize>,
}

/// Events that slow a core for a while: another program, the kernel, a pause. They arrive at each core
/// as a Poisson process and last an exponential time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disturbances {
    /// Rate of disturbances per core, per second.
    pub per_core_per_s: f64,
    /// Mean duration, in ms.
    pub length_ms: f64,
    /// Slow-down factor of a disturbed core, at least 1.
    pub slowdown: f64,
}

/// Cores and their interference.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// The cores; handlers have the same numbers.
    pub cores: Vec<Core>,
    /// Slow-down factor of a context while its sibling is busy, at least 1.
    pub smt_slowdown: f64,
    /// Relative slow-down of every core while all others are busy, in proportion to the number of busy
    /// ones: the cost of shared caches and memory. 0 for none.
    pub contention: f64,
    /// Disturbances by other programs, `None` for none.
    pub disturbances: Option<Disturbances>,
}

impl Machine {
    /// Returns a machine of equal cores without interference.
    pub fn of_cores(cores: usize) -> Machine {
        Machine {
            cores: vec![
                Core {
                    speed: 1.0,
                    sibling: None,
                };
                cores
            ],
            smt_slowdown: 1.0,
            contention: 0.0,
            disturbances: None,
        }
    }

    /// Returns a machine of `cores` cores of two contexts each. Contexts 0 to cores − 1 are on
    /// different cores; handlers with low numbers start first, so siblings stay apart while there is
    /// room.
    pub fn of_smt_cores(cores: usize, smt_slowdown: f64) -> Machine {
        let context = |idx: usize| Core {
            speed: 1.0,
            sibling: Some((idx + cores) % (2 * cores)),
        };
        Machine {
            cores: (0..2 * cores).map(context).collect(),
            smt_slowdown,
            ..Machine::of_cores(0)
        }
    }

    /// Returns a machine of `big` cores of speed 1 followed by `little` ones of a lower speed.
    pub fn of_big_and_little(big: usize, little: usize, little_speed: f64) -> Machine {
        let mut machine = Machine::of_cores(big + little);
        for core in &mut machine.cores[big..] {
            core.speed = little_speed;
        }
        machine
    }

    /// Returns the work of all cores per unit of time when all are busy and none is disturbed.
    pub fn capacity(&self) -> f64 {
        self.capacity_of(0..self.cores.len())
    }

    /// Returns the work of a subset of cores per unit of time when all are busy and none is disturbed.
    pub(crate) fn capacity_of(&self, cores: impl Iterator<Item = usize>) -> f64 {
        let speed = |idx: usize| match self.cores[idx].sibling {
            Some(_) => self.cores[idx].speed / self.smt_slowdown,
            None => self.cores[idx].speed,
        };
        cores.map(speed).sum::<f64>() / (1.0 + self.contention)
    }

    pub(crate) fn check(&self) -> Result<(), ModelError> {
        servers("the number of cores", self.cores.len())?;
        checked(
            "the SMT slow-down",
            self.smt_slowdown,
            self.smt_slowdown >= 1.0,
            "1 or more",
        )?;
        not_negative("the contention", self.contention)?;
        for (idx, core) in self.cores.iter().enumerate() {
            positive("the speed of a core", core.speed)?;
            if let Some(sibling) = core.sibling {
                let back = self.cores.get(sibling).and_then(|other| other.sibling);
                if sibling == idx || back != Some(idx) {
                    return Err(ModelError::Conflict("siblings must name each other"));
                }
            }
        }
        if let Some(disturbances) = self.disturbances {
            not_negative(
                "the rate of disturbances (1/s)",
                disturbances.per_core_per_s,
            )?;
            positive("the length of disturbances (ms)", disturbances.length_ms)?;
            let slowdown = disturbances.slowdown;
            checked(
                "the slow-down by disturbances",
                slowdown,
                slowdown >= 1.0,
                "1 or more",
            )?;
        }
        Ok(())
    }
}

/// Choice of the core queue for a part, for a layout with a queue per core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextCore {
    /// Each core in turn.
    RoundRobin,
    /// A random core.
    Random,
    /// The core with the fewest parts waiting and running; the lowest among equals.
    Shortest,
}

/// Layout of queues over the cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One queue; any core takes any part. The policy chooses the degree of parallelism.
    Shared,
    /// One queue; a query starts when as many cores as its degree are idle, and holds all of them until
    /// its last part is done.
    Gang,
    /// A queue for each of `groups` core groups. Partition p belongs to group p mod `groups`, core c to
    /// group c mod `groups`.
    Pinned {
        /// Number of groups; must divide the cores.
        groups: usize,
    },
    /// A queue per core; parts are assigned on arrival.
    PerCore(NextCore),
}

impl Layout {
    /// Returns the number of queues on `cores` cores.
    pub(crate) fn queues(self, cores: usize) -> Result<usize, ModelError> {
        match self {
            Layout::Shared | Layout::Gang => Ok(1),
            Layout::PerCore(_) => Ok(cores),
            Layout::Pinned { groups } => {
                let holds = groups >= 1 && groups <= cores && cores.is_multiple_of(groups);
                checked(
                    "the number of groups",
                    groups as f64,
                    holds,
                    "a divisor of the cores",
                )?;
                Ok(groups)
            }
        }
    }
}
