//! Times of a phase, from the buckets of its histogram.

use crate::top::exposition::Histogram;
use serde::{Serialize, Serializer};

/// Times of one phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PhaseView {
    pub(crate) phase: String,
    pub(crate) count: f64,
    /// Mean time; `None` without samples.
    pub(crate) mean_us: Option<f64>,
    pub(crate) p50_us_at_most: Option<AtMost>,
    pub(crate) p90_us_at_most: Option<AtMost>,
    pub(crate) p99_us_at_most: Option<AtMost>,
    /// Upper bound of the highest bucket with a value.
    pub(crate) max_us_at_most: Option<AtMost>,
}

/// Upper bound of a bucket in microseconds; infinite for the last bucket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AtMost(pub(crate) f64);

impl Serialize for AtMost {
    /// Serializes a number, or `"+Inf"` as Prometheus does, because JSON has no infinity.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            to.serialize_f64(self.0)
        } else {
            to.serialize_str("+Inf")
        }
    }
}

/// Returns the times of a phase.
pub(super) fn phase_view(phase: &str, histogram: &Histogram) -> PhaseView {
    let count = histogram.buckets.last().map_or(0.0, |last| last.1);
    let some = count > 0.0;
    let at_most = |share: f64| {
        let reached = |bucket: &&(f64, f64)| bucket.1 >= share * count;
        let bucket = histogram.buckets.iter().find(reached).filter(|_| some)?;
        // Rounded to nanoseconds: 0.00075 s is 750 µs, not 750.0000000000001.
        Some(AtMost((bucket.0 * 1e9).round() / 1e3))
    };
    PhaseView {
        phase: phase.to_owned(),
        count,
        mean_us: histogram
            .sum_s
            .filter(|sum_s| some && *sum_s >= 0.0)
            .map(|sum_s| (sum_s / count * 1e9).round() / 1e3),
        p50_us_at_most: at_most(0.5),
        p90_us_at_most: at_most(0.9),
        p99_us_at_most: at_most(0.99),
        max_us_at_most: at_most(1.0),
    }
}
