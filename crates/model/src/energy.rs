//! How much energy would a way of mapping queries to cores take? Always an estimate.
//!
//! Power is that of the rest of the system plus, for each core, its busy or its idle power. What cores
//! share (caches, memory) and what depends on the instructions is not in it, so only differences between
//! mappings on one machine mean something. Measured energy comes from the laboratory.

use crate::error::{ModelError, checked, not_negative};

/// To be shown with every figure.
pub const LABEL: &str = "estimated";

/// What the model assumes.
pub const ASSUMPTIONS: &str = "\
estimated, not measured: a core takes its busy or its idle power, the rest of the system a constant one";

/// Power of a core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorePower {
    /// While it searches.
    pub busy_watts: f64,
    /// While it does not.
    pub idle_watts: f64,
}

/// What cores did in one or several simulated runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Activity {
    /// How long each core was busy.
    pub core_busy_ms: Vec<f64>,
    /// How long the runs lasted.
    pub duration_ms: f64,
    /// Queries answered.
    pub queries: u64,
}

impl Activity {
    /// Adds another run on the same cores.
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
    /// Mean power.
    pub watts: f64,
    /// Energy over answered queries, all power counted.
    pub joules_per_query: f64,
    /// The part of that above an idle machine.
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
