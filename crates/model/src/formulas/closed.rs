//! M/M/c//N: closed loop of N clients that think, ask and wait for the answer.
//!
//! A closed loop has a fixed number of clients, exponential think times, and exponential service on c
//! servers. It cannot be overloaded: it slows its own arrivals down, so its waits differ from those of
//! an open loop at the same throughput. Exact, by the birth-death process of queries in the system.
//! Source: Kleinrock, Queueing Systems I, 1975, section 3.8 (machine repair with c repairmen).

use crate::error::{ModelError, not_negative, positive, servers};

/// Assumptions of the model, shown with its answers.
pub const ASSUMPTIONS: &str = "\
a fixed number of clients, each with one query at a time; exponential think and search times; \
equal servers; one queue in order of arrival; steady state";

/// Steady state of a closed loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closed {
    /// Throughput X, in answered queries per second.
    pub throughput_per_s: f64,
    /// Mean time from a client's query to its answer, R = N/X − Z.
    pub response_ms: f64,
    /// Mean wait in the queue.
    pub wait_ms: f64,
    /// Mean share of busy servers.
    pub utilisation: f64,
    /// Mean number of queries waiting or in service.
    pub in_system: f64,
}

impl Closed {
    /// Returns the steady state of `clients` clients (N) with mean think time `think_ms` (Z) on
    /// `servers` servers of `service_per_s` each.
    ///
    /// # Errors
    /// [`ModelError::Outside`] if a number is not finite or out of range, or if there are no clients.
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

/// Returns the mean number of queries in the system and the mean number of busy servers. `think` is the
/// think time in units of the service time.
fn means(clients: usize, servers: usize, think: f64) -> (f64, f64) {
    // Relative weights of the states. They are scaled down whenever they grow large, so any number of
    // clients fits.
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
