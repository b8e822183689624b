//! Confidence intervals, and the number of repetitions that a given precision needs.
//!
//! Repetitions are independent, so the interval of a figure comes from its spread over them. The figure
//! itself comes from all their samples together: percentiles are never averaged.
use serde::{Deserialize, Serialize};

/// 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom.
const T_975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

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
        let spread = Spread::of(values)?;
        let half = spread.half_width();
        Some(Interval {
            low: spread.mean - half,
            high: spread.mean + half,
        })
    }
}

struct Spread {
    count: usize,
    mean: f64,
    deviation: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Spread> {
        let count = values.len();
        if count < 2 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Spread {
            count,
            mean,
            deviation: (squares / (count - 1) as f64).sqrt(),
        })
    }

    fn half_width(&self) -> f64 {
        t_975(self.count - 1) * self.deviation / (self.count as f64).sqrt()
    }
}

/// Returns the 97.5 % quantile of Student's t; beyond 30 degrees of freedom to three digits, by the
/// first terms of its expansion (Abramowitz & Stegun 26.7.5).
pub fn t_975(freedom: usize) -> f64 {
    const NORMAL: f64 = 1.959_964;
    match T_975.get(freedom.wrapping_sub(1)) {
        Some(&t) => t,
        None if freedom == 0 => f64::INFINITY,
        None => {
            let n = freedom as f64;
            let z = NORMAL;
            z + (z.powi(3) + z) / (4.0 * n)
                + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
    }
}

/// Returns the two-sided p value of the hypothesis that independent, roughly normal values have this mean (Student);
/// `None` for fewer than two values.
pub fn p_of_mean(values: &[f64], mean: f64) -> Option<f64> {
    let spread = Spread::of(values)?;
    let error = spread.deviation / (spread.count as f64).sqrt();
    let difference = (spread.mean - mean).abs();
    match error > 0.0 {
        true => Some(student_p(difference / error, spread.count - 1)),
        false => Some(f64::from(difference == 0.0)),
    }
}

/// Returns the probability that Student's t of `freedom` degrees exceeds `t` on either side: the finite series of
/// Abramowitz & Stegun 26.7.3 and 26.7.4.
fn student_p(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    let (mut term, mut sum) = (if is_odd { cosine } else { 1.0 }, 0.0);
    let mut power = if is_odd { 1 } else { 0 };
    while power + 2 <= freedom {
        sum += term;
        term *= cosine * cosine * (power + 1) as f64 / (power + 2) as f64;
        power += 2;
    }
    let within = match is_odd {
        true => (angle + sine * sum) * std::f64::consts::FRAC_2_PI,
        false => sine * sum,
    };
    (1.0 - within).clamp(0.0, 1.0)
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
    let spread = Spread::of(values)?;
    let wanted = share * spread.mean.abs();
    (wanted > 0.0).then(|| {
        let enough =
            |count: &usize| t_975(count - 1) * spread.deviation / (*count as f64).sqrt() <= wanted;
        // The normal approximation is a lower bound; Student's t needs slightly more.
        let least = (1.96 * spread.deviation / wanted)
            .powi(2)
            .ceil()
            .clamp(2.0, 1e9) as usize;
        (least..).find(enough).unwrap_or(least)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // The mean is 3, the standard deviation √2.5, and n 5: half-width 2.776 · √(2.5 / 5).
        let interval = Interval::of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((interval.low - (3.0 - 2.776 * 0.5f64.sqrt())).abs() < 1e-12);
        assert!((interval.high - (3.0 + 2.776 * 0.5f64.sqrt())).abs() < 1e-12);
        assert!(interval.contains(3.0) && !interval.contains(0.9));
        assert_eq!(Interval::of_mean(&[1.0]), None);
    }

    #[test]
    fn p_values_are_those_of_student() {
        // The 97.5 % quantile leaves 5 % on both sides.
        for (freedom, t) in T_975.iter().enumerate() {
            let p = student_p(*t, freedom + 1);
            assert!((p - 0.05).abs() < 1e-4, "{freedom}: {p}");
        }
        assert_eq!(student_p(0.0, 5), 1.0);
        assert!(student_p(12.0, 20) < 1e-9);
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
    fn the_expansion_goes_on_where_the_table_ends() {
        for (freedom, t) in [(30, 2.042), (40, 2.021), (60, 2.000), (120, 1.980)] {
            assert!(
                (t_975(freedom) - t).abs() < 6e-4,
                "{freedom}: {}",
                t_975(freedom)
            );
        }
    }

    #[test]
    fn the_interval_covers_the_mean_as_often_as_it_says() {
        let mut random = crate::random::Random::new(1, crate::random::Purpose::Resample);
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
        let half = |count: usize| t_975(count - 1) * deviation / (count as f64).sqrt();
        assert!(half(needed) <= 5.0 && half(needed - 1) > 5.0, "{needed}");
        assert_eq!(repetitions_needed(&[1.0], 0.05), None);
        assert_eq!(repetitions_needed(&[0.0, 0.0], 0.05), None);
        assert_eq!(repetitions_needed(&[1.0, 1.0], 0.05), Some(2));
    }
}
