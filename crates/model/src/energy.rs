//! Estimated energy of a mapping of queries to cores.
//!
//! The estimate adds the power of the rest of the system and, for each core, its busy or idle power. It
//! leaves out shared resources (caches, memory) and the dependence on instructions, so only differences
//! between mappings on one machine are meaningful. Measured energy comes from the laboratory.

use crate::error::{ModelError, checked, not_negative};

/// Label shown with every figure.
pub const LABEL: &str = "estimated";

/// Assumptions of the model.
pub const ASSUMPTIONS: &str = "\
estimated, not measured: a core takes its busy or its idle power, the rest of the system a constant one";

/// Power of a core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorePower {
    /// Power while the core searches, in watts.
    pub busy_watts: f64,
    /// Power while the core is idle, in watts.
    pub idle_watts: f64,
}

/// Power of a machine with big and little cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BigLittlePower {
    /// Power of a big core.
    pub big: CorePower,
    /// Power of a little core.
    pub little: CorePower,
    /// Power of the rest of the system, in watts.
    pub rest_watts: f64,
    /// Speed of a little core; 1 for a big one.
    pub little_speed: f64,
}

/// Machine of Nishtala et al. (Hurry-up, 2019), an ARM Juno R1. Published: a busy big core and the rest of
/// the system take 0.76 W each, a little core does 2.3 times the work for the same energy, and its tail is
/// 3.2 times that of a big one. **Assumed**: an idle core takes a tenth of a busy one, because the paper
/// has no power of idle cores.
pub const JUNO: BigLittlePower = BigLittlePower {
    big: CorePower {
        busy_watts: BUSY_BIG_WATTS,
        idle_watts: IDLE_SHARE * BUSY_BIG_WATTS,
    },
    little: CorePower {
        busy_watts: BUSY_BIG_WATTS * LITTLE_SPEED / LITTLE_EFFICIENCY,
        idle_watts: IDLE_SHARE * BUSY_BIG_WATTS * LITTLE_SPEED / LITTLE_EFFICIENCY,
    },
    rest_watts: 0.76,
    little_speed: LITTLE_SPEED,
};
const BUSY_BIG_WATTS: f64 = 0.76;
const LITTLE_EFFICIENCY: f64 = 2.3;
const LITTLE_SPEED: f64 = 1.0 / 3.2;
const IDLE_SHARE: f64 = 0.1;

/// Core activity over one or several simulated runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Activity {
    /// Busy time of each core.
    pub core_busy_ms: Vec<f64>,
    /// Total duration of the runs.
    pub duration_ms: f64,
    /// Queries answered.
    pub queries: u64,
}

impl Activity {
    /// Adds the activity of another run on the same cores.
    pub(crate) fn add(&mut self, other: &Activity) {
        self.core_busy_ms.resize(other.core_busy_ms.len(), 0.0);
        for (sum, more) in self.core_busy_ms.iter_mut().zip(&other.core_busy_ms) {
            *sum += more;
        }
        self.duration_ms += other.duration_ms;
        self.queries += other.queries;
    }
}

/// Estimated energy of simulated runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    /// Mean power, in watts.
    pub watts: f64,
    /// Energy per answered query, from the total power.
    pub joules_per_query: f64,
    /// Energy per answered query above that of an idle machine.
    pub joules_per_query_above_idle: f64,
}

/// Estimates the energy of runs. `cores` gives the power of each core, in the order of the simulated
/// machine; `rest_watts` is that of the rest of the system.
///
/// # Errors
/// [`ModelError::Conflict`] where the numbers of cores differ; [`ModelError::Outside`].
pub fn estimate(
    activity: &Activity,
    cores: &[CorePower],
    rest_watts: f64,
) -> Result<Energy, ModelError> {
    if cores.len() != activity.core_busy_ms.len() {
        return Err(ModelError::Conflict(
            "the power of every core must be given",
        ));
    }
    not_negative("the power of the rest (W)", rest_watts)?;
    let duration_s = activity.duration_ms / 1e3;
    let (mut joules, mut above_idle) = (rest_watts * duration_s, 0.0);
    for (core, busy_ms) in cores.iter().zip(&activity.core_busy_ms) {
        not_negative("the idle power of a core (W)", core.idle_watts)?;
        let more = core.busy_watts >= core.idle_watts;
        checked(
            "the busy power of a core (W)",
            core.busy_watts,
            more,
            "no less than its idle power",
        )?;
        let extra = (core.busy_watts - core.idle_watts) * busy_ms / 1e3;
        joules += core.idle_watts * duration_s + extra;
        above_idle += extra;
    }
    let queries = activity.queries as f64;
    Ok(Energy {
        watts: joules / duration_s,
        joules_per_query: joules / queries,
        joules_per_query_above_idle: above_idle / queries,
    })
}
