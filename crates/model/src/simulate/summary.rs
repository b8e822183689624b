//! Combined figures of several runs of one set-up, with their confidence.

use super::engine::{Settings, run};
use super::machine::Layout;
use super::report::sorted_quantile;
use crate::energy::Activity;
use crate::error::ModelError;
use crate::simulate::assignment::Assignment;
use stats::Estimate;

/// Figures of several runs with different seeds. Quantiles are taken over all responses together, never
/// as means of quantiles; their error comes from their spread between runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Offered load as requested, in queries per second.
    pub rate_per_s: f64,
    /// Mean offered work over mean capacity, of the busiest cores; 1 and more is overload.
    pub load: f64,
    /// Mean share of cores busy or held by a gang.
    pub utilisation: f64,
    /// Number of counted queries, over all runs.
    pub offered: u64,
    /// Number of counted queries refused by a full queue.
    pub refused: u64,
    /// Number of counted queries not started before the deadline.
    pub expired: u64,
    /// Number of counted queries answered in part.
    pub partial: u64,
    /// Mean wait before the first part starts.
    pub wait_ms: f64,
    /// Share of arrivals that found no idle core.
    pub p_wait: f64,
    /// Mean response time, estimated over runs.
    pub response: Estimate,
    /// 99th percentile, estimated over runs; used for its spread only.
    pub p99: Estimate,
    /// Activity of the cores, for [`energy`](crate::energy).
    pub activity: Activity,
    responses_ms: Vec<f64>,
}

impl Summary {
    /// Returns the response time that a `share` of all answers does not exceed, or `None` if fewer than
    /// ten lie beyond it, since the figure would be chance.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let beyond = self.responses_ms.len() as f64 * (1.0 - share);
        (beyond >= 10.0 - 1e-6).then(|| sorted_quantile(&self.responses_ms, share))
    }

    /// Returns whether waits grow with the length of the run, so that its figures are meaningless.
    pub fn is_overloaded(&self) -> bool {
        self.load >= 1.0
    }

    /// Returns all response times, ascending.
    pub fn responses_ms(&self) -> &[f64] {
        &self.responses_ms
    }
}

/// Returns the offered work over the capacity with all cores busy: by means, and for the busiest group
/// of cores if partitions are pinned. In a gang of all parts, cores that wait for the slowest part
/// count as busy; for parts drawn independently this underestimates their wait.
pub(crate) fn load(settings: &Settings) -> f64 {
    let Settings { machine, times, .. } = settings;
    let cores = machine.cores.len();
    let per_ms = settings.arrivals.rate_per_s() / 1e3;
    match settings.layout {
        Layout::Shared | Layout::PerCore(_) => per_ms * times.work_ms() / machine.capacity(),
        Layout::Gang => {
            let together = (cores / times.parts().min(cores)) as f64;
            per_ms * times.slowest_ms() / together * cores as f64 / machine.capacity()
        }
        Layout::Pinned { groups } => {
            let works_ms = times.part_works_ms();
            let of_group = |group: usize| {
                let work_ms: f64 = works_ms.iter().skip(group).step_by(groups).sum();
                per_ms * work_ms / machine.capacity_of((group..cores).step_by(groups))
            };
            (0..groups).map(of_group).fold(0.0, f64::max)
        }
    }
}

/// Runs a set-up `runs` times, with consecutive seeds from that of the settings. `assignment` returns a
/// fresh assignment for each run.
///
/// # Errors
/// The errors of [`run`].
pub fn summarise<A: Assignment>(
    settings: &Settings,
    runs: usize,
    mut assignment: impl FnMut() -> A,
) -> Result<Summary, ModelError> {
    let mut summary = Summary {
        rate_per_s: settings.arrivals.rate_per_s(),
        load: load(settings),
        utilisation: 0.0,
        offered: 0,
        refused: 0,
        expired: 0,
        partial: 0,
        wait_ms: 0.0,
        p_wait: 0.0,
        response: Estimate::of(&[]),
        p99: Estimate::of(&[]),
        activity: Activity::default(),
        responses_ms: Vec::new(),
    };
    let (mut means, mut tails) = (Vec::new(), Vec::new());
    for number in 0..runs.max(1) as u64 {
        let seed = settings.seed.wrapping_add(number);
        let report = run(
            &Settings {
                seed,
                ..settings.clone()
            },
            &mut assignment(),
        )?;
        summary.utilisation += report.utilisation / runs as f64;
        summary.offered += report.offered;
        summary.refused += report.refused;
        summary.expired += report.expired;
        summary.partial += report.partial;
        summary.wait_ms += report.wait_ms / runs as f64;
        summary.p_wait += report.arrivals_finding_all_busy / runs as f64;
        summary.activity.add(&report.activity());
        means.push(report.response_ms());
        tails.push(report.quantile_ms(0.99));
        summary.responses_ms.extend(report.responses_ms);
    }
    summary.response = Estimate::of(&means);
    summary.p99 = Estimate::of(&tails);
    summary.responses_ms.sort_unstable_by(f64::total_cmp);
    Ok(summary)
}
