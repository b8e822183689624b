//! Queries that wait or are parked, in the orders that policies ask for.

use super::entry::{Entry, QueryId};
use std::collections::BTreeSet;

/// Queries that wait or are parked, in the orders that policies ask for. Their sort keys do not change while no handler
/// works on them.
#[derive(Debug, Default)]
pub(super) struct Claimable {
    /// Queries by number, in order of arrival.
    pub(super) by_arrival: BTreeSet<(u64, QueryId)>,
    /// Queries by the key of the policy, then by arrival.
    pub(super) by_key: BTreeSet<(u64, u64, QueryId)>,
    /// Queries by the instant from which they are urgent, then by arrival.
    pub(super) by_urgency: BTreeSet<(u64, u64, QueryId)>,
    /// Sum of the times left, in ns.
    pub(super) left_ns: u64,
}

impl Claimable {
    pub(super) fn add(&mut self, entry: &Entry) {
        let left_ns = entry.left_ns();
        self.by_arrival.insert((entry.number, entry.id));
        self.by_key.insert((entry.key, entry.number, entry.id));
        self.by_urgency
            .insert((entry.urgent_at_ns(), entry.number, entry.id));
        self.left_ns = self.left_ns.saturating_add(left_ns);
    }

    pub(super) fn remove(&mut self, entry: &Entry) {
        let left_ns = entry.left_ns();
        self.by_arrival.remove(&(entry.number, entry.id));
        self.by_key.remove(&(entry.key, entry.number, entry.id));
        self.by_urgency
            .remove(&(entry.urgent_at_ns(), entry.number, entry.id));
        self.left_ns = self.left_ns.saturating_sub(left_ns);
    }

    /// Returns the least key of the policy, `u64::MAX` without any query.
    pub(super) fn least_key(&self) -> u64 {
        self.by_key.first().map_or(u64::MAX, |one| one.0)
    }

    /// Returns the instant from which a query is urgent, in ns; `u64::MAX` without any.
    pub(super) fn urgent_at_ns(&self) -> u64 {
        self.by_urgency.first().map_or(u64::MAX, |one| one.0)
    }
}
