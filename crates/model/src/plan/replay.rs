//! Replay of a measured run: what the model says of a rate that was measured.
//!
//! The demands of a run, at its own instants, go through a queue with the cores that it ran on. The model
//! has nothing else, so what it says of the response times can be held against those that were
//! measured: where they differ by more than a fifth, a plan from the same demands is worth no more.

use crate::error::{ModelError, servers};
use crate::fan_out;
use crate::simulate::recursion::{Cores, Sharing};
use crate::simulate::sorted_quantile;

/// Factor between a measured and a predicted percentile from which they contradict each other.
pub const CONTRADICTION_MIN: f64 = 1.2;

/// Shares at which a run is checked that is too short for the share of the target.
pub const LOWER_SHARES: [f64; 4] = [0.99, 0.95, 0.9, 0.5];

/// Queries of a measured run.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Arrival instants, in ms, in ascending order.
    pub arrivals_ms: Vec<f64>,
    /// Core time of the same queries, in ms.
    pub demands_ms: Vec<f64>,
    /// Time of every answer without work of the server, in ms.
    pub fixed_ms: f64,
    /// Cores of the machine that was measured.
    pub cores: usize,
}

impl Replay {
    /// Returns the response times of all queries in ms, in order of arrival: one queue, one core a query.
    ///
    /// # Errors
    /// [`ModelError::Outside`] for an invalid number of cores; [`ModelError::Conflict`] where instants and
    /// demands differ in number.
    pub fn responses_ms(&self) -> Result<Vec<f64>, ModelError> {
        servers("the number of cores", self.cores)?;
        if self.arrivals_ms.len() != self.demands_ms.len() {
            return Err(ModelError::Conflict(
                "every query of a replay needs an instant and a demand",
            ));
        }
        let mut cores = Cores::new(self.cores, Sharing::Shared);
        let both = self.arrivals_ms.iter().zip(&self.demands_ms);
        Ok(both
            .map(|(&at_ms, &demand_ms)| cores.respond_ms(at_ms, &[demand_ms]) + self.fixed_ms)
            .collect())
    }
}

/// A measured percentile of response times beside the predicted one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checked {
    /// Share of queries within the percentile, 0 to 1.
    pub share: f64,
    /// Rate of the run, in queries per second.
    pub rate_per_s: f64,
    /// Measured percentile, in ms.
    pub measured_ms: f64,
    /// Predicted percentile, in ms.
    pub predicted_ms: f64,
}

impl Checked {
    /// Compares measured response times in ms, ascending and with infinity for a request without an answer,
    /// with the replays of the same runs, at the percentile of `share`; where too few requests lie beyond
    /// that, or have an answer, at the highest of [`LOWER_SHARES`] that has enough. Returns `None` if none
    /// has, or the replays have no query.
    ///
    /// # Errors
    /// The errors of [`Replay::responses_ms`].
    pub fn of(
        replays: &[Replay],
        share: f64,
        rate_per_s: f64,
        measured_ms: &[f64],
    ) -> Result<Option<Checked>, ModelError> {
        let mut responses_ms = Vec::new();
        for replay in replays {
            responses_ms.extend(replay.responses_ms()?);
        }
        responses_ms.sort_unstable_by(f64::total_cmp);
        if responses_ms.is_empty() {
            return Ok(None);
        }
        let lower = LOWER_SHARES.into_iter().filter(|lower| *lower < share);
        let measured = [share].into_iter().chain(lower).find_map(|share| {
            fan_out::quantile_ms(measured_ms, 1, share)
                .filter(|ms| ms.is_finite())
                .map(|ms| (share, ms))
        });
        Ok(measured.map(|(share, measured_ms)| Checked {
            share,
            rate_per_s,
            measured_ms,
            predicted_ms: sorted_quantile(&responses_ms, share),
        }))
    }

    /// Returns predicted over measured.
    pub fn ratio(&self) -> f64 {
        self.predicted_ms / self.measured_ms
    }

    /// Returns whether the two differ by more than a fifth, either way.
    pub fn is_contradiction(&self) -> bool {
        !(1.0 / CONTRADICTION_MIN..=CONTRADICTION_MIN).contains(&self.ratio())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(cores: usize) -> Replay {
        Replay {
            arrivals_ms: vec![0.0, 1.0, 2.0, 3.0],
            demands_ms: vec![10.0; 4],
            fixed_ms: 0.5,
            cores,
        }
    }

    #[test]
    fn queries_wait_for_the_cores_of_the_run() {
        assert_eq!(replay(4).responses_ms().unwrap(), [10.5; 4]);
        let one = replay(1).responses_ms().unwrap();
        assert_eq!(one, [10.5, 19.5, 28.5, 37.5]);
        let two = replay(2).responses_ms().unwrap();
        assert_eq!(two, [10.5, 10.5, 18.5, 18.5]);
        assert!(replay(0).responses_ms().is_err());
        let mut few = replay(1);
        few.demands_ms.pop();
        assert!(few.responses_ms().is_err());
    }

    #[test]
    fn a_fifth_is_the_limit_either_way() {
        let check = |measured_ms: f64, expected: bool| {
            let measured = vec![measured_ms; 20];
            let checked = Checked::of(&[replay(4)], 0.5, 100.0, &measured).unwrap();
            let checked = checked.unwrap();
            assert_eq!(checked.predicted_ms, 10.5);
            assert_eq!(checked.is_contradiction(), expected, "{measured_ms}");
        };
        check(10.5, false);
        check(8.8, false);
        check(8.7, true);
        check(12.5, false);
        check(12.7, true);
        check(44.0, true);
        check(0.0, true);
    }

    #[test]
    fn a_short_run_is_checked_at_a_lower_percentile() {
        let share = |count: usize, unanswered: usize| {
            let mut measured = vec![10.5; count - unanswered];
            measured.resize(count, f64::INFINITY);
            let checked = Checked::of(&[replay(4)], 0.999, 100.0, &measured).unwrap();
            checked.map(|checked| checked.share)
        };
        assert_eq!(share(10_000, 0), Some(0.999));
        assert_eq!(share(1_000, 0), Some(0.99));
        assert_eq!(share(1_000, 20), Some(0.95));
        assert_eq!(share(100, 0), Some(0.9));
        assert_eq!(share(20, 0), Some(0.5));
        assert_eq!(share(19, 0), None);
        assert_eq!(share(100, 60), None);
        assert_eq!(Checked::of(&[], 0.5, 1.0, &[1.0; 100]), Ok(None));
    }
}
