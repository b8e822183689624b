//! Crossing point of two queues over the arrival rate.

use super::mmc::Mmc;
use crate::error::ModelError;
use stats::roots;

/// Comparison of two queues over all rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Crossing {
    /// The first is better below this rate in queries/s, the second above.
    FirstBelow(f64),
    /// The second is better below this rate in queries/s, the first above.
    SecondBelow(f64),
    /// The first is never worse.
    FirstAlways,
    /// The second is never worse.
    SecondAlways,
}

/// Returns the rate at which two queues have the same figure, for example the mean response. Each queue
/// is a function of the rate in queries/s and returns [`ModelError::Overloaded`] at and beyond its
/// capacity; overload counts as worse than any figure.
///
/// # Errors
/// The errors of the queues for an idle system, which already refuse invalid numbers.
pub fn crossing(
    figure: impl Fn(&Mmc) -> f64,
    first: impl Fn(f64) -> Result<Mmc, ModelError>,
    second: impl Fn(f64) -> Result<Mmc, ModelError>,
) -> Result<Crossing, ModelError> {
    let capacity_per_s = |queue: &Mmc| queue.service_per_s() * queue.servers() as f64;
    let (first_idle, second_idle) = (first(0.0)?, second(0.0)?);
    let (first_max, second_max) = (capacity_per_s(&first_idle), capacity_per_s(&second_idle));
    let first_at = |rate: f64| first(rate).map_or(f64::INFINITY, |queue| figure(&queue));
    let second_at = |rate: f64| second(rate).map_or(f64::INFINITY, |queue| figure(&queue));
    let first_better_idle = first_at(0.0) <= second_at(0.0);
    // Just below the smaller capacity, the queue with that capacity is at its worst.
    let limit = first_max.min(second_max);
    let busiest = limit * (1.0 - 1e-9);
    let first_better_busy = match first_max.total_cmp(&second_max) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => first_at(busiest) <= second_at(busiest),
    };
    if first_better_idle == first_better_busy {
        return Ok(if first_better_idle {
            Crossing::FirstAlways
        } else {
            Crossing::SecondAlways
        });
    }
    let rate = roots::crossing(0.0, limit, |rate| match (first_at(rate), second_at(rate)) {
        // At the limit itself both may be overloaded; the comparison just below it decides.
        (a, b) if a.is_infinite() && b.is_infinite() => {
            if first_better_busy {
                -1.0
            } else {
                1.0
            }
        }
        (a, b) => a - b,
    });
    Ok(if first_better_idle {
        Crossing::FirstBelow(rate)
    } else {
        Crossing::SecondBelow(rate)
    })
}
