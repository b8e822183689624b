//! M/M/c//N: what do N clients get that think, ask, wait for the answer, and think again?
//!
//! A closed loop: a fixed number of clients, exponential think times, exponential service on c
//! servers. It cannot be overloaded; it slows its own arrivals down, so its waits are not those of
//! an open loop at the same throughput. Exact, by the birth and death of queries in the system.
//! Source: Kleinrock, Queueing Systems I, 1975, section 3.8 (machine repair with c repairmen).

use crate::error::{ModelError, not_negative, positive, servers};

/// What the model assumes; to be shown with its answers.
pub const ASSUMPTIONS: &str = "\
a fixed number of clients, each with one query at a time; exponential think and search times; \
equal servers; one queue in order of arrival; steady state";

/// A closed loop in its steady state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closed {
    /// Queries answered each second, X.
    pub throughput_per_s: f64,
    /// Mean time from a client's query to its answer, R = N/X − Z.
    pub response_ms: f64,
    /// Mean time in the queue.
    pub wait_ms: f64,
    /// Mean share of the servers that is busy.
    pub utilisation: f64,
    /// Mean number of queries that wait or are served.
    pub in_system: f64,
}

impl Closed {
    /// `clients` clients (N) that think `think_ms` on average (Z), on `servers` servers of
    /// `service_per_s` each.
    ///
    /// # Errors
    /// [`ModelError::Outside`] for numbers that are none, and for no clients.
    pub fn new(
        clients: usize,
        think_ms: f64,
        service_per_s: f64,
        servers_count: usize,
    ) -> Result<Closed, ModelError> {
        let clients = servers("the number of clients", clients)?;
        let servers = servers("the number of servers", servers_count)?;
        not_negative("the think time (ms)", think_ms)?;
        positive("the service rate (queries/s)", service_per_s)?;
        let (in_system, busy) = if think_ms == 0.0 {
            (clients as f64, clients.min(servers) as f64)
        } else {
            means(clients, servers, think_ms * service_per_s / 1e3)
        };
        let throughput_per_s = busy * service_per_s;
        let response_ms = 1e3 * in_system / throughput_per_s;
        Ok(Closed {
            throughput_per_s,
            response_ms,
            wait_ms: (response_ms - 1e3 / service_per_s).max(0.0),
            utilisation: busy / servers as f64,
            in_system,
        })
    }
}

/// Mean number in the system and mean number of busy servers. `think` is the think time in
/// service times.
fn means(clients: usize, servers: usize, think: f64) -> (f64, f64) {
    // Weights of the states relative to each other; brought down whenever they grow large, so that
    // any number of clients fits.
    let (mut weight, mut sum, mut in_system, mut busy) = (1.0f64, 1.0f64, 0.0f64, 0.0f64);
    for number in 1..=clients {
        let serving = number.min(servers) as f64;
        weight *= (clients - number + 1) as f64 / (think * serving);
        sum += weight;
        in_system += weight * number as f64;
        busy += weight * serving;
        if sum > 1e200 {
            let scale = 1.0 / sum;
            weight *= scale;
            in_system *= scale;
            busy *= scale;
            sum = 1.0;
        }
    }
    (in_system / sum, busy / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_takes_what_the_clients_do_not_think() {
        for clients in [1, 7, 8, 9, 64, 5_000] {
            for think_ms in [0.0, 1.0, 500.0] {
                let closed = Closed::new(clients, think_ms, 20.0, 8).unwrap();
                let by_littles_law = 1e3 * clients as f64 / closed.throughput_per_s - think_ms;
                assert!((closed.response_ms / by_littles_law - 1.0).abs() < 1e-9);
                assert!(closed.utilisation <= 1.0 + 1e-12);
            }
        }
    }

    #[test]
    fn one_client_never_waits() {
        let one = Closed::new(1, 500.0, 20.0, 1).unwrap();
        assert!((one.response_ms - 50.0).abs() < 1e-9);
        assert!((one.throughput_per_s - 1e3 / 550.0).abs() < 1e-9);
    }
}
