//! Mean and quantiles of a set of times.

/// Mean and quantiles of a set of times, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub(crate) struct Quantiles {
    pub(crate) queries: u64,
    #[serde(serialize_with = "three_decimals")]
    pub(crate) mean_us: f64,
    #[serde(serialize_with = "three_decimals")]
    pub(crate) p50_us: f64,
    #[serde(serialize_with = "three_decimals")]
    pub(crate) p90_us: f64,
    #[serde(serialize_with = "three_decimals")]
    pub(crate) p99_us: f64,
    #[serde(serialize_with = "three_decimals")]
    pub(crate) p999_us: f64,
    #[serde(serialize_with = "three_decimals")]
    pub(crate) max_us: f64,
}

impl Quantiles {
    /// Calculates the figures of `times_us`; all are 0 without times.
    pub(crate) fn of(mut times_us: Vec<f64>) -> Quantiles {
        times_us.sort_by(f64::total_cmp);
        let of = |share| stats::nearest_rank(&times_us, share).unwrap_or_default();
        let sum_us: f64 = times_us.iter().sum();
        Quantiles {
            queries: times_us.len() as u64,
            mean_us: sum_us / times_us.len().max(1) as f64,
            p50_us: of(0.5),
            p90_us: of(0.9),
            p99_us: of(0.99),
            p999_us: of(0.999),
            max_us: times_us.last().copied().unwrap_or_default(),
        }
    }
}

/// Returns the minimum and the median of the times of one query; the median of an even number of times is the mean of
/// the two in the middle.
pub(crate) fn min_and_median(times: &mut [f64]) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let Some(&min) = times.first() else {
        return (0.0, 0.0);
    };
    let upper = times.len() / 2;
    let lower = (times.len() - 1) / 2;
    (min, (times[lower] + times[upper]) / 2.0)
}

/// Serializes microseconds with three decimals, the resolution of the clock.
pub(crate) fn three_decimals<S: serde::Serializer>(us: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((us * 1e3).round() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_measured_values() {
        let hundred = Quantiles::of((1..=100).rev().map(f64::from).collect());
        assert_eq!(hundred.queries, 100);
        assert_eq!(hundred.mean_us, 50.5);
        assert_eq!(
            [
                hundred.p50_us,
                hundred.p90_us,
                hundred.p99_us,
                hundred.p999_us,
                hundred.max_us
            ],
            [50.0, 90.0, 99.0, 100.0, 100.0]
        );
        let one = Quantiles::of(vec![7.0]);
        assert_eq!([one.mean_us, one.p50_us, one.p999_us, one.max_us], [7.0; 4]);
        assert_eq!(Quantiles::of(Vec::new()), Quantiles::default());
    }

    #[test]
    fn the_median_of_a_few() {
        assert_eq!(min_and_median(&mut [3.0, 1.0, 2.0]), (1.0, 2.0));
        assert_eq!(min_and_median(&mut [4.0, 1.0, 3.0, 2.0]), (1.0, 2.5));
        assert_eq!(min_and_median(&mut [5.0]), (5.0, 5.0));
        assert_eq!(min_and_median(&mut []), (0.0, 0.0));
    }
}
