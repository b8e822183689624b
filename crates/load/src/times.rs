//! Which figures does a set of times support?
//!
//! A percentile is given only where enough of the sample lies beyond it; of a hundred samples a
//! 99.9th percentile is the maximum under another name. Histograms keep three digits and can be
//! merged; percentiles never are.
use hdrhistogram::Histogram;

/// Samples that must lie beyond a percentile before it is given.
pub const BEYOND_MIN: f64 = 10.0;
/// The percentiles that are given where the sample supports them.
pub const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];
/// Times above are counted as this: an hour, in microseconds.
const TIME_US_MAX: u64 = 3_600_000_000;

pub(crate) fn empty_histogram() -> Histogram<u64> {
    // Both bounds and the digits are constants that the library accepts.
    Histogram::new_with_bounds(1, TIME_US_MAX, 3).expect("bounds of a histogram")
}

/// A set of times in microseconds, three digits exact.
#[derive(Debug, Clone)]
pub struct Times {
    histogram: Histogram<u64>,
    sum_us: f64,
    max_us: f64,
    /// Requests that never had an answer: slower than every time here.
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
    /// The times, in nanoseconds.
    pub fn of_ns(times_ns: impl IntoIterator<Item = u64>) -> Times {
        let mut times = Times::default();
        times_ns.into_iter().for_each(|ns| times.add_ns(ns));
        times
    }

    /// Adds one, in nanoseconds.
    pub fn add_ns(&mut self, ns: u64) {
        let us = ns as f64 / 1e3;
        self.histogram.saturating_record(us.round() as u64);
        self.sum_us += us;
        self.max_us = self.max_us.max(us);
    }

    /// Adds one that never ended.
    pub fn add_never(&mut self) {
        self.never_count += 1;
    }

    /// Adds all of another set: the samples of repetitions together.
    pub fn merge(&mut self, other: &Times) {
        // Same bounds, so nothing is lost.
        self.histogram += &other.histogram;
        self.sum_us += other.sum_us;
        self.max_us = self.max_us.max(other.max_us);
        self.never_count += other.never_count;
    }

    /// How many, those that never ended included.
    pub fn count(&self) -> u64 {
        self.histogram.len() + self.never_count
    }

    /// Mean of those that ended; none of none.
    pub fn mean_us(&self) -> Option<f64> {
        (!self.histogram.is_empty()).then(|| self.sum_us / self.histogram.len() as f64)
    }

    /// The largest; none of none, or where some never ended.
    pub fn max_us(&self) -> Option<f64> {
        (!self.histogram.is_empty() && self.never_count == 0).then_some(self.max_us)
    }

    /// The value that `percentile` percent do not exceed. None where fewer than [`BEYOND_MIN`]
    /// samples lie beyond it (the median needs that many too), or where it lies among those that
    /// never ended.
    pub fn percentile_us(&self, percentile: f64) -> Option<f64> {
        let count = self.count() as f64;
        // The addition keeps 1000 · 1 % from falling short of 10 by a rounding error.
        let is_supported = count * (1.0 - percentile / 100.0) + 1e-6 >= BEYOND_MIN;
        let rank = (percentile / 100.0 * count - 1e-6).ceil().max(1.0);
        let ended = self.histogram.len() as f64;
        (is_supported && rank <= ended)
            .then(|| self.histogram.value_at_quantile((rank - 0.5) / ended) as f64)
    }

    /// All percentiles that the sample supports.
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
        assert_eq!(Times::default().mean_us(), None);
    }

    #[test]
    fn what_never_ended_is_slower_than_everything() {
        let mut times = Times::of_ns((1..=1000u64).map(|us| us * 1000));
        (0..250).for_each(|_| times.add_never());
        assert_eq!(times.percentile_us(50.0), Some(625.0));
        assert_eq!(times.percentile_us(90.0), None);
        assert_eq!(times.max_us(), None);
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
