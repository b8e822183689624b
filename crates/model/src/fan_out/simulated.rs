//! What do n servers do that all see the same arrivals?

use crate::error::{ModelError, servers};
use crate::simulate::recursion::{Cores, Sharing};
use crate::simulate::{Arrivals, Streams, Times};

/// Servers that each hold a slice of the documents. Every query asks all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct FanOut {
    /// Servers, 1 to 10,000 and beyond.
    pub servers: usize,
    /// Cores of each.
    pub cores: usize,
    /// Queries to the whole.
    pub arrivals: Arrivals,
    /// Part times of one server; drawn for each server by itself.
    pub times: Times,
    /// Queries.
    pub queries: usize,
    /// How many of them, from the first, are left out.
    pub warm_up: usize,
    /// Of all chance.
    pub seed: u64,
}

impl FanOut {
    /// The chance that is left, and the moments at which queries arrive: the same for all servers.
    pub(super) fn arrivals_ms(&self) -> Result<(Streams, Vec<f64>), ModelError> {
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

/// Response times of the slowest server for each query, and of one server; both ascending, in ms.
///
/// Costs a step of the recursion a query and server: a second for about ten million on one core.
///
/// # Errors
/// [`ModelError::Outside`] or [`ModelError::Conflict`] where settings are out of range.
pub fn simulate(fan_out: &FanOut) -> Result<(Vec<f64>, Vec<f64>), ModelError> {
    let count = servers("the number of servers", fan_out.servers)?;
    servers("the number of cores", fan_out.cores)?;
    let (mut streams, arrivals_ms) = fan_out.arrivals_ms()?;
    let mut source = fan_out.times.source()?;
    let mut parts_ms = vec![0.0; fan_out.times.parts()];
    let mut slowest_ms = vec![0.0f64; fan_out.queries];
    let mut of_one_ms = Vec::new();
    for server in 0..count {
        let mut cores = Cores::new(fan_out.cores, Sharing::Shared);
        for (slowest, &arrived_ms) in slowest_ms.iter_mut().zip(&arrivals_ms) {
            source.fill(&mut streams.times, &mut parts_ms);
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
