//! Set of times and its supported percentiles.
//!
//! A percentile is given only if enough of the sample lies beyond it: of a hundred samples the 99.9th
//! percentile is merely the maximum. Histograms keep three digits and can be merged; percentiles are
//! never merged.
use hdrhistogram::Histogram;

/// Lower limit on the samples beyond a percentile.
pub const BEYOND_MIN: f64 = 10.0;
/// Reported percentiles, if the sample supports them.
pub const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];
/// Upper limit on a time, in microseconds: an hour. Longer times count as this.
const TIME_US_MAX: u64 = 3_600_000_000;

pub(crate) fn empty_histogram() -> Histogram<u64> {
    // The library accepts these constant bounds and digits.
    Histogram::new_with_bounds(1, TIME_US_MAX, 3).expect("bounds of a histogram")
}

/// A set of times in microseconds, exact to three digits.
#[derive(Debug, Clone)]
pub struct Times {
    histogram: Histogram<u64>,
    sum_us: f64,
    max_us: f64,
    /// Number of requests without an answer, which count as slower than any time.
    never_count: u64,
}

impl Default for Times {
    fn default() -> Times {
        Times {
            histogram: empty_histogram(),
            sum_us: 0.0,
            max_us: 0.0,
            never_count: 0,
        }
    }
}

impl Times {
    /// Collects times in nanoseconds.
    pub fn of_ns(times_ns: impl IntoIterator<Item = u64>) -> Times {
        let mut times = Times::default();
        times_ns.into_iter().for_each(|ns| times.add_ns(ns));
        times
    }

    /// Adds a time, in nanoseconds.
    pub fn add_ns(&mut self, ns: u64) {
        let us = ns as f64 / 1e3;
        self.histogram.saturating_record(us.round() as u64);
        self.sum_us += us;
        self.max_us = self.max_us.max(us);
    }

    /// Adds an unanswered request.
    pub fn add_never(&mut self) {
        self.never_count += 1;
    }

    /// Adds all times of another set, for example of a repetition.
    pub fn merge(&mut self, other: &Times) {
        // The bounds are equal, so nothing is lost.
        self.histogram += &other.histogram;
        self.sum_us += other.sum_us;
        self.max_us = self.max_us.max(other.max_us);
        self.never_count += other.never_count;
    }

    /// Returns the number of times, including unanswered requests.
    pub fn count(&self) -> u64 {
        self.histogram.len() + self.never_count
    }

    /// Returns the mean; `None` for an empty set or one with unanswered requests, whose times have no mean.
    pub fn mean_us(&self) -> Option<f64> {
        let is_known = !self.histogram.is_empty() && self.never_count == 0;
        is_known.then(|| self.sum_us / self.histogram.len() as f64)
    }

    /// Returns the largest time; `None` for an empty set or one with unanswered requests.
    pub fn max_us(&self) -> Option<f64> {
        (!self.histogram.is_empty() && self.never_count == 0).then_some(self.max_us)
    }

    /// Returns the value that `percentile` percent do not exceed. Returns `None` if fewer than
    /// [`BEYOND_MIN`] samples lie beyond it (also for the median), or if it lies among the unanswered
    /// requests.
    pub fn percentile_us(&self, percentile: f64) -> Option<f64> {
        let count = self.count() as f64;
        // The addition keeps 1000 · 1 % from falling short of 10 by a rounding error.
        let is_supported = count * (1.0 - percentile / 100.0) + 1e-6 >= BEYOND_MIN;
        let rank = (percentile / 100.0 * count - 1e-6).ceil().max(1.0);
        let ended = self.histogram.len() as f64;
        (is_supported && rank <= ended)
            .then(|| self.histogram.value_at_quantile((rank - 0.5) / ended) as f64)
    }

    /// Returns the nearest-rank percentile of the answered requests, however few lie beyond it: for checks that must
    /// not be skipped for want of samples. `None` for an empty set.
    pub fn rank_us(&self, percentile: f64) -> Option<f64> {
        let value = || self.histogram.value_at_quantile(percentile / 100.0) as f64;
        (!self.histogram.is_empty()).then(value)
    }

    /// Returns the number of requests without an answer.
    pub fn never_count(&self) -> u64 {
        self.never_count
    }

    /// Returns all percentiles that the sample supports.
    pub fn percentiles_us(&self) -> Vec<(f64, f64)> {
        PERCENTILES
            .iter()
            .filter_map(|&percentile| Some((percentile, self.percentile_us(percentile)?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sample() {
        let times = Times::of_ns((1..=1000u64).rev().map(|us| us * 1000));
        assert_eq!(times.percentile_us(50.0), Some(500.0));
        assert_eq!(times.percentile_us(90.0), Some(900.0));
        assert_eq!(times.percentile_us(99.0), Some(990.0));
        assert_eq!(times.mean_us(), Some(500.5));
        assert_eq!(times.max_us(), Some(1000.0));
    }

    #[test]
    fn a_percentile_without_support_is_not_given() {
        let thousand = Times::of_ns((1..=1000u64).map(|us| us * 1000));
        assert_eq!(thousand.percentile_us(99.9), None);
        assert_eq!(thousand.percentiles_us().len(), 4);
        let few = Times::of_ns((1..=19u64).map(|us| us * 1000));
        assert_eq!(few.percentiles_us(), []);
        assert_eq!(few.rank_us(99.0), Some(19.0));
        assert_eq!(Times::default().rank_us(99.0), None);
        assert_eq!(Times::default().mean_us(), None);
    }

    #[test]
    fn what_never_ended_is_slower_than_everything() {
        let mut times = Times::of_ns((1..=1000u64).map(|us| us * 1000));
        (0..250).for_each(|_| times.add_never());
        assert_eq!(times.percentile_us(50.0), Some(625.0));
        assert_eq!(times.percentile_us(90.0), None);
        assert_eq!(times.max_us(), None);
        assert_eq!(times.mean_us(), None, "not that of the answered");
    }

    #[test]
    fn merged_sets_are_the_set_of_all() {
        let mut merged = Times::of_ns((1..=500u64).map(|us| us * 1000));
        merged.merge(&Times::of_ns((501..=1000u64).map(|us| us * 1000)));
        let whole = Times::of_ns((1..=1000u64).map(|us| us * 1000));
        assert_eq!(merged.percentiles_us(), whole.percentiles_us());
        assert_eq!(merged.mean_us(), whole.mean_us());
    }
}
