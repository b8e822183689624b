//! M/G/1 and G/G/c: effect of the variation of interarrival and search times.
//!
//! `cv2` is a squared coefficient of variation, variance over squared mean: 0 for constant times, 1/k
//! for Erlang-k, 1 for exponential times, above 1 for more variable ones.

use super::mmc::Mmc;
use crate::error::{ModelError, not_negative};

/// Assumptions of the Pollaczek–Khinchine formula.
pub const POLLACZEK_KHINCHINE_ASSUMPTIONS: &str = "\
Poisson arrivals; any search times, independent of each other; one server; order of arrival; \
steady state; exact";

/// Assumptions of the Allen–Cunneen formula, and its known error.
pub const ALLEN_CUNNEEN_ASSUMPTIONS: &str = "\
an approximation, exact only for M/M/c and M/G/1: equal servers, one queue in order of arrival, \
steady state; near saturation within about 4 %, but at utilisation 0.75 with a squared variation of 4 \
it gives 21 % too much, and for constant times at 0.5 up to 30 % too little: prefer a simulation";

/// Returns the mean wait of M/G/1 in ms: ρ/(1−ρ) · (1+c²)/2 · service. Exact (Pollaczek 1930, Khinchine
/// 1932).
///
/// # Errors
/// [`ModelError::Overloaded`] if the rate reaches the service rate; [`ModelError::Outside`].
pub fn pollaczek_khinchine_wait_ms(
    rate_per_s: f64,
    service_per_s: f64,
    service_cv2: f64,
) -> Result<f64, ModelError> {
    allen_cunneen_wait_ms(rate_per_s, service_per_s, 1, 1.0, service_cv2)
}

/// Returns the mean wait of G/G/c in ms, approximately: that of M/M/c times (c²arrivals + c²service)/2.
/// Source: Allen, Probability, Statistics and Queueing Theory, 1990, section 5.4 (Allen–Cunneen).
///
/// # Errors
/// [`ModelError::Overloaded`] if the rate reaches the capacity; [`ModelError::Outside`].
pub fn allen_cunneen_wait_ms(
    rate_per_s: f64,
    service_per_s: f64,
    servers: usize,
    arrival_cv2: f64,
    service_cv2: f64,
) -> Result<f64, ModelError> {
    not_negative(
        "the squared variation of times between arrivals",
        arrival_cv2,
    )?;
    not_negative("the squared variation of search times", service_cv2)?;
    let queue = Mmc::new(rate_per_s, service_per_s, servers)?;
    Ok(queue.wait_ms() * (arrival_cv2 + service_cv2) / 2.0)
}

/// Returns the parameters (μ, σ) of the logarithm of a lognormal time with this mean and squared
/// coefficient of variation: σ² = ln(1 + c²), μ = ln(mean) − σ²/2.
pub fn lognormal_parameters(mean: f64, cv2: f64) -> (f64, f64) {
    let variance = cv2.ln_1p();
    (mean.ln() - variance / 2.0, variance.sqrt())
}
