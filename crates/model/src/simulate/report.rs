//! What came out of a simulation?

use crate::energy::Activity;

/// The figures of one run. Times in ms. Queries before the end of the warm-up are left out of all
/// figures but the last five.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// Response times of all answered queries, ascending.
    pub responses_ms: Vec<f64>,
    /// Response times in order of arrival, NaN where there was no answer; only where asked for.
    pub in_order_ms: Vec<f64>,
    /// Queries that arrived.
    pub offered: u64,
    /// Queries refused because a queue was full.
    pub refused: u64,
    /// Queries none of which was searched before its deadline.
    pub expired: u64,
    /// Queries of which some parts were searched and some not.
    pub partial: u64,
    /// Mean wait of those that were answered, from arrival to the start of the first part.
    pub wait_ms: f64,
    /// Share of arrivals that found no idle core.
    pub arrivals_finding_all_busy: f64,
    /// Share of time with no idle core.
    pub time_all_busy: f64,
    /// Mean number of queries waiting or running.
    pub in_system: f64,
    /// Mean share of cores that are busy or held.
    pub utilisation: f64,
    /// Queries that arrived each second.
    pub rate_per_s: f64,
    /// Work moved from one core to another.
    pub moved: u64,
    /// How long each core was busy, over the whole run.
    pub core_busy_ms: Vec<f64>,
    /// From the start to the last answer.
    pub duration_ms: f64,
    /// Queries answered, warm-up and all.
    pub system_queries: u64,
    /// The number of queries in the system, added up over all time; by Little's law to be the same as
    pub system_area_ms: f64,
    /// the time in the system, added up over all queries.
    pub system_time_ms: f64,
}

impl Report {
    /// Mean response of the answered.
    pub fn response_ms(&self) -> f64 {
        self.responses_ms.iter().sum::<f64>() / self.responses_ms.len() as f64
    }

    /// The smallest response that at least `share` of the answered do not exceed; NaN of none.
    pub fn quantile_ms(&self, share: f64) -> f64 {
        quantile(&self.responses_ms, share)
    }

    /// What the cores did, for [`energy`](crate::energy).
    pub fn activity(&self) -> Activity {
        Activity {
            core_busy_ms: self.core_busy_ms.clone(),
            duration_ms: self.duration_ms,
            queries: self.system_queries,
        }
    }

    /// Queries that were answered, whole or in part.
    pub fn answered(&self) -> u64 {
        self.responses_ms.len() as u64
    }
}

/// Nearest rank of a sorted sample; NaN of none.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let idx = quantile_rank(sorted.len(), share).saturating_sub(1);
    sorted.get(idx).copied().unwrap_or(f64::NAN)
}

/// The place from 1 of that quantile among so many; 0 of none.
pub(crate) fn quantile_rank(count: usize, share: f64) -> usize {
    // The subtraction keeps 0.99 · 100 at rank 99 although the product may round up to above 99.
    let rank = (share * count as f64 - 1e-9).ceil() as usize;
    rank.max(1).min(count)
}
