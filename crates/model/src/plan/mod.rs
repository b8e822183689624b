//! Smallest fleet that meets a latency target.
//!
//! A *slice* is the part of the documents held by one server; a query goes to one server of every
//! slice. A *replica* is a complete set of slices; replicas share the queries. So servers = slices ×
//! replicas, and each server splits a query into partitions.
//!
//! More slices make each search shorter and the fan-out wider; more replicas leave each server fewer
//! queries. For each number of slices and partitions, simulation finds the highest rate at which the
//! slowest slice meets the target, and hence the number of replicas. The plan with the fewest servers
//! wins; ties go to the lower response time.

mod replay;
mod search;
mod sensitivity;
mod server;

pub use replay::{CONTRADICTION_MIN, Checked, LOWER_SHARES, Replay};
pub use search::{Fleet, Told, plan, plan_watched};
pub use sensitivity::{WhatIf, sensitivity, sensitivity_watched};

use crate::error::{ModelError, checked, not_negative, positive, servers};
use crate::simulate::Searches;

/// A latency target: a share of queries answered within a time limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Share of queries, for example 0.99.
    pub share: f64,
    /// Time limit, in ms.
    pub response_ms: f64,
}

/// Correlation of the search times of one query over different slices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Alike {
    /// Documents are distributed by hash, so a query that is slow on one slice is slow on all: the
    /// slowest slice takes `imbalance` times the mean. (Hadjilambrou et al. 2019, figure 12: of terms
    /// with 1,000 postings or more, 97 % differ by less than a tenth between two halves.)
    Proportional {
        /// Slowest slice over the mean, at least 1.
        imbalance: f64,
    },
    /// Each slice draws its own time: pessimistic, unless the cause of slow answers is not the query.
    Independent,
}

/// Input of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Measured search times of one partition, or of several that are added up.
    pub searches: Searches,
    /// Core time of each of these queries beside its search, in the same order, in ms: front-end, merging,
    /// details, summaries, rendering. Spent once a query, whatever the slices. Empty for none.
    pub rest_ms: Vec<f64>,
    /// Number of documents to be searched, over the number in the measurement.
    pub documents_ratio: f64,
    /// Memory of the measured index, in GB; 0 for no memory limit.
    pub index_gb: f64,
    /// Offered load, in queries per second.
    pub rate_per_s: f64,
    /// Latency target.
    pub target: Target,
    /// Extra traffic that the fleet must carry, as a share of `rate_per_s`: 0.25 for a quarter.
    pub headroom: f64,
    /// Replicas beyond those needed for the traffic, so that a server may fail.
    pub spare_replicas: usize,
    /// Cores per server.
    pub cores: usize,
    /// Speed of a core; 1 for the core that the times were measured on.
    pub speed: f64,
    /// Memory per server, in GB.
    pub memory_gb: f64,
    /// Share of the gain that each doubling of partitions achieves: 1 for all of it, 0.95 if two
    /// partitions make a search 1.9 times as fast.
    pub split_efficiency: f64,
    /// Correlation of slices.
    pub alike: Alike,
    /// Upper limit on the planned share of busy cores of a server.
    pub utilisation_max: f64,
    /// Core time that every query takes in every partition beside its search (look-ups, messages), in
    /// ms. This is the cost of many slices and partitions.
    pub overhead_ms: f64,
    /// Time added to every response in which no core of a server works, such as that of the network, in ms.
    pub fixed_ms: f64,
    /// Upper limit on slices, and so on the fan-out.
    pub slices_max: usize,
    /// Queries per simulation; a wide fan-out uses more.
    pub queries: usize,
    /// Seed of all random streams.
    pub seed: u64,
}

impl Request {
    /// Returns a request with default settings: headroom of a quarter, no spare replica, 95 % gain of
    /// each doubling, cores busy at most 85 % of the time.
    pub fn new(searches: Searches, rate_per_s: f64, target: Target, cores: usize) -> Request {
        Request {
            searches,
            rest_ms: Vec::new(),
            documents_ratio: 1.0,
            index_gb: 0.0,
            rate_per_s,
            target,
            headroom: 0.25,
            spare_replicas: 0,
            cores,
            speed: 1.0,
            memory_gb: f64::INFINITY,
            split_efficiency: 0.95,
            alike: Alike::Proportional { imbalance: 1.1 },
            utilisation_max: 0.85,
            overhead_ms: 0.1,
            fixed_ms: 0.0,
            slices_max: 200,
            queries: 25_000,
            seed: 1,
        }
    }

    pub(crate) fn check(&self) -> Result<(), ModelError> {
        let Target { share, response_ms } = self.target;
        positive("the rate (queries/s)", self.rate_per_s)?;
        positive("the target (ms)", response_ms)?;
        checked(
            "the share of the target",
            share,
            share > 0.0 && share < 1.0,
            "between 0 and 1",
        )?;
        positive("the ratio of documents", self.documents_ratio)?;
        not_negative("the size of the index (GB)", self.index_gb)?;
        not_negative("the headroom", self.headroom)?;
        positive("the speed of a core", self.speed)?;
        not_negative("the fixed time (ms)", self.fixed_ms)?;
        not_negative("the overhead (ms)", self.overhead_ms)?;
        positive("the queries of a simulation", self.queries as f64)?;
        servers("the number of cores", self.cores)?;
        servers("the number of slices", self.slices_max)?;
        if let Alike::Proportional { imbalance } = self.alike {
            checked(
                "the imbalance of slices",
                imbalance,
                imbalance >= 1.0,
                "1 or more",
            )?;
        }
        let (gained, busy) = (self.split_efficiency, self.utilisation_max);
        checked(
            "the efficiency of splits",
            gained,
            gained > 0.5 && gained <= 1.0,
            "above 0.5, to 1",
        )?;
        checked(
            "the highest utilisation",
            busy,
            busy > 0.0 && busy < 1.0,
            "between 0 and 1",
        )?;
        if !self.rest_ms.is_empty() && self.rest_ms.len() != self.searches.queries() {
            return Err(ModelError::Conflict(
                "every query needs a time beside its search, or none has one",
            ));
        }
        for &rest_ms in &self.rest_ms {
            not_negative("the time of a query beside its search (ms)", rest_ms)?;
        }
        let work_ms = self.searches.work_ms() + self.rest_mean_ms();
        positive("the work of a query (ms)", work_ms)?;
        Ok(())
    }

    /// Returns the speed-up of a search by `partitions`.
    pub fn speed_up(&self, partitions: usize) -> f64 {
        let doublings = (partitions as f64).log2();
        partitions as f64 * self.split_efficiency.powf(doublings)
    }

    /// Returns the mean of [`Request::rest_ms`].
    pub fn rest_mean_ms(&self) -> f64 {
        self.rest_ms.iter().sum::<f64>() / self.rest_ms.len().max(1) as f64
    }

    /// Returns the search time on the slowest of `slices`, over that on a core of the measurement.
    pub(crate) fn slice_factor(&self, slices: usize) -> f64 {
        let imbalance = match self.alike {
            Alike::Proportional { imbalance } if slices > 1 => imbalance,
            _ => 1.0,
        };
        imbalance * self.documents_ratio / slices as f64 / self.speed
    }

    /// Returns the number of slices with independent times whose slowest decides; 1 if
    /// [`Request::slice_factor`] already includes it.
    pub(crate) fn independent_slices(&self, slices: usize) -> usize {
        match self.alike {
            Alike::Proportional { .. } => 1,
            Alike::Independent => slices,
        }
    }

    /// Returns the assumptions of the plan, one sentence each.
    pub fn assumptions(&self) -> Vec<String> {
        let mut list = vec![
            "search time is proportional to the documents of a slice".to_owned(),
            format!(
                "each doubling of partitions gains {:.0} % of a doubling of speed; parts are equal",
                100.0 * self.split_efficiency
            ),
            "queries come as a Poisson process, in random order, of the measured kind".to_owned(),
            match self.alike {
                Alike::Proportional { imbalance } => format!(
                    "a query takes alike on all slices; the slowest takes {imbalance} times the mean"
                ),
                Alike::Independent => {
                    "slices are slow independently of each other; a query waits for the \
                                       slowest"
                        .to_owned()
                }
            },
            format!(
                "traffic may grow by {:.0} % and cores are busy {:.0} % of the time at most, then too",
                100.0 * self.headroom,
                100.0 * self.utilisation_max
            ),
            format!(
                "a core has {} times the speed of the measured one; cores do not slow each other",
                self.speed
            ),
            format!(
                "each partition costs {} ms of a core beyond its search",
                self.overhead_ms
            ),
            match self.rest_ms.is_empty() {
                true => "front-end, details and summaries take no time of a core".to_owned(),
                false => format!(
                    "front-end, details, summaries and rendering take {:.3} ms of a core a query, once, shared by \
                     its slices, and hold the cores of its partitions meanwhile",
                    self.rest_mean_ms()
                ),
            },
            format!(
                "{:.3} ms of every answer pass without work of a server, such as on the network",
                self.fixed_ms
            ),
        ];
        if self.index_gb > 0.0 {
            list.push(format!(
                "{:.1} GB of index are spread over the slices and fit into {} GB of memory each",
                self.index_gb * self.documents_ratio,
                self.memory_gb
            ));
        } else {
            list.push("the index fits into memory".to_owned());
        }
        list
    }
}
