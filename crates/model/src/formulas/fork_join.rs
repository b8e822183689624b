//! Fork–join: how long does a query take that is split into tasks, one for each of K queues?
//!
//! Every query sends one exponential task to each of K single servers with queues of their own and
//! is answered when the last is done: partitions pinned to cores. For K = 2 the mean is exact
//! (Flatto & Hahn 1984); above it the fit of Nelson & Tantawi 1988, within 5 % for K ≤ 32 by their
//! account (our simulation of 8: −2 % at ρ = 0.5, −6.5 % at ρ = 0.94).

use super::mmc::Mmc;
use crate::error::{ModelError, servers};

/// What the model assumes; to be shown with its answers.
pub const ASSUMPTIONS: &str = "\
Poisson arrivals; independent exponential tasks, one on each of K servers with a queue of its own; \
the answer waits for the last; exact for K = 1 and 2, above an approximation (Nelson & Tantawi 1988)";

/// Mean response and its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForkJoin {
    /// Mean time to the end of the last task: exact for 1 and 2, else Nelson–Tantawi.
    pub response_ms: f64,
    /// No less than this: the slowest of K independent services, without any queue.
    pub response_ms_min: f64,
    /// No more than this: the slowest of K independent queues (the real ones share their arrivals,
    /// which makes their waits more alike).
    pub response_ms_max: f64,
}

/// A split into `tasks` tasks, each on its server of `task_per_s` tasks a second.
///
/// # Errors
/// [`ModelError::Overloaded`] where the rate reaches the rate of one server; [`ModelError::Outside`].
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

/// 1 + 1/2 + … + 1/n: the mean of the largest of n exponential times of mean 1.
pub fn harmonic(n: usize) -> f64 {
    // From the small end, so that no digit of a small summand is lost.
    (1..=n).rev().map(|k| 1.0 / k as f64).sum()
}
