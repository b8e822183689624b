//! Confidence intervals of simulated figures.
//!
//! Runs with different seeds are independent, so the spread of a figure between runs gives the error of
//! its mean (Student 1908).

/// Mean over independent runs, with its spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Standard deviation between runs.
    pub deviation: f64,
    /// Number of runs.
    pub runs: usize,
}

impl Estimate {
    /// Estimates from the figures of at least two independent runs.
    pub fn of(figures: &[f64]) -> Estimate {
        let runs = figures.len();
        let mean = figures.iter().sum::<f64>() / runs as f64;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        Estimate {
            mean,
            deviation: (squares / (runs as f64 - 1.0)).sqrt(),
            runs,
        }
    }

    /// Returns half the width of the interval with this `confidence`, for example 0.95.
    pub fn half_width(&self, confidence: f64) -> f64 {
        let quantile = student_quantile(confidence, self.runs - 1);
        quantile * self.deviation / (self.runs as f64).sqrt()
    }

    /// Returns whether `value` lies in the interval of this `confidence`.
    pub fn holds(&self, value: f64, confidence: f64) -> bool {
        (value - self.mean).abs() <= self.half_width(confidence)
    }
}

/// Returns an estimate of each of `N` figures over `runs` runs with seeds `seed`, `seed + 1`, ….
pub fn replicate<const N: usize, E>(
    seed: u64,
    runs: usize,
    mut run: impl FnMut(u64) -> Result<[f64; N], E>,
) -> Result<[Estimate; N], E> {
    let mut figures: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(runs));
    for number in 0..runs as u64 {
        for (list, figure) in figures.iter_mut().zip(run(seed.wrapping_add(number))?) {
            list.push(figure);
        }
    }
    Ok(figures.map(|list| Estimate::of(&list)))
}

/// Returns t such that a Student variable of `freedom` degrees lies within ±t with this `confidence`.
pub fn student_quantile(confidence: f64, freedom: usize) -> f64 {
    let mut high = 1.0;
    while student_within(high, freedom) < confidence {
        high *= 2.0;
    }
    crate::roots::crossing(0.0, high, |t| student_within(t, freedom) - confidence)
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
    }

    #[test]
    fn an_interval_of_known_figures() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0]);
        assert_eq!((estimate.mean, estimate.deviation), (2.0, 1.0));
        assert!((estimate.half_width(0.95) - 4.30265 / 3f64.sqrt()).abs() < 1e-4);
        assert!(estimate.holds(4.0, 0.95) && !estimate.holds(5.0, 0.95));
    }
}
