//! Report of one simulated run.

use crate::energy::Activity;

/// Figures of one run. Times are in ms. The warm-up is left out of all figures but the last five.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// Response times of all answered queries, ascending.
    pub responses_ms: Vec<f64>,
    /// Response times in order of arrival, NaN for unanswered queries; empty unless requested.
    pub in_order_ms: Vec<f64>,
    /// Number of queries that arrived.
    pub offered: u64,
    /// Number of queries refused by a full queue.
    pub refused: u64,
    /// Number of queries with no part searched before the deadline.
    pub expired: u64,
    /// Number of queries with some parts searched and some dropped.
    pub partial: u64,
    /// Mean wait of answered queries, from arrival to the start of the first part.
    pub wait_ms: f64,
    /// Share of arrivals that found no idle core.
    pub arrivals_finding_all_busy: f64,
    /// Share of time with no idle core.
    pub time_all_busy: f64,
    /// Mean number of queries waiting or running.
    pub in_system: f64,
    /// Mean share of cores that are busy or held by a gang.
    pub utilisation: f64,
    /// Arrival rate, in queries per second.
    pub rate_per_s: f64,
    /// Number of moves of work from one core to another.
    pub moved: u64,
    /// Busy time of each core over the whole run.
    pub core_busy_ms: Vec<f64>,
    /// Time from the start to the last answer.
    pub duration_ms: f64,
    /// Number of queries answered, including the warm-up.
    pub system_queries: u64,
    /// Integral over time of the number of queries in the system; by Little's law equal to
    /// `system_time_ms`.
    pub system_area_ms: f64,
    /// Sum over all queries of the time in the system.
    pub system_time_ms: f64,
}

impl Report {
    /// Returns the mean response time of answered queries.
    pub fn response_ms(&self) -> f64 {
        self.responses_ms.iter().sum::<f64>() / self.responses_ms.len() as f64
    }

    /// Returns the smallest response time that at least `share` of the answered queries do not exceed;
    /// NaN without answers.
    pub fn quantile_ms(&self, share: f64) -> f64 {
        sorted_quantile(&self.responses_ms, share)
    }

    /// Returns the activity of the cores, for [`energy`](crate::energy).
    pub fn activity(&self) -> Activity {
        Activity {
            core_busy_ms: self.core_busy_ms.clone(),
            duration_ms: self.duration_ms,
            queries: self.system_queries,
        }
    }

    /// Returns the number of queries answered, in full or in part.
    pub fn answered(&self) -> u64 {
        self.responses_ms.len() as u64
    }
}

/// Returns the quantile of a sorted sample by nearest rank; NaN for an empty sample.
pub(crate) fn sorted_quantile(sorted: &[f64], share: f64) -> f64 {
    stats::nearest_rank(sorted, share).unwrap_or(f64::NAN)
}
