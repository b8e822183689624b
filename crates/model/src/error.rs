//! Errors of the model.

/// Reason why the model has no answer. Every message names the remedy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The offered load reaches the capacity: queues grow without bound, so no mean wait exists.
    #[error(
        "{offered_per_s} queries/s are offered and at most {capacity_per_s} can be served \
         (utilisation {:.3}): waits grow without end; lower the rate, or add servers or speed",
        offered_per_s / capacity_per_s
    )]
    Overloaded {
        /// Offered load, in queries per second.
        offered_per_s: f64,
        /// Capacity of all servers together, in queries per second.
        capacity_per_s: f64,
    },
    /// A number lies outside the domain of the formula or simulation.
    #[error("{what} is {}; it must be {wanted}", short(*value))]
    Outside {
        /// The quantity, in words and with its unit.
        what: &'static str,
        /// The given value.
        value: f64,
        /// The accepted range, in words.
        wanted: &'static str,
    },
    /// Two settings contradict each other.
    #[error("{0}")]
    Conflict(&'static str),
    /// No fleet within the bounds reaches the target.
    #[error("no plan reaches {target}: {why}")]
    NoPlan {
        /// The target as requested.
        target: String,
        /// The reason, and the remedy.
        why: String,
    },
    /// A table of costs could not be read.
    #[error("the costs cannot be read: {0}")]
    Costs(String),
}

/// Formats a number without its hundreds of zeros.
fn short(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-6..1e16).contains(&value.abs());
    match is_plain || !value.is_finite() {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}

/// Upper limit on the size of every number, and lower limit on those that must be more than 0: products and
/// quotients of three of them stay finite, so that no answer is infinite or no number.
const SIZE_MAX: f64 = 1e100;

/// Returns `value` if it is finite and more than 0.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, ModelError> {
    let value = checked(what, value, value > 0.0, "more than 0")?;
    checked(what, value, value >= 1.0 / SIZE_MAX, "1e-100 or more")
}

/// Returns `value` if it is finite and not negative.
pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<f64, ModelError> {
    let value = checked(what, value, value >= 0.0, "0 or more")?;
    let holds = value == 0.0 || value >= 1.0 / SIZE_MAX;
    checked(what, value, holds, "0, or 1e-100 or more")
}

/// Returns `value` if it is finite, of a size that can be calculated with, and `holds`.
pub(crate) fn checked(
    what: &'static str,
    value: f64,
    holds: bool,
    wanted: &'static str,
) -> Result<f64, ModelError> {
    let is_calculable = value.abs() <= SIZE_MAX;
    let wanted = match holds && !is_calculable && !value.is_nan() {
        true => "between -1e100 and 1e100",
        false => wanted,
    };
    if is_calculable && holds {
        Ok(value)
    } else {
        Err(ModelError::Outside {
            what,
            value,
            wanted,
        })
    }
}

/// Returns `count` if it lies in 1 to `SERVERS_MAX`.
pub(crate) fn servers(what: &'static str, count: usize) -> Result<usize, ModelError> {
    let holds = (1..=SERVERS_MAX).contains(&count);
    checked(what, count as f64, holds, "from 1 to 1,000,000").map(|_| count)
}

/// A load below the capacity of its servers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stable {
    /// Number of servers, c.
    pub(crate) servers: usize,
    /// Capacity of all servers, cμ, in queries per second.
    pub(crate) capacity_per_s: f64,
    /// Spare capacity, cμ − λ, in queries per second: of the exact product, since a rounded one has no
    /// digit left where λ is near it.
    pub(crate) spare_per_s: f64,
}

impl Stable {
    /// Returns 1 − ρ.
    pub(crate) fn spare(&self) -> f64 {
        self.spare_per_s / self.capacity_per_s
    }
}

/// Returns the load of servers whose capacity exceeds it.
pub(crate) fn stable(
    rate_per_s: f64,
    service_per_s: f64,
    servers_count: usize,
) -> Result<Stable, ModelError> {
    not_negative("the arrival rate (queries/s)", rate_per_s)?;
    positive("the service rate (queries/s)", service_per_s)?;
    let servers = servers("the number of servers", servers_count)?;
    let capacity_per_s = service_per_s * servers as f64;
    let spare_per_s = service_per_s.mul_add(servers as f64, -rate_per_s);
    if spare_per_s <= 0.0 {
        return Err(ModelError::Overloaded {
            offered_per_s: rate_per_s,
            capacity_per_s,
        });
    }
    Ok(Stable {
        servers,
        capacity_per_s,
        spare_per_s,
    })
}

/// Upper limit on servers. The recursions take one step per server; beyond this limit they take too
/// long.
pub const SERVERS_MAX: usize = 1_000_000;
