//! How long does a query take that asks many servers and waits for the slowest?
//!
//! By order statistics, where servers are independent: all n answer within t with probability F(t)ⁿ,
//! so the q-quantile of the slowest is the q^(1/n)-quantile of one (Dean & Barroso, The Tail at Scale,
//! 2013). And by simulation, where all servers see the same arrivals: these make their waits alike, so
//! the independent answer is an upper bound.

mod hedge;
mod simulated;

pub use hedge::{HedgedLeaf, hedged_exceeds, simulate_hedged};
pub use simulated::{FanOut, simulate};

/// What the order statistics assume; to be shown with their answers.
pub const ASSUMPTIONS: &str = "\
every query asks all servers and waits for the slowest; response times of servers are independent of \
each other and equally distributed (servers that share arrivals are more alike: then this is an upper \
bound)";

/// The share of queries slower than a time that a share `server_exceeds` of one server's answers exceed,
/// where `servers` are asked. 1 − (1 − p)ⁿ, exact also for tiny p.
pub fn slower_share(server_exceeds: f64, servers: usize) -> f64 {
    -(servers as f64 * (-server_exceeds).ln_1p()).exp_m1()
}

/// The share of one server's answers that must be within a time for a `share` of queries to be:
/// share^(1/n).
pub fn server_share(share: f64, servers: usize) -> f64 {
    (share.ln() / servers as f64).exp()
}

/// The response time that a `share` of queries does not exceed, from a sample of one server's response
/// times, ascending. `None` where fewer than ten of the sample lie beyond the quantile that is needed:
/// then only chance would answer.
pub fn quantile_ms(server_responses_ms: &[f64], servers: usize, share: f64) -> Option<f64> {
    let beyond = beyond_quantile(server_responses_ms.len(), servers, share)?;
    let place = server_responses_ms.len() - 1 - beyond;
    server_responses_ms.get(place).copied()
}

/// How many of a sample lie beyond that quantile, by nearest rank; `None` where it is too small.
pub(crate) fn beyond_quantile(sample: usize, servers: usize, share: f64) -> Option<usize> {
    let beyond = -(share.ln() / servers as f64).exp_m1();
    if sample as f64 * beyond < 10.0 - 1e-6 {
        return None;
    }
    let rank = crate::simulate::quantile_rank(sample, server_share(share, servers));
    Some(sample - rank)
}

/// Dean & Barroso 2013: what they published beside what the formula gives.
pub mod published {
    use super::slower_share;

    /// One published number and ours.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Example {
        /// Servers asked.
        pub servers: usize,
        /// Share of one server's answers that take over a second.
        pub server_exceeds: f64,
        /// Share of queries over a second, as published.
        pub published: f64,
        /// The same by 1 − (1 − p)ⁿ.
        pub ours: f64,
    }

    /// "63 % of user requests will take more than one second" where 100 servers have a 99th percentile
    /// of one, and "almost one in five" of 2,000 servers with one slow answer in 10,000.
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
        // Of 100 servers the median is the 0.5^(1/100) = 0.9930925 quantile of one.
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
