//! What can be wrong with a question to the model?

/// Why there is no answer. Every message says what to change.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// More work arrives than can be done: every queue grows without end, so there is no wait to give.
    #[error(
        "{offered_per_s} queries/s are offered and at most {capacity_per_s} can be served \
         (utilisation {:.3}): waits grow without end; lower the rate, or add servers or speed",
        offered_per_s / capacity_per_s
    )]
    Overloaded {
        /// Queries that arrive each second.
        offered_per_s: f64,
        /// Queries that all servers together finish each second at best.
        capacity_per_s: f64,
    },
    /// A number lies outside what the formula or the simulation is defined for.
    #[error("{what} is {value}; it must be {wanted}")]
    Outside {
        /// The quantity, in words and with its unit.
        what: &'static str,
        /// What was given.
        value: f64,
        /// What would be accepted.
        wanted: &'static str,
    },
    /// Two settings cannot hold together.
    #[error("{0}")]
    Conflict(&'static str),
    /// No fleet within the bounds reaches the target.
    #[error("no plan reaches {target}: {why}")]
    NoPlan {
        /// The target, as it was asked for.
        target: String,
        /// What stands in the way, and what to change.
        why: String,
    },
    /// A table of costs could not be read.
    #[error("the costs cannot be read: {0}")]
    Costs(String),
}

/// `value`, where it is finite and more than 0.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, ModelError> {
    checked(what, value, value > 0.0, "more than 0")
}

/// `value`, where it is finite and not negative.
pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<f64, ModelError> {
    checked(what, value, value >= 0.0, "0 or more")
}

/// `value`, where it is finite and `holds`.
pub(crate) fn checked(
    what: &'static str,
    value: f64,
    holds: bool,
    wanted: &'static str,
) -> Result<f64, ModelError> {
    if value.is_finite() && holds {
        Ok(value)
    } else {
        Err(ModelError::Outside {
            what,
            value,
            wanted,
        })
    }
}

/// `count`, where it lies in 1 to `SERVERS_MAX`.
pub(crate) fn servers(what: &'static str, count: usize) -> Result<usize, ModelError> {
    let holds = (1..=SERVERS_MAX).contains(&count);
    checked(what, count as f64, holds, "from 1 to 1,000,000").map(|_| count)
}

/// The number of servers and what they serve in queries/s, where that is more than is offered.
pub(crate) fn stable(
    rate_per_s: f64,
    service_per_s: f64,
    servers_count: usize,
) -> Result<(usize, f64), ModelError> {
    not_negative("the arrival rate (queries/s)", rate_per_s)?;
    positive("the service rate (queries/s)", service_per_s)?;
    let servers = servers("the number of servers", servers_count)?;
    let capacity_per_s = service_per_s * servers as f64;
    if rate_per_s >= capacity_per_s {
        return Err(ModelError::Overloaded {
            offered_per_s: rate_per_s,
            capacity_per_s,
        });
    }
    Ok((servers, capacity_per_s))
}

/// The recursions take a step a server; beyond this nobody waits for the answer.
pub const SERVERS_MAX: usize = 1_000_000;
