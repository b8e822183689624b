//! Products of boosts, and the best of scores.

use search::parse::{BOOST_MAX, BOOST_MIN};

/// Returns the boost of a boosted clause within another.
pub(super) fn product(outer: f32, inner: f32) -> f32 {
    (outer * inner).clamp(BOOST_MIN, BOOST_MAX)
}

/// Returns the greatest of scores, plus a share of the sum of the others that is rounded to the unit of a grid: 2^-22 of the power
/// of two that is a third of the grid.
pub(super) fn best_of(scores: &[f32], tie_breaker: f32, grid: f32) -> f32 {
    let greatest = scores.iter().copied().fold(0.0, f32::max);
    let others = scores.iter().sum::<f32>() - greatest;
    let share = f64::from(tie_breaker) * f64::from(others);
    let unit = f64::from(grid) / 3.0 / f64::from(1 << 22);
    match unit {
        0.0 => greatest + share as f32,
        unit => greatest + ((share / unit).round_ties_even() * unit) as f32,
    }
}
