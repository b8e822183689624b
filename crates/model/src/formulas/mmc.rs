//! M/M/c: waits and response times on c equal servers.
//!
//! Poisson arrivals of λ queries a second, exponential service of rate μ on each of c servers, one
//! queue in order of arrival, no abandonment. Exact. With θ = cμ − λ and C by Erlang:
//!
//! P(wait > t)     = C·e^(−θt)
//! P(response > t) = e^(−μt) + Cμ·(e^(−μt) − e^(−θt)) / (θ − μ)
//!
//! Sources: Erlang 1917; Kleinrock, Queueing Systems I, 1975, section 3.5; Gross & Harris,
//! Fundamentals of Queueing Theory, section 2.3 (the distribution of the response).

use super::erlang::{erlang_b, erlang_c};
use crate::error::{ModelError, stable};
use stats::roots::time_at_level;

/// Assumptions of the model, shown with its answers.
pub const ASSUMPTIONS: &str = "\
Poisson arrivals; exponential search times; equal servers; one queue in order of arrival; \
nobody gives up; steady state";

/// An M/M/c queue below saturation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mmc {
    rate_per_s: f64,
    service_per_s: f64,
    servers: usize,
    p_wait: f64,
}

impl Mmc {
    /// Returns the queue of `rate_per_s` arrivals (λ) at `servers` servers (c) of `service_per_s` (μ)
    /// each.
    ///
    /// # Errors
    /// [`ModelError::Overloaded`] if λ ≥ cμ; [`ModelError::Outside`] if a number is not finite or out
    /// of range.
    pub fn new(
        rate_per_s: f64,
        service_per_s: f64,
        servers_count: usize,
    ) -> Result<Mmc, ModelError> {
        let load = stable(rate_per_s, service_per_s, servers_count)?;
        let p_wait = erlang_c(load.servers, rate_per_s / service_per_s, load.spare());
        Ok(Mmc {
            rate_per_s,
            service_per_s,
            servers: load.servers,
            p_wait,
        })
    }

    /// Returns the arrival rate λ, in queries per second.
    pub fn rate_per_s(&self) -> f64 {
        self.rate_per_s
    }

    /// Returns the number of servers, c.
    pub fn servers(&self) -> usize {
        self.servers
    }

    /// Returns the service rate μ of one server, in queries per second.
    pub fn service_per_s(&self) -> f64 {
        self.service_per_s
    }

    /// Returns the mean share of busy servers, ρ.
    pub fn utilisation(&self) -> f64 {
        self.rate_per_s / (self.service_per_s * self.servers as f64)
    }

    /// Returns the share of arrivals lost in a system without a queue: Erlang B.
    pub fn p_blocked(&self) -> f64 {
        erlang_b(self.servers, self.rate_per_s / self.service_per_s)
    }

    /// Returns the share of arrivals that wait: Erlang C. By PASTA also the share of time in which all
    /// servers are busy.
    pub fn p_wait(&self) -> f64 {
        self.p_wait
    }

    /// Returns the mean time on a server.
    pub fn service_ms(&self) -> f64 {
        1e3 / self.service_per_s
    }

    /// Returns the mean wait in the queue, Wq.
    pub fn wait_ms(&self) -> f64 {
        1e3 * self.p_wait / self.spare_per_s()
    }

    /// Returns the mean time from arrival to answer, W.
    pub fn response_ms(&self) -> f64 {
        self.wait_ms() + self.service_ms()
    }

    /// Returns the mean number that wait, Lq = λ·Wq (Little 1961).
    pub fn queue_length(&self) -> f64 {
        self.rate_per_s * self.wait_ms() / 1e3
    }

    /// Returns the mean number waiting or in service, L = λ·W.
    pub fn in_system(&self) -> f64 {
        self.rate_per_s * self.response_ms() / 1e3
    }

    /// Returns the share of queries that wait longer than `time_ms`.
    pub fn wait_exceeds(&self, time_ms: f64) -> f64 {
        self.p_wait * (-self.spare_per_s() * time_ms / 1e3).exp()
    }

    /// Returns the share of queries that take longer than `time_ms` from arrival to answer.
    pub fn response_exceeds(&self, time_ms: f64) -> f64 {
        let time_s = time_ms / 1e3;
        let (service, spare) = (self.service_per_s, self.spare_per_s());
        // Computes (e^(−μt) − e^(−θt)) / (θ − μ) without cancellation, also for θ near or at μ.
        let apart = (spare - service).abs();
        let slower = (-service.min(spare) * time_s).exp();
        let between = if apart * time_s < 1e-300 {
            time_s
        } else {
            -(-apart * time_s).exp_m1() / apart
        };
        (-service * time_s).exp() + self.p_wait * service * slower * between
    }

    /// Returns the wait that a `share` (for example 0.99) of queries does not exceed; 0 if at least
    /// that share does not wait.
    pub fn wait_quantile_ms(&self, share: f64) -> f64 {
        let beyond = 1.0 - share;
        if self.p_wait <= beyond {
            return 0.0;
        }
        1e3 * (self.p_wait / beyond).ln() / self.spare_per_s()
    }

    /// Returns the response time that a `share` (for example 0.99) of queries does not exceed.
    pub fn response_quantile_ms(&self, share: f64) -> f64 {
        time_at_level(1.0 - share, self.service_ms(), |time_ms| {
            self.response_exceeds(time_ms)
        })
    }

    /// Returns θ = cμ − λ, the spare capacity in queries per second.
    fn spare_per_s(&self) -> f64 {
        // Of the exact product, as in `stable`.
        self.service_per_s
            .mul_add(self.servers as f64, -self.rate_per_s)
    }
}
