//! Figures of a simulation of handlers.

use super::event_loop::run;
use super::settings::HandlersSettings;
use crate::error::ModelError;
use crate::simulate::interval::Estimate;
use crate::simulate::sorted_quantile;
use schedule::board::Policy;
use std::sync::Arc;

/// Figures of one simulated run, or of several together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HandlersReport {
    /// Response times in ms, ascending.
    pub responses_ms: Vec<f64>,
    /// Number of counted queries.
    pub counted: u64,
    /// Handler time spent on all queries, in ms.
    pub worked_ms: f64,
    /// Handlers × time from the first arrival to the last answer, in ms.
    pub offered_ms: f64,
    /// Visits of helpers.
    pub helps: u64,
    /// Times that a query was parked.
    pub parked: u64,
    /// Number of queries answered after their deadline, in part.
    pub expired: u64,
    /// 99th percentile over runs, in ms; used for its spread.
    pub p99: Option<Estimate>,
}

impl HandlersReport {
    /// Returns the response time that a `share` of the answers does not exceed, or `None` if fewer than ten lie beyond.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let beyond = self.responses_ms.len() as f64 * (1.0 - share);
        (beyond >= 10.0 - 1e-6).then(|| sorted_quantile(&self.responses_ms, share))
    }

    /// Returns the mean response time in ms.
    pub fn mean_ms(&self) -> f64 {
        self.responses_ms.iter().sum::<f64>() / self.responses_ms.len() as f64
    }

    /// Returns the share of handler time in use.
    pub fn utilisation(&self) -> f64 {
        self.worked_ms / self.offered_ms
    }

    /// Returns the visits of a query, owners' and helpers', on average.
    pub fn helps_per_query(&self) -> f64 {
        self.helps as f64 / self.counted as f64
    }
}

/// Simulates `runs` runs with seeds `seed`, `seed + 1`, … and takes their responses together.
///
/// # Errors
/// [`ModelError`] if settings are out of range.
pub fn summarise(
    settings: &HandlersSettings,
    runs: usize,
    policy: &Arc<dyn Policy>,
) -> Result<HandlersReport, ModelError> {
    let mut all = HandlersReport::default();
    let mut quantiles = Vec::with_capacity(runs);
    for number in 0..runs as u64 {
        let mut settings = settings.clone();
        settings.seed = settings.seed.wrapping_add(number);
        let one = run(&settings, policy)?;
        quantiles.push(sorted_quantile(&one.responses_ms, 0.99));
        all.responses_ms.extend(one.responses_ms);
        all.counted += one.counted;
        all.worked_ms += one.worked_ms;
        all.offered_ms += one.offered_ms;
        all.helps += one.helps;
        all.parked += one.parked;
        all.expired += one.expired;
    }
    all.responses_ms.sort_unstable_by(f64::total_cmp);
    all.p99 = (runs >= 2).then(|| Estimate::of(&quantiles));
    Ok(all)
}
