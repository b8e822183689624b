//! What do several runs of one set-up say together, and how surely?

use super::engine::{Settings, run};
use super::interval::Estimate;
use super::machine::Layout;
use super::report::quantile;
use crate::energy::Activity;
use crate::error::ModelError;
use schedule::policy::Policy;

/// The figures of several runs with seeds of their own. Quantiles are of all responses together, never
/// means of quantiles; how far they may be off comes from their spread between runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Queries offered each second, as was asked for.
    pub rate_per_s: f64,
    /// Work that arrives over work that can be done, by means, of the busiest cores; 1 and more is overload.
    pub load: f64,
    /// Mean share of cores busy or held.
    pub utilisation: f64,
    /// Queries counted, in all runs.
    pub offered: u64,
    /// Of these: refused by a full queue,
    pub refused: u64,
    /// not begun before the deadline,
    pub expired: u64,
    /// answered in part.
    pub partial: u64,
    /// Mean wait before the first part begins.
    pub wait_ms: f64,
    /// Share of arrivals that found no idle core.
    pub p_wait: f64,
    /// Mean response, over runs.
    pub response: Estimate,
    /// The 99th percentile, over runs: for its spread only.
    pub p99: Estimate,
    /// What the cores did, for [`energy`](crate::energy).
    pub activity: Activity,
    responses_ms: Vec<f64>,
}

impl Summary {
    /// The response that a share of all answers does not exceed, or `None` where fewer than ten lie
    /// beyond it: then it is chance.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let beyond = self.responses_ms.len() as f64 * (1.0 - share);
        (beyond >= 10.0 - 1e-6).then(|| quantile(&self.responses_ms, share))
    }

    /// Whether waits grow as long as the run lasts, so that no figure means anything.
    pub fn is_overloaded(&self) -> bool {
        self.load >= 1.0
    }

    /// All responses, ascending.
    pub fn responses_ms(&self) -> &[f64] {
        &self.responses_ms
    }
}

/// Work offered over what the cores can do with all of them busy: by means, and of the busiest group of
/// cores where partitions are pinned. For a gang of all parts, cores that wait for the slowest part count
/// as busy; where parts are drawn independently of each other, they wait longer than this says.
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

/// Runs a set-up `runs` times, with seeds from that of the settings upwards. `policy` makes a fresh
/// policy for each run.
///
/// # Errors
/// As [`run`].
pub fn summarise<P: Policy>(
    settings: &Settings,
    runs: usize,
    mut policy: impl FnMut() -> P,
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
            &mut policy(),
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
