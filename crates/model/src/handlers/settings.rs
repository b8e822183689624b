//! Settings of a simulation of handlers.

use crate::error::{ModelError, checked, not_negative, positive};
use crate::simulate::{Arrivals, Times};
use schedule::board::{Learnt, RANGES_MAX};

/// Times that parallel search adds, and the quality of predictions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RangeCosts {
    /// Time from a wake-up to the first instruction of a sleeping handler, in µs.
    pub wake_us: f64,
    /// Time that a joining handler takes before its first range, in µs.
    pub join_us: f64,
    /// Time that each range beyond the first of a visit adds, in µs.
    pub range_us: f64,
    /// Work of a helper per unit of its time, in (0, 1].
    pub efficiency: f64,
    /// Standard deviation of the logarithm of predicted over true time.
    pub prediction_deviation: f64,
    /// Time of a range in µs, where queries are cut by their true time; `None` cuts them by their predicted time, as the
    /// policy wants it.
    pub range_time_us: Option<f64>,
    /// Ranges of a query at most.
    pub ranges_max: u32,
}

impl Default for RangeCosts {
    /// Measured on two handlers with queries of a millisecond and more; see `docs/parallelism.md`.
    fn default() -> RangeCosts {
        let learnt = Learnt::default();
        RangeCosts {
            wake_us: learnt.wake_ns / 1e3,
            join_us: learnt.join_ns / 1e3,
            range_us: 0.3,
            efficiency: learnt.efficiency,
            prediction_deviation: 0.5,
            range_time_us: None,
            ranges_max: RANGES_MAX,
        }
    }
}

/// Settings of a simulation of handlers.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlersSettings {
    /// Speed of each handler relative to the one that times were measured on, fast ones first.
    pub speeds: Vec<f64>,
    /// Arrival process.
    pub arrivals: Arrivals,
    /// Times of whole queries on one handler; parts are added up.
    pub times: Times,
    /// Upper limit on the time of a query, in ms; longer ones take this time.
    pub time_max_ms: Option<f64>,
    /// Time limit from a query's arrival, in ms. Expired queries are answered from the ranges searched.
    pub deadline_ms: Option<f64>,
    /// Longest wait of a query while others run, in ms; a tenth of its time limit at most.
    pub parked_max_ms: Option<f64>,
    /// Number of queries.
    pub queries: usize,
    /// Number of first queries left out of the figures.
    pub warm_up: usize,
    /// Costs of parallel search.
    pub costs: RangeCosts,
    /// Whether idle handlers are woken in random order, as where the speed of cores is not known, rather than the fast
    /// ones first.
    pub random_wakes: bool,
    /// Whether the events and decisions of the board are kept.
    pub keep_script: bool,
    /// Seed of all random streams.
    pub seed: u64,
}

impl HandlersSettings {
    /// Returns settings for equal handlers with a warm-up of a tenth of the queries.
    pub fn new(
        handlers: usize,
        arrivals: Arrivals,
        times: Times,
        queries: usize,
    ) -> HandlersSettings {
        HandlersSettings {
            speeds: vec![1.0; handlers],
            arrivals,
            times,
            time_max_ms: None,
            deadline_ms: None,
            parked_max_ms: None,
            queries,
            warm_up: queries / 10,
            costs: RangeCosts::default(),
            random_wakes: false,
            keep_script: false,
            seed: 1,
        }
    }

    /// Returns the work that all handlers do in a unit of time, in handlers of speed 1.
    pub fn capacity(&self) -> f64 {
        self.speeds.iter().sum()
    }

    pub(super) fn check(&self) -> Result<(), ModelError> {
        let handlers = self.speeds.len();
        checked(
            "the number of handlers",
            handlers as f64,
            handlers >= 1,
            "1 or more",
        )?;
        for &speed in &self.speeds {
            positive("the speed of a handler", speed)?;
        }
        positive("the number of queries", self.queries as f64)?;
        if self.warm_up >= self.queries {
            return Err(ModelError::Conflict(
                "the warm-up must be shorter than the run",
            ));
        }
        let costs = &self.costs;
        not_negative("the time of a wake-up (µs)", costs.wake_us)?;
        not_negative("the time of joining (µs)", costs.join_us)?;
        not_negative("the time of a further range (µs)", costs.range_us)?;
        not_negative("the deviation of predictions", costs.prediction_deviation)?;
        let (efficiency, ranges_max) = (costs.efficiency, costs.ranges_max);
        checked(
            "the efficiency",
            efficiency,
            efficiency > 0.0 && efficiency <= 1.0,
            "in (0, 1]",
        )?;
        checked(
            "the ranges of a query",
            f64::from(ranges_max),
            ranges_max >= 1,
            "1 or more",
        )?;
        if let Some(range_time_us) = costs.range_time_us {
            positive("the time of a range (µs)", range_time_us)?;
        }
        if let Some(time_max_ms) = self.time_max_ms {
            positive("the longest time of a query (ms)", time_max_ms)?;
        }
        if let Some(deadline_ms) = self.deadline_ms {
            positive("the deadline (ms)", deadline_ms)?;
        }
        if let Some(parked_max_ms) = self.parked_max_ms {
            not_negative("the longest wait (ms)", parked_max_ms)?;
        }
        Ok(())
    }
}
