//! Response time of a query that fans out to many servers and waits for the slowest.
//!
//! By order statistics, for independent servers: all n answer within t with probability F(t)ⁿ, so the
//! q-quantile of the slowest is the q^(1/n)-quantile of one (Dean & Barroso, The Tail at Scale, 2013).
//! By simulation, for servers that see the same arrivals: shared arrivals correlate their waits, so the
//! independent answer is an upper bound. The servers are slices of the documents, on which one query takes
//! alike: its own time is common to all, times the imbalance of each ([`Slices`]).

mod hedge;
mod simulated;
mod slices;

pub use hedge::{HedgedLeaf, hedged_exceeds, simulate_hedged};
pub use simulated::{FanOut, simulate};
pub use slices::{IMBALANCE, Slices, alike_exceeds, alike_quantile_ms};

/// Assumptions of the order statistics, shown with their answers.
pub const ASSUMPTIONS: &str = "\
every query asks all servers and waits for the slowest; response times of servers are independent of \
each other and equally distributed (servers that share arrivals are more alike: then this is an upper \
bound)";

/// Assumptions of the formula for slices on which a query takes alike.
pub const ALIKE_ASSUMPTIONS: &str = "\
every query asks all slices and waits for the slowest; its own time, waits included, is the same on all, \
times a lognormal factor of each slice";

/// Returns the share of queries slower than a time that a share `server_exceeds` of one server's
/// answers exceed, with a fan-out of `servers`: 1 − (1 − p)ⁿ, exact also for tiny p.
pub fn slower_share(server_exceeds: f64, servers: usize) -> f64 {
    -(servers as f64 * (-server_exceeds).ln_1p()).exp_m1()
}

/// Returns the share of one server's answers that must meet a time limit for a `share` of queries to
/// meet it: share^(1/n).
pub fn server_share(share: f64, servers: usize) -> f64 {
    (share.ln() / servers as f64).exp()
}

/// Returns the response time in ms that a `share` of queries does not exceed, from an ascending sample
/// of one server's response times. Returns `None` if fewer than ten values of the sample lie beyond the
/// required quantile: the figure would be chance.
pub fn quantile_ms(server_responses_ms: &[f64], servers: usize, share: f64) -> Option<f64> {
    let beyond = beyond_quantile(server_responses_ms.len(), servers, share)?;
    let place = server_responses_ms.len() - 1 - beyond;
    server_responses_ms.get(place).copied()
}

/// Returns the number of values of a sample beyond that quantile, by nearest rank; `None` if the sample
/// is too small.
pub(crate) fn beyond_quantile(sample: usize, servers: usize, share: f64) -> Option<usize> {
    let beyond = -(share.ln() / servers as f64).exp_m1();
    if sample as f64 * beyond < 10.0 - 1e-6 {
        return None;
    }
    let rank = stats::quantile_rank(sample, server_share(share, servers));
    Some(sample - rank)
}

/// Published figures of Dean & Barroso 2013 beside those of the formula.
pub mod published {
    use super::slower_share;

    /// A published number and the computed one.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Example {
        /// Fan-out, in servers.
        pub servers: usize,
        /// Share of one server's answers that take over one second.
        pub server_exceeds: f64,
        /// Published share of queries over one second.
        pub published: f64,
        /// Share computed by 1 − (1 − p)ⁿ.
        pub ours: f64,
    }

    /// Returns both examples: "63 % of user requests will take more than one second" with 100 servers
    /// whose 99th percentile is one second, and "almost one in five" with 2,000 servers and one slow
    /// answer in 10,000.
    pub fn tail_at_scale() -> [Example; 2] {
        [(100, 1e-2, 0.63), (2000, 1e-4, 0.18)].map(|(servers, server_exceeds, published)| {
            Example {
                servers,
                server_exceeds,
                published,
                ours: slower_share(server_exceeds, servers),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_at_scale() {
        for example in published::tail_at_scale() {
            assert!(
                (example.ours - example.published).abs() < 0.005,
                "{example:?}"
            );
        }
        assert!((slower_share(0.01, 100) - (1.0 - 0.99f64.powi(100))).abs() < 1e-12);
        assert!(
            (slower_share(1e-18, 10_000) / 1e-14 - 1.0).abs() < 1e-9,
            "no digit is lost"
        );
    }

    #[test]
    fn quantiles_of_the_slowest() {
        let sample: Vec<f64> = (1..=100_000).map(f64::from).collect();
        // The median over 100 servers is the 0.5^(1/100) = 0.9930925 quantile of one server.
        assert_eq!(quantile_ms(&sample, 100, 0.5), Some(99_310.0));
        assert_eq!(quantile_ms(&sample, 1, 0.5), Some(50_000.0));
        assert_eq!(
            quantile_ms(&sample, 10_000, 0.99),
            None,
            "the sample is too small"
        );
        assert!((slower_share(1.0 - server_share(0.99, 77), 77) - 0.01).abs() < 1e-12);
    }
}
