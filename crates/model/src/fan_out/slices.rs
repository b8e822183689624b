//! Likeness of the slices that a query visits: its own time, which all slices share, and their imbalance.
//!
//! A query's time on slice i is T·Mᵢ: T is the query's, common to all slices, because documents are
//! distributed by hash and a query with many postings has many on each; Mᵢ is lognormal with mean 1 and the
//! standard deviation of its logarithm σ, the *imbalance*. So the slowest of n slices takes T·max Mᵢ, and
//! with F the distribution of T and Φ that of the normal law
//!
//! P(slowest > t) = 1 − E[Φ(ln(t/T)/σ + σ/2)ⁿ]
//!
//! With σ = 0 the slowest takes T. Slices that each draw a time of their own (`Independent`) are the other
//! end: P(slowest > t) = 1 − F(t)ⁿ, far above it for times with a long tail.

use crate::error::{ModelError, checked};
use crate::simulate::streams::Stream;
use stats::roots::crossing;

/// Imbalance of slices where nothing is measured. Two halves of an index share the postings of a term
/// within a factor of 1.1 for 97 % of the terms with 1,000 postings or more (Hadjilambrou et al. 2019,
/// figure 12), and for 94 % of those of our corpus: a σ of 0.031 and 0.036 for each half. More slices have
/// fewer postings of a term, and chance weighs more.
pub const IMBALANCE: f64 = 0.05;

/// Upper limit on the imbalance: beyond it one slice takes nearly all of the time.
const IMBALANCE_MAX: f64 = 2.0;

/// Search times of one query on different slices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slices {
    /// The query's own time on all slices, times a factor of each slice.
    Alike {
        /// Standard deviation of the logarithm of that factor, 0 or more.
        imbalance: f64,
    },
    /// A time of its own on each slice: pessimistic, unless the cause of slow answers is not the query.
    Independent,
}

impl Slices {
    pub(super) fn check(self) -> Result<(), ModelError> {
        match self {
            Slices::Alike { imbalance } => {
                let holds = (0.0..=IMBALANCE_MAX).contains(&imbalance);
                checked("the imbalance of slices", imbalance, holds, "from 0 to 2").map(|_| ())
            }
            Slices::Independent => Ok(()),
        }
    }

    /// Draws the factor of a slice: lognormal with mean 1.
    pub(super) fn factor(imbalance: f64, stream: &mut Stream) -> f64 {
        (imbalance * stream.normal() - imbalance * imbalance / 2.0).exp()
    }
}

/// Returns the share of queries whose slowest of `servers` slices takes longer than `time_ms`, from a sample
/// of queries' own times.
pub fn alike_exceeds(own_ms: &[f64], servers: usize, imbalance: f64, time_ms: f64) -> f64 {
    let of_query = |&own_ms: &f64| {
        if own_ms <= 0.0 || imbalance == 0.0 {
            return f64::from(own_ms > time_ms);
        }
        let beyond = beyond_normal((time_ms / own_ms).ln() / imbalance + imbalance / 2.0);
        super::slower_share(beyond, servers)
    };
    own_ms.iter().map(of_query).sum::<f64>() / own_ms.len() as f64
}

/// Returns the response time in ms of the slowest of `servers` slices that a `share` of queries does not
/// exceed, from an ascending sample of queries' own times. Returns `None` if fewer than ten queries of the
/// sample lie beyond that share.
pub fn alike_quantile_ms(
    own_ms: &[f64],
    servers: usize,
    imbalance: f64,
    share: f64,
) -> Option<f64> {
    let at_one_ms = super::quantile_ms(own_ms, 1, share)?;
    if imbalance == 0.0 || at_one_ms <= 0.0 {
        return Some(at_one_ms);
    }
    let exceeds = |time_ms: f64| alike_exceeds(own_ms, servers, imbalance, time_ms) - (1.0 - share);
    let (mut low_ms, mut high_ms) = (at_one_ms, at_one_ms);
    while exceeds(low_ms) < 0.0 {
        low_ms /= 2.0;
    }
    while exceeds(high_ms) > 0.0 {
        high_ms *= 2.0;
    }
    Some(crossing(low_ms, high_ms, exceeds))
}

/// Returns the share of the standard normal law beyond `x`, to about 15 digits: by a series near 0, by a
/// continued fraction in the tails (Abramowitz & Stegun 26.2.10 and 26.2.14).
fn beyond_normal(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let size = x.abs();
    let beyond = if size < 3.0 {
        // 1/2 − density · (x + x³/3 + x⁵/15 + …)
        let (mut term, mut sum, mut odd) = (size, size, 1.0);
        while term > sum * 1e-17 {
            odd += 2.0;
            term *= size * size / odd;
            sum += term;
        }
        0.5 - density * sum
    } else {
        let fraction = (1..=60)
            .rev()
            .fold(size, |below, k| size + f64::from(k) / below);
        density / fraction
    };
    if x < 0.0 { 1.0 - beyond } else { beyond }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_law_is_that_of_the_tables() {
        for (x, expected) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_931_457_05),
            (2.5, 0.006_209_665_325_776_132),
            (3.0, 0.001_349_898_031_630_094_6),
            (4.0, 3.167_124_183_311_992e-5),
            (8.0, 6.220_960_574_271_785e-16),
        ] {
            let got = beyond_normal(x);
            assert!((got / expected - 1.0).abs() < 1e-11, "{x}: {got}");
            assert!((beyond_normal(-x) - (1.0 - expected)).abs() < 1e-15);
        }
    }

    #[test]
    fn equal_queries_wait_for_the_fullest_slice_alone() {
        // All queries take 10 ms: the slowest of n factors, whose distribution is Φⁿ.
        let own_ms = vec![10.0; 2_000];
        let median_ms = alike_quantile_ms(&own_ms, 1, 0.05, 0.5).unwrap();
        assert!((median_ms - 10.0 * (-0.00125f64).exp()).abs() < 1e-9);
        let of_hundred = alike_quantile_ms(&own_ms, 100, 0.05, 0.5).unwrap();
        // The 0.5^(1/100) quantile of the normal law is 2.462.
        assert!((of_hundred - 10.0 * (0.05f64 * 2.462 - 0.00125).exp()).abs() < 0.01);
        assert_eq!(alike_quantile_ms(&own_ms, 100, 0.0, 0.5), Some(10.0));
        assert_eq!(
            alike_quantile_ms(&own_ms, 100, 0.05, 0.999),
            None,
            "too few"
        );
    }
}
