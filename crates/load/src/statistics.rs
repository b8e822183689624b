//! Confidence intervals, and the number of repetitions that a given precision needs.
//!
//! Repetitions are independent, so the interval of a figure comes from its spread over them. The figure
//! itself comes from all their samples together: percentiles are never averaged.
use serde::{Deserialize, Serialize};
use stats::{Estimate, student_p};

/// Confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Returns whether a value lies in the interval.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Returns the interval of the mean of independent, roughly normal values (Student); `None` for
    /// fewer than two values.
    pub fn of_mean(values: &[f64]) -> Option<Interval> {
        if values.len() < 2 {
            return None;
        }
        let estimate = Estimate::of(values);
        let half = estimate.half_width(CONFIDENCE);
        Some(Interval {
            low: estimate.mean - half,
            high: estimate.mean + half,
        })
    }
}

/// Returns the two-sided p value of the hypothesis that independent, roughly normal values have this mean (Student);
/// `None` for fewer than two values.
pub fn p_of_mean(values: &[f64], mean: f64) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let estimate = Estimate::of(values);
    let error = estimate.deviation / (values.len() as f64).sqrt();
    let difference = (estimate.mean - mean).abs();
    match error > 0.0 {
        true => Some(student_p(difference / error, values.len() - 1)),
        false => Some(f64::from(difference == 0.0)),
    }
}

/// Returns p values corrected for their number, in the given order (Holm 1979): the probability of any false verdict in
/// the family is at most that of one test.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![1.0; count];
    let mut largest = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        largest = largest.max(p_values[at] * (count - rank) as f64).min(1.0);
        corrected[at] = largest;
    }
    corrected
}

/// Returns the number of such repetitions that gives a 95 % interval of `share` of the mean to each
/// side; `None` for fewer than two values or a mean of 0.
pub fn repetitions_needed(values: &[f64], share: f64) -> Option<usize> {
    if values.len() < 2 {
        return None;
    }
    let estimate = Estimate::of(values);
    let wanted = share * estimate.mean.abs();
    (wanted > 0.0).then(|| {
        let enough =
            |&count: &usize| Estimate { count, ..estimate }.half_width(CONFIDENCE) <= wanted;
        // The normal approximation is a lower bound; Student's t needs slightly more.
        let least = (1.959 * estimate.deviation / wanted)
            .powi(2)
            .ceil()
            .clamp(2.0, 1e9) as usize;
        (least..).find(enough).unwrap_or(least)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn the_interval_is_students() {
        // The mean is 3, the standard deviation √2.5, and n 5: half-width 2.776445 · √(2.5 / 5).
        let interval = Interval::of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((interval.low - (3.0 - 2.776_445 * 0.5f64.sqrt())).abs() < 1e-6);
        assert!((interval.high - (3.0 + 2.776_445 * 0.5f64.sqrt())).abs() < 1e-6);
        assert!(interval.contains(3.0) && !interval.contains(0.9));
        assert_eq!(Interval::of_mean(&[1.0]), None);
    }

    #[test]
    fn p_values_are_those_of_student() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        let end = Interval::of_mean(&values).unwrap().high;
        assert!((p_of_mean(&values, end).unwrap() - 0.05).abs() < 1e-3);
        assert_eq!(p_of_mean(&[1.0], 1.0), None);
        assert_eq!(p_of_mean(&[1.0, 1.0], 1.0), Some(1.0));
        assert_eq!(p_of_mean(&[1.0, 1.0], 2.0), Some(0.0));
    }

    #[test]
    fn a_family_of_tests_is_corrected() {
        // The example of Holm's paper has three hypotheses: p · 3, p · 2, p, never falling.
        assert_eq!(holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
        assert_eq!(holm(&[0.5, 0.9]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn the_interval_covers_the_mean_as_often_as_it_says() {
        let mut random = Purpose::Resample.stream(1);
        let covered = (0..4000).filter(|_| {
            // Sums of 12 uniform values are close enough to normal.
            let values: Vec<f64> = (0..6)
                .map(|_| (0..12).map(|_| random.uniform()).sum::<f64>())
                .collect();
            Interval::of_mean(&values).is_some_and(|interval| interval.contains(6.0))
        });
        let share = covered.count() as f64 / 4000.0;
        assert!((share - 0.95).abs() < 0.015, "{share}");
    }

    #[test]
    fn the_run_length_needed_gives_the_width_asked_for() {
        let values = [90.0, 100.0, 110.0, 95.0, 105.0];
        let needed = repetitions_needed(&values, 0.05).unwrap();
        let deviation = 62.5f64.sqrt();
        let half = |count: usize| {
            stats::student_quantile(0.95, count - 1) * deviation / (count as f64).sqrt()
        };
        assert!(half(needed) <= 5.0 && half(needed - 1) > 5.0, "{needed}");
        assert_eq!(repetitions_needed(&[1.0], 0.05), None);
        assert_eq!(repetitions_needed(&[0.0, 0.0], 0.05), None);
        assert_eq!(repetitions_needed(&[1.0, 1.0], 0.05), Some(2));
    }
}
