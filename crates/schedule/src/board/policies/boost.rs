//! Order of arrival with a boost for short queries, as large as the tail of the traffic allows.

use super::order::{first_in_order, helped, take_or_help};
use crate::board::entry::Entry;
use crate::board::policy::{Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;

/// Instant that no key precedes, in ns before the start: boosts are at most this long.
const BOOST_MAX_NS: f64 = 1e13;

/// Least boosted arrival first: a query of time left s goes as if it had arrived b(s) = ln(1 / (1 − e^(−γs))) / γ
/// earlier (γ-Boost, Yu and Scully 2024). With a light tail, γ large, this is nearly the order of arrival, which is best
/// for the slowest answers there; with a heavy tail nearly the least time left. γ follows the traffic. Idle handlers help
/// the oldest query that they shorten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boost;

/// Returns the boosted arrival of a query, in ns after [`BOOST_MAX_NS`] before the start.
fn boosted_ns(arrived_ns: u64, left_ns: u64, decay_per_ns: f64) -> f64 {
    let gamma = decay_per_ns.clamp(1e-12, 1.0);
    let left = gamma * left_ns.max(1) as f64;
    let boost_ns = -(-(-left).exp_m1()).ln() / gamma;
    arrived_ns as f64 + BOOST_MAX_NS - boost_ns.min(BOOST_MAX_NS)
}

impl Policy for Boost {
    fn name(&self) -> String {
        "boost".to_owned()
    }

    fn begins(&self, _query: &Entry, load: &Load) -> Start {
        Start::for_all(load)
    }

    fn stays(&self, visit: &Visit, seen: &Seen) -> bool {
        if seen.claimable == 0 {
            return true;
        }
        if !visit.is_owner {
            return false;
        }
        if visit.is_pressed() {
            return true;
        }
        let own = boosted_ns(visit.arrived_ns, visit.left_ns, seen.decay_per_ns);
        // Not for a query that goes before it by less than its time left and its joining: each change costs one.
        let margin_ns = visit.left_ns.saturating_add(visit.join_ns) as f64;
        let is_later = !visit.is_fresh() && own > seen.least_key as f64 + margin_ns;
        !is_later && (visit.now_ns < seen.urgent_at_ns || visit.now_ns >= visit.urgent_ns)
    }

    fn key(&self, arrived_ns: u64, left_ns: u64, decay_per_ns: f64) -> u64 {
        boosted_ns(arrived_ns, left_ns, decay_per_ns) as u64
    }

    fn turn(&self, handler: usize, board: &Board) -> Turn {
        take_or_help(first_in_order(board), || helped(handler, board, |_| true))
    }

    fn calls_helpers(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn short_queries_overtake_by_less_the_lighter_the_tail() {
        let key = |arrived_ms: u64, left_us: u64, gamma_per_ms: f64| {
            boosted_ns(arrived_ms * MS, left_us * 1000, gamma_per_ms / MS as f64)
        };
        // Heavy tail: 0.1 ms overtakes 5 ms that arrived 30 ms before. Light tail: not even 3 ms before.
        assert!(key(30, 100, 0.1) < key(0, 5_000, 0.1) + 10e6);
        assert!(key(15, 100, 0.1) < key(0, 5_000, 0.1));
        assert!(key(3, 100, 5.0) > key(0, 5_000, 5.0));
        // Equal times: order of arrival.
        assert!(key(1, 300, 1.0) < key(2, 300, 1.0));
        for odd in [0.0, f64::INFINITY] {
            let key = boosted_ns(u64::MAX, 0, odd);
            assert!(key >= 0.0, "{key}");
        }
    }
}
