//! Fork–join: response time of a query split into tasks, one for each of K queues.
//!
//! Every query sends one exponential task to each of K single servers with separate queues and is
//! answered when the last task is done: partitions pinned to cores. For K = 2 the mean is exact (Flatto
//! & Hahn 1984). Above it, the fit of Nelson & Tantawi 1988 is used; they report errors within 5 % for
//! K ≤ 32 (our simulation of 8: −2 % at ρ = 0.5, −6.5 % at ρ = 0.94).

use super::mmc::Mmc;
use crate::error::{ModelError, servers};

/// Assumptions of the model, shown with its answers.
pub const ASSUMPTIONS: &str = "\
Poisson arrivals; independent exponential tasks, one on each of K servers with a queue of its own; \
the answer waits for the last; exact for K = 1 and 2, above an approximation (Nelson & Tantawi 1988)";

/// Mean response time and its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForkJoin {
    /// Mean time to the end of the last task: exact for 1 and 2, else Nelson–Tantawi.
    pub response_ms: f64,
    /// Lower bound: the slowest of K independent services, without any queue.
    pub response_ms_min: f64,
    /// Upper bound: the slowest of K independent queues (real queues share their arrivals, which
    /// correlates their waits).
    pub response_ms_max: f64,
}

/// Returns the mean response of a split into `tasks` tasks, each on its own server of `task_per_s`
/// tasks a second.
///
/// # Errors
/// [`ModelError::Overloaded`] if the rate reaches the rate of one server; [`ModelError::Outside`].
pub fn fork_join(rate_per_s: f64, task_per_s: f64, tasks: usize) -> Result<ForkJoin, ModelError> {
    let tasks = servers("the number of tasks", tasks)?;
    let one = Mmc::new(rate_per_s, task_per_s, 1)?;
    let utilisation = one.utilisation();
    let slowest = harmonic(tasks);
    let of_two = (12.0 - utilisation) / 8.0 * one.response_ms();
    let response_ms = match tasks {
        1 => one.response_ms(),
        2 => of_two,
        _ => {
            let grown = slowest / harmonic(2);
            (grown + (1.0 - grown) * 4.0 * utilisation / 11.0) * of_two
        }
    };
    Ok(ForkJoin {
        response_ms,
        response_ms_min: slowest * one.service_ms(),
        response_ms_max: slowest * one.response_ms(),
    })
}

/// Returns 1 + 1/2 + … + 1/n: the mean of the largest of n exponential times of mean 1.
pub fn harmonic(n: usize) -> f64 {
    // The sum starts from the smallest summand, so that none loses digits.
    (1..=n).rev().map(|k| 1.0 / k as f64).sum()
}
