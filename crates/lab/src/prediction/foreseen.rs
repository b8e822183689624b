//! Predicted and measured times, and the circumstances of their prediction.

use super::heavier::Heavier;
use load::Times;

/// Predicted and measured times of one server at one rate.
#[derive(Debug)]
pub(crate) struct Foreseen {
    pub(crate) served: &'static str,
    pub(crate) rate_qps: f64,
    /// Utilisation of the busiest handler or of all cores, whichever is higher.
    pub(crate) load: f64,
    /// Whether `load` is the utilisation of the cores.
    pub(crate) by_cores: bool,
    pub(crate) rounds: Vec<Round>,
}

/// Predicted and measured times of one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Round {
    pub(crate) measured: Both,
    /// Times predicted from single-client runs.
    pub(crate) predicted: Both,
    /// Times predicted with the measured searches of this run: the remaining error excludes search
    /// times.
    pub(crate) replayed: Both,
    /// Total time of the same searches by a single client, in ms.
    pub(crate) alone_ms: f64,
}

/// Response times from the intended instant to the answer, and times in servers from the queues of the
/// index servers to the end of the slowest search.
#[derive(Debug, Clone, Default)]
pub(crate) struct Both {
    pub(crate) response: Times,
    pub(crate) in_servers: Times,
    /// Total handler time of all searches, in ms.
    pub(crate) searching_ms: f64,
}

/// Queries and circumstances of a prediction.
pub(crate) struct Made {
    pub(crate) queries: Heavier,
    pub(crate) steadiness: Vec<Steadiness>,
    pub(crate) cores_count: usize,
}

/// Stability of a server as seen by single-client runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Steadiness {
    pub(crate) name: &'static str,
    /// Pace of the quickest and of the slowest run: search times over the mean of the same queries.
    pub(crate) quickest: f64,
    pub(crate) slowest: f64,
    /// Upper bound on the relative slow-down of a search whose handler slept.
    pub(crate) cold_share: f64,
}
