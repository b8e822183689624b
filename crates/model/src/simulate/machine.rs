//! What do queries run on, and where do they wait?

use crate::error::{ModelError, checked, not_negative, positive, servers};

/// A core, or one of two contexts of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Core {
    /// Work done per unit of time; 1 for the core that search times were measured on.
    pub speed: f64,
    /// The other context of the same core, by number.
    pub sibling: Option<usize>,
}

/// Things that slow a core for a while: another program, the kernel, a pause. They come to each core
/// as a Poisson process and last an exponential time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disturbances {
    /// How many come to one core each second.
    pub per_core_per_s: f64,
    /// Their mean length.
    pub length_ms: f64,
    /// A disturbed core is slower by this factor, from 1.
    pub slowdown: f64,
}

/// Cores and how they slow each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// The cores; handlers are numbered like them.
    pub cores: Vec<Core>,
    /// A context is slower by this factor while its sibling is busy, from 1.
    pub smt_slowdown: f64,
    /// Every core is slower by 1 + this where all others are busy, and in proportion where some are:
    /// what sharing caches and memory costs. 0 for nothing.
    pub contention: f64,
    /// What else slows cores.
    pub disturbances: Option<Disturbances>,
}

impl Machine {
    /// Equal cores that do not slow each other.
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

    /// `cores` cores of two contexts each. Contexts 0 to cores − 1 are on different cores; taking low
    /// numbers first keeps siblings apart while there is room.
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

    /// `big` cores of speed 1 and after them `little` ones of a lower speed.
    pub fn of_big_and_little(big: usize, little: usize, little_speed: f64) -> Machine {
        let mut machine = Machine::of_cores(big + little);
        for core in &mut machine.cores[big..] {
            core.speed = little_speed;
        }
        machine
    }

    /// Work that all cores do per unit of time when all are busy and none is disturbed.
    pub fn capacity(&self) -> f64 {
        self.capacity_of(0..self.cores.len())
    }

    /// The same of some of the cores.
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

/// Which core's queue a part joins, where every core has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextCore {
    /// One after another.
    RoundRobin,
    /// Any.
    Random,
    /// The one with the fewest parts waiting and running; of several the lowest.
    Shortest,
}

/// Where queries wait, and what may run where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One queue; any core takes any part. The policy decides the degree.
    Shared,
    /// One queue; a query begins when as many cores as its degree are idle, and holds all of them until
    /// its last part is done.
    Gang,
    /// Partition p belongs to group p mod `groups` of cores, each with a queue of its own; core c is in
    /// group c mod `groups`.
    Pinned {
        /// Groups, which divide the cores.
        groups: usize,
    },
    /// A queue a core; parts are dealt out as they arrive.
    PerCore(NextCore),
}

impl Layout {
    /// Queues that there are on `cores` cores.
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
