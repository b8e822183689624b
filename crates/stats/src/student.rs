//! Confidence intervals of the mean of independent, roughly normal values (Student 1908).

use crate::roots::crossing;

/// Mean of independent values, with its spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Standard deviation of the values.
    pub deviation: f64,
    /// Number of values.
    pub count: usize,
}

impl Estimate {
    /// Estimates from at least two independent values.
    pub fn of(values: &[f64]) -> Estimate {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Estimate {
            mean,
            deviation: (squares / (count as f64 - 1.0)).sqrt(),
            count,
        }
    }

    /// Returns half the width of the interval with this `confidence`, for example 0.95.
    pub fn half_width(&self, confidence: f64) -> f64 {
        let quantile = student_quantile(confidence, self.count - 1);
        quantile * self.deviation / (self.count as f64).sqrt()
    }

    /// Returns whether `value` lies in the interval of this `confidence`.
    pub fn holds(&self, value: f64, confidence: f64) -> bool {
        (value - self.mean).abs() <= self.half_width(confidence)
    }
}

/// Degrees of freedom up to which the finite sums are evaluated.
const SUMMED_MAX: usize = 1000;

/// Returns t such that a Student variable of `freedom` degrees lies within ±t with this `confidence`; infinite for no
/// degree of freedom.
pub fn student_quantile(confidence: f64, freedom: usize) -> f64 {
    match freedom {
        0 => f64::INFINITY,
        1..=SUMMED_MAX => summed(confidence, freedom),
        _ => {
            // The normal quantile is the one whose expansion gives the value at the last degree that is summed.
            let known = summed(confidence, SUMMED_MAX);
            let normal = crossing(0.0, known, |z| expanded(z, SUMMED_MAX) - known);
            expanded(normal, freedom)
        }
    }
}

/// Returns the probability that a Student variable of `freedom` degrees, one or more, exceeds `t` on either side.
pub fn student_p(t: f64, freedom: usize) -> f64 {
    (1.0 - student_within(t, freedom)).clamp(0.0, 1.0)
}

/// Returns the quantile by inversion of the distribution.
fn summed(confidence: f64, freedom: usize) -> f64 {
    let mut high = 1.0;
    while student_within(high, freedom) < confidence {
        high *= 2.0;
    }
    crossing(0.0, high, |t| student_within(t, freedom) - confidence)
}

/// Returns the quantile for the normal quantile `z`, by the first terms of its expansion (Abramowitz & Stegun 26.7.5):
/// to nine digits beyond a thousand degrees.
fn expanded(z: f64, freedom: usize) -> f64 {
    let n = freedom as f64;
    z + (z.powi(3) + z) / (4.0 * n)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
}

/// Returns P(|T| ≤ t), by the finite sums of Abramowitz & Stegun 26.7.3 and 26.7.4.
fn student_within(t: f64, freedom: usize) -> f64 {
    let n = freedom as f64;
    let angle = (t / n.sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let square = cosine * cosine;
    // cos + 2/3 cos³ + … for odd, 1 + 1/2 cos² + … for even degrees.
    let mut sum = 0.0;
    let mut term = if freedom % 2 == 1 { cosine } else { 1.0 };
    let mut k = if freedom % 2 == 1 { 2.0 } else { 1.0 };
    while k < n {
        sum += term;
        term *= square * k / (k + 1.0);
        k += 2.0;
    }
    if freedom % 2 == 1 {
        2.0 / std::f64::consts::PI * (angle + sine * sum)
    } else {
        sine * sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let check = |confidence, freedom, expected: f64| {
            let got = student_quantile(confidence, freedom);
            assert!(
                (got / expected - 1.0).abs() < 1e-4,
                "{confidence} {freedom}: {got}"
            );
        };
        check(0.95, 1, 12.7062);
        check(0.95, 2, 4.30265);
        check(0.95, 9, 2.26216);
        check(0.99, 4, 4.60409);
        check(0.999, 19, 3.88341);
        check(0.95, 1000, 1.96234);
        check(0.95, 10_000, 1.960201);
        check(0.95, 1_000_000_000, 1.959964);
        check(0.99, 1_000_000_000, 2.575829);
        assert_eq!(student_quantile(0.95, 0), f64::INFINITY);
    }

    #[test]
    fn p_values_are_the_inverse_of_quantiles() {
        for freedom in [1, 2, 5, 30, 1000] {
            let p = student_p(student_quantile(0.95, freedom), freedom);
            assert!((p - 0.05).abs() < 1e-12, "{freedom}: {p}");
        }
        assert_eq!(student_p(0.0, 5), 1.0);
        assert!(student_p(12.0, 20) < 1e-9);
    }

    #[test]
    fn an_interval_of_known_figures() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0]);
        assert_eq!((estimate.mean, estimate.deviation), (2.0, 1.0));
        assert!((estimate.half_width(0.95) - 4.30265 / 3f64.sqrt()).abs() < 1e-4);
        assert!(estimate.holds(4.0, 0.95) && !estimate.holds(5.0, 0.95));
    }
}
