//! Score of the best of some clauses, with a tie breaker.
//!
//! ```text
//! score = greatest + on grid(tie breaker * (sum - greatest))
//! ```
//!
//! Scores of clauses lie on the grid of the plan, so their sum and their difference are exact, and the greatest and the sum are
//! the same in whatever order clauses are looked at. The product is exact in f64 (24 bits times 24 bits) and rounded once, to
//! the nearest multiple of the grid's unit, so that scores stay on the grid.
//!
//! The score never falls when the score of a clause rises: a greatest score that rises by a multiple of the unit lowers the
//! rounded share of the others by no more than that, because the tie breaker is at most 1. So the best of upper bounds is an
//! upper bound. It is never above the sum.

/// Powers of two between the units in the last place of f32 and of f64.
const FINER: f64 = (1u64 << 29) as f64;

/// Way to score the best of some clauses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Best {
    tie_breaker: f32,
    grid: f32,
}

impl Best {
    /// Returns the way of a tie breaker, in 0 to 1, on the grid of a plan.
    pub(crate) fn new(tie_breaker: f32, grid: f32) -> Best {
        Best { tie_breaker, grid }
    }

    /// Returns the score of clauses whose greatest score and whose sum of scores are given.
    #[inline]
    pub(crate) fn of(self, greatest: f32, sum: f32) -> f32 {
        let others = sum - greatest;
        if self.tie_breaker == 0.0 || !others.is_finite() {
            return greatest;
        }
        let share = f64::from(self.tie_breaker) * f64::from(others);
        // An f64 of this size has the unit of the grid in its last place.
        let grid = f64::from(self.grid) * FINER;
        greatest + ((share + grid) - grid) as f32
    }

    /// Returns the score of clauses that score `scores`.
    pub(crate) fn of_all(self, scores: impl Iterator<Item = f32>) -> f32 {
        let add = |(greatest, sum): (f32, f32), score: f32| (greatest.max(score), sum + score);
        let (greatest, sum) = scores.fold((0.0, 0.0), add);
        self.of(greatest, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ranking::{Ranking, on_grid};
    use proptest::prelude::*;
    use testkit::floats;

    fn tie_breakers() -> impl Strategy<Value = f32> {
        let near_one = 1.0 - f32::EPSILON / 2.0;
        prop_oneof![
            Just(0.0f32),
            Just(0.5),
            Just(1.0),
            Just(near_one),
            floats(0.0, 1.0)
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Scores lie on the grid, whatever the order; bounds are bounds; and neither a tie breaker of 1 nor of 0 rounds.
        #[test]
        fn scores_lie_on_the_grid_and_rise_with_their_clauses(
            raw in prop::collection::vec((floats(0.0, 10.0), 0u32..4, floats(0.0, 10.0)), 1..6),
            tie_breaker in tie_breakers(),
            room in floats(1.0, 4.0),
        ) {
            let raised: f64 = raw.iter().map(|one| f64::from(one.0) + f64::from(one.2)).sum();
            let grid = Ranking::grid(raised * f64::from(room));
            let unit = grid / 3.0 / (1 << 22) as f32;
            let best = Best::new(tie_breaker, grid);
            let scores: Vec<f32> = raw.iter().map(|one| on_grid(one.0, grid)).collect();
            let score = best.of_all(scores.iter().copied());
            let (greatest, sum) = (scores.iter().copied().fold(0.0, f32::max), scores.iter().sum::<f32>());
            prop_assert_eq!(score, on_grid(score, grid));
            prop_assert_eq!(score, best.of_all(scores.iter().rev().copied()));
            prop_assert!((greatest..=sum).contains(&score));
            let exact = f64::from(greatest) + f64::from(tie_breaker) * f64::from(sum - greatest);
            prop_assert!((f64::from(score) - exact).abs() <= f64::from(unit) / 2.0);
            if tie_breaker == 1.0 {
                prop_assert_eq!(score, sum);
            }
            // By a few units, where rounding could tell, and by much.
            for most in [
                raw.iter().zip(&scores).map(|(one, score)| score + one.1 as f32 * unit).collect::<Vec<_>>(),
                raw.iter().zip(&scores).map(|(one, score)| score + on_grid(one.2, grid)).collect(),
            ] {
                prop_assert!(best.of_all(most.iter().copied()) >= score, "{:?} {:?}", scores, most);
            }
        }
    }
}
