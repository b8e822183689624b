//! Policies under load: runs, their figures, and the number and duration of rounds.
use super::spin::SpinClock;
use crate::experiment::Arm;
use crate::laboratory::Depth;
use load::{SelfCheck, Summary, Times};
use std::time::Duration;

/// Upper limit on the duration of a round's run, exceeded only where more than [`ROUNDS_MAX`] rounds would be needed
/// otherwise.
const ROUND_MAX: Duration = Duration::from_millis(1_500);
/// Upper limit on the rounds: each keeps the histograms of its times, 2.5 MB a policy and load.
const ROUNDS_MAX: usize = 30;
/// Upper limit on the length of the burst.
const BURST_MAX: Duration = Duration::from_secs(1);
/// Share of rounds in which ranges spin; the client takes less of the machine there, and times vary less.
const SPUN_SHARE: f64 = 0.4;

/// Load on a server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Offered {
    /// Poisson arrivals at a share of the sequential capacity.
    Load(f64),
    /// Poisson arrivals for a second, from an idle server.
    Burst(f64),
    /// Clients that always wait for an answer.
    Saturation,
}

/// One policy under one load, with real queries.
#[derive(Debug)]
pub(crate) struct ServedCell {
    pub(crate) arm: usize,
    pub(crate) offered: Offered,
    pub(crate) rate_qps: f64,
    pub(crate) rounds: Vec<ServedRound>,
}

/// A run of a cell.
#[derive(Debug)]
pub(crate) struct ServedRound {
    pub(crate) summary: Summary,
    /// Whether it lasted to its end and other guests left the cores alone.
    pub(crate) is_whole: bool,
    /// Mean number of handlers that took ranges of a query, where answers tell it.
    pub(crate) degree: Option<f64>,
    /// Time of handlers on cores over the time of searches, which includes waits of parked ones.
    pub(crate) work_share: Option<f64>,
}

/// One policy under one load, with ranges that spin.
#[derive(Debug)]
pub(crate) struct SpunCell {
    pub(crate) arm: usize,
    pub(crate) load: f64,
    pub(crate) clock: SpinClock,
    pub(crate) rounds: Vec<SpunRound>,
}

/// A run of a cell, and its simulation.
#[derive(Debug, Default)]
pub(crate) struct SpunRound {
    pub(crate) measured: Times,
    pub(crate) simulated: Times,
    pub(crate) lag: Times,
    /// Mean number of handlers that took ranges of a query.
    pub(crate) degree: f64,
    pub(crate) is_whole: bool,
}

/// Results of all policies.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) arms: Vec<Arm>,
    pub(crate) handlers: usize,
    /// Sequential throughput at saturation, which loads of real queries are shares of.
    pub(crate) capacity_qps: f64,
    /// Description of the queries and of the times of ranges that spin.
    pub(crate) queries: String,
    pub(crate) spun_times: String,
    pub(crate) served: Vec<ServedCell>,
    pub(crate) spun: Vec<SpunCell>,
    pub(crate) self_check: Option<SelfCheck>,
}

impl Offered {
    /// Returns the name: `load 0.5`, `burst 0.9`, `saturation`.
    pub(crate) fn name(self) -> String {
        match self {
            Offered::Load(share) => format!("load {share}"),
            Offered::Burst(share) => format!("burst {share}"),
            Offered::Saturation => "saturation".into(),
        }
    }
}

/// Number of rounds and duration of their runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rounds {
    pub(super) served: usize,
    pub(super) spun: usize,
    pub(super) duration: Duration,
    pub(super) warm_up: Duration,
    /// Length of the burst, and of the pause after it.
    pub(super) burst: Duration,
}

impl Rounds {
    pub(super) fn of(depth: Depth) -> Rounds {
        let each = depth.duration.as_secs_f64() / ROUND_MAX.as_secs_f64();
        let most = (ROUNDS_MAX / depth.repetitions.max(1)).max(1) as f64;
        let each = each.ceil().clamp(1.0, most);
        let duration = depth.duration.div_f64(each);
        let served = depth.repetitions * each as usize;
        Rounds {
            served,
            spun: ((served as f64 * SPUN_SHARE) as usize).max(3),
            duration,
            warm_up: depth.warm_up.min(duration / 5),
            burst: BURST_MAX.min(duration),
        }
    }
}
