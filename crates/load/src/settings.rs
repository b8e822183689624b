//! What load is offered, to whom, for how long?
use crate::random::{Purpose, Random};
use crate::{Arrivals, LoadError, QueryStream, Target};
use std::time::Duration;

/// A run. Fields may be changed before it; `Settings::open` and `Settings::closed` fill in the rest.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whom to ask.
    pub target: Target,
    /// What to ask, in which order.
    pub queries: QueryStream,
    /// When to ask.
    pub load: Load,
    /// How long requests are measured.
    pub duration: Duration,
    /// How long requests are sent before that, which no figure counts. Default none.
    pub warm_up: Duration,
    /// What schedule, think times and query orders are drawn from. Default 1.
    pub seed: u64,
    /// How long a client waits, from the intended instant. Default 30 s.
    pub timeout: Duration,
    /// How long answers are waited for after the last request; at most `timeout`, the default.
    pub drain: Duration,
    /// Connections at the same time, in an open loop; a request that finds none free is dropped.
    /// Default 1,000.
    pub connections_max: usize,
}

/// How requests follow each other.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Load {
    /// Requests come when they come, whatever the server does.
    Open {
        /// The process.
        arrivals: Arrivals,
    },
    /// Each client waits for its answer, thinks, and asks again: the load bends to the server.
    Closed {
        /// How many clients.
        clients: usize,
        /// What they do between two requests.
        think: Think,
    },
}

/// The time between an answer and a client's next request.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Think {
    /// None: a stress test.
    None,
    /// Always the same.
    Fixed(Duration),
    /// Exponential, not truncated, with this mean.
    Exponential(Duration),
    /// Uniform between the two.
    Uniform(Duration, Duration),
}

impl Settings {
    /// An open loop.
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

    /// A closed loop.
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
            Think::Exponential(mean) => (mean.as_nanos() as f64 * random.exponential()) as u64,
            Think::Uniform(from, to) => {
                let span_ns = to.saturating_sub(from).as_nanos() as f64;
                from.as_nanos() as u64 + (span_ns * random.uniform()) as u64
            }
        }
    }

    pub(crate) fn random(seed: u64, client: u64) -> Random {
        Random::new(seed, Purpose::Think { client })
    }
}
