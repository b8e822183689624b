//! Figures of a simulation of handlers.

use crate::energy::Activity;
use crate::simulate::sorted_quantile;
use schedule::board::script::Record;
use stats::Estimate;

/// Figures of one simulated run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HandlersReport {
    /// Response times of the counted queries in ms, ascending.
    pub responses_ms: Vec<f64>,
    /// Busy time of each handler, duration and number of queries, warm-up included.
    pub activity: Activity,
    /// Visits of helpers, warm-up included.
    pub helps: u64,
    /// Number of times that a query was parked, warm-up included.
    pub parked: u64,
    /// Number of counted queries answered after their deadline, in part.
    pub expired: u64,
    /// Events and decisions of the board, if they are kept.
    pub script: Vec<Record>,
}

/// Figures of several runs with different seeds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HandlersSummary {
    /// Response times of all runs together in ms, ascending.
    pub responses_ms: Vec<f64>,
    /// Response times of each run in ms, ascending.
    pub runs_ms: Vec<Vec<f64>>,
    /// Sum of the activities of the runs.
    pub activity: Activity,
    /// Visits of helpers.
    pub helps: u64,
    /// Number of times that a query was parked.
    pub parked: u64,
    /// Number of counted queries answered after their deadline, in part.
    pub expired: u64,
}

impl HandlersSummary {
    /// Takes runs together.
    pub fn of(runs: Vec<HandlersReport>) -> HandlersSummary {
        let mut all = HandlersSummary::default();
        for one in runs {
            all.responses_ms.extend_from_slice(&one.responses_ms);
            all.runs_ms.push(one.responses_ms);
            all.activity.add(&one.activity);
            all.helps += one.helps;
            all.parked += one.parked;
            all.expired += one.expired;
        }
        all.responses_ms.sort_unstable_by(f64::total_cmp);
        all
    }

    /// Returns the number of counted queries.
    pub fn counted(&self) -> u64 {
        self.responses_ms.len() as u64
    }

    /// Returns the response time that a `share` of the answers does not exceed, or `None` if fewer than ten lie beyond.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let beyond = self.responses_ms.len() as f64 * (1.0 - share);
        (beyond >= 10.0 - 1e-6).then(|| sorted_quantile(&self.responses_ms, share))
    }

    /// Returns the same quantile of each run, for its spread; `None` for fewer than two runs.
    pub fn spread_ms(&self, share: f64) -> Option<Estimate> {
        let runs = self.runs_ms.iter().filter(|one| !one.is_empty());
        let quantiles: Vec<f64> = runs.map(|one| sorted_quantile(one, share)).collect();
        (quantiles.len() >= 2).then(|| Estimate::of(&quantiles))
    }

    /// Returns the mean response time in ms.
    pub fn mean_ms(&self) -> f64 {
        self.responses_ms.iter().sum::<f64>() / self.responses_ms.len() as f64
    }

    /// Returns the share of handler time in use.
    pub fn utilisation(&self) -> f64 {
        let busy_ms = &self.activity.core_busy_ms;
        busy_ms.iter().sum::<f64>() / (self.activity.duration_ms * busy_ms.len() as f64)
    }

    /// Returns the mean number of visits of helpers to a query.
    pub fn helps_per_query(&self) -> f64 {
        self.helps as f64 / self.activity.queries as f64
    }

    /// Returns the mean number of times that a query was parked.
    pub fn parked_per_query(&self) -> f64 {
        self.parked as f64 / self.activity.queries as f64
    }
}
