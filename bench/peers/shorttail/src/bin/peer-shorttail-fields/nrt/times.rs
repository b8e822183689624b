//! Summary of times.

use std::fmt;

/// Times in rising order, in microseconds; shown as an object of JSON.
pub(super) struct Times(Vec<f64>);

impl Times {
    pub(super) fn of(mut times_us: Vec<f64>) -> Times {
        times_us.sort_by(f64::total_cmp);
        Times(times_us)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Times(times) = self;
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        write!(f, "{{\"n\":{},\"mean\":{mean:.1}", times.len())?;
        for (name, percent) in [
            ("p50", 50.0),
            ("p90", 90.0),
            ("p99", 99.0),
            ("p99.9", 99.9),
            ("max", 100.0),
        ] {
            let at = stats::nearest_rank(times, percent / 100.0).unwrap_or(0.0);
            write!(f, ",\"{name}\":{at:.1}")?;
        }
        write!(f, "}}")
    }
}
