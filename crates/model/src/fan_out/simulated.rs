//! Simulation of n servers that see the same arrivals, and of whose queries each takes alike on all.

use super::slices::Slices;
use crate::error::{ModelError, servers};
use crate::simulate::recursion::{Cores, Sharing};
use crate::simulate::{Arrivals, Streams, TimeSource, Times};

/// Servers that each hold one slice of the documents. Every query goes to all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct FanOut {
    /// Number of servers; 10,000 and more are feasible.
    pub servers: usize,
    /// Cores per server.
    pub cores: usize,
    /// Arrivals of queries at the front-end.
    pub arrivals: Arrivals,
    /// Part times of a query on one server.
    pub times: Times,
    /// Likeness of the times of one query on different servers.
    pub slices: Slices,
    /// Number of queries.
    pub queries: usize,
    /// Length of the warm-up: the number of first queries left out of the figures.
    pub warm_up: usize,
    /// Seed of all random streams.
    pub seed: u64,
}

impl FanOut {
    /// Returns the remaining random streams and the arrival times in ms, which are the same for all
    /// servers.
    pub(super) fn arrivals_ms(&self) -> Result<(Streams, Vec<f64>), ModelError> {
        self.slices.check()?;
        if self.warm_up >= self.queries {
            return Err(ModelError::Conflict(
                "the warm-up must be shorter than the run",
            ));
        }
        let mut streams = Streams::of(self.seed);
        let mut clock = self.arrivals.clock(self.queries)?;
        let arrivals_ms = (0..self.queries).map(|_| clock.next_ms(&mut streams.arrivals));
        let arrivals_ms = arrivals_ms.collect();
        Ok((streams, arrivals_ms))
    }
}

/// Returns the response time of the slowest server for each query, and the response times of a single
/// server; both ascending, in ms.
///
/// Costs one step of the recursion per query and server: about ten million steps a second on one core.
///
/// # Errors
/// [`ModelError::Outside`] or [`ModelError::Conflict`] if a setting is out of range.
pub fn simulate(fan_out: &FanOut) -> Result<(Vec<f64>, Vec<f64>), ModelError> {
    let count = servers("the number of servers", fan_out.servers)?;
    servers("the number of cores", fan_out.cores)?;
    let (mut streams, arrivals_ms) = fan_out.arrivals_ms()?;
    let parts = fan_out.times.parts();
    let mut works = Works::of(fan_out, &mut streams)?;
    let mut parts_ms = vec![0.0; parts];
    let mut slowest_ms = vec![0.0f64; fan_out.queries];
    let mut of_one_ms = Vec::new();
    for server in 0..count {
        let mut cores = Cores::new(fan_out.cores, Sharing::Shared);
        let all = slowest_ms.iter_mut().zip(&arrivals_ms);
        for (query, (slowest, &arrived_ms)) in all.enumerate() {
            works.fill(query, &mut streams, &mut parts_ms);
            *slowest = slowest.max(cores.respond_ms(arrived_ms, &parts_ms));
        }
        if server == 0 {
            of_one_ms = slowest_ms[fan_out.warm_up..].to_vec();
        }
    }
    let mut slowest_ms = slowest_ms.split_off(fan_out.warm_up);
    slowest_ms.sort_unstable_by(f64::total_cmp);
    of_one_ms.sort_unstable_by(f64::total_cmp);
    Ok((slowest_ms, of_one_ms))
}

/// Part times of queries on one slice after another.
pub(super) struct Works<'a> {
    source: TimeSource<'a>,
    /// The queries' own times, one after the other; empty for independent slices.
    own_ms: Vec<f64>,
    imbalance: f64,
}

impl<'a> Works<'a> {
    /// Draws the queries' own times, where slices share them.
    pub(super) fn of(fan_out: &'a FanOut, streams: &mut Streams) -> Result<Works<'a>, ModelError> {
        let mut works = Works {
            source: fan_out.times.source()?,
            own_ms: Vec::new(),
            imbalance: 0.0,
        };
        if let Slices::Alike { imbalance } = fan_out.slices {
            works.imbalance = imbalance;
            works.own_ms = vec![0.0; fan_out.queries * fan_out.times.parts()];
            for parts_ms in works.own_ms.chunks_exact_mut(fan_out.times.parts()) {
                works.source.fill(&mut streams.times, parts_ms);
            }
        }
        Ok(works)
    }

    /// Fills in the part times of a query on the next slice.
    pub(super) fn fill(&mut self, query: usize, streams: &mut Streams, parts_ms: &mut [f64]) {
        if self.own_ms.is_empty() {
            return self.source.fill(&mut streams.times, parts_ms);
        }
        let factor = Slices::factor(self.imbalance, &mut streams.machine);
        let own_ms = &self.own_ms[query * parts_ms.len()..][..parts_ms.len()];
        for (part_ms, own_ms) in parts_ms.iter_mut().zip(own_ms) {
            *part_ms = own_ms * factor;
        }
    }
}
