//! Settings of a run: target, queries, load and durations.
use crate::random::{Purpose, Random};
use crate::{Arrivals, LoadError, QueryStream, Target};
use std::time::Duration;

/// Settings of a run. `Settings::open` and `Settings::closed` fill in defaults; fields may be changed
/// before the run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Endpoint under test.
    pub target: Target,
    /// Queries, in order.
    pub queries: QueryStream,
    /// Load to offer.
    pub load: Load,
    /// Duration of the measurement.
    pub duration: Duration,
    /// Duration of the warm-up before it, which no figure includes. Default none.
    pub warm_up: Duration,
    /// Seed of schedule, think times and query orders. Default 1.
    pub seed: u64,
    /// Client timeout, from the intended instant. Default 30 s.
    pub timeout: Duration,
    /// Wait for answers after the last request; at most `timeout`, the default.
    pub drain: Duration,
    /// Upper limit on concurrent connections in an open loop; a request that finds none free is
    /// dropped. Default 1,000.
    pub connections_max: usize,
}

/// Load model.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Load {
    /// Requests arrive by a schedule, independent of the server.
    Open {
        /// Arrival process.
        arrivals: Arrivals,
    },
    /// Each client waits for its answer, thinks, and sends again, so the load adapts to the server.
    Closed {
        /// Number of clients.
        clients: usize,
        /// Think time between two requests of a client.
        think: Think,
    },
}

/// Time between an answer and the client's next request.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Think {
    /// No think time: a stress test.
    None,
    /// A constant think time.
    Fixed(Duration),
    /// Exponential think time with this mean, not truncated.
    Exponential(Duration),
    /// Uniform think time between two limits.
    Uniform(Duration, Duration),
}

impl Settings {
    /// Returns the settings of an open loop.
    pub fn open(
        target: Target,
        queries: QueryStream,
        arrivals: Arrivals,
        duration: Duration,
    ) -> Settings {
        Settings {
            target,
            queries,
            load: Load::Open { arrivals },
            duration,
            warm_up: Duration::ZERO,
            seed: 1,
            timeout: Duration::from_secs(30),
            drain: Duration::from_secs(30),
            connections_max: 1000,
        }
    }

    /// Returns the settings of a closed loop.
    pub fn closed(
        target: Target,
        queries: QueryStream,
        clients: usize,
        think: Think,
        duration: Duration,
    ) -> Settings {
        let arrivals = Arrivals::Constant { rate_qps: 1.0 };
        Settings {
            load: Load::Closed { clients, think },
            ..Settings::open(target, queries, arrivals, duration)
        }
    }

    pub(crate) fn validate(&self) -> Result<(), LoadError> {
        if self.duration.is_zero() {
            return Err(LoadError::setting(
                "duration",
                "nothing is measured in no time",
            ));
        }
        if self.timeout.is_zero() {
            return Err(LoadError::setting("timeout", "no answer comes in no time"));
        }
        if self.queries.is_empty() {
            return Err(LoadError::setting(
                "queries",
                "there are none; give at least one",
            ));
        }
        if !(1..=60_000).contains(&self.connections_max) {
            return Err(LoadError::setting(
                "connections",
                "give a number from 1 to 60,000",
            ));
        }
        match &self.load {
            Load::Open { arrivals } => arrivals.validate(self.duration),
            Load::Closed {
                clients: 1..=10_000,
                ..
            } => Ok(()),
            Load::Closed { .. } => Err(LoadError::setting(
                "closed",
                "give a number of clients from 1 to 10,000",
            )),
        }
    }
}

impl Think {
    pub(crate) fn draw_ns(&self, random: &mut Random) -> u64 {
        match *self {
            Think::None => 0,
            Think::Fixed(time) => time.as_nanos() as u64,
            Think::Exponential(mean) => {
                (mean.as_nanos() as f64 * random.exponential_by_inversion()) as u64
            }
            Think::Uniform(from, to) => {
                let span_ns = to.saturating_sub(from).as_nanos() as f64;
                from.as_nanos() as u64 + (span_ns * random.uniform()) as u64
            }
        }
    }

    pub(crate) fn random(seed: u64, client: u64) -> Random {
        Purpose::Think { client }.stream(seed)
    }
}
