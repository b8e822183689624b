//! Least time left first, changed at the ends of ranges; idle handlers help the oldest query.

use super::order::{help_or_rest, helped, range_ns, take};
use crate::board::entry::Entry;
use crate::board::policy::{Load, Policy, Start, Turn, Visit};
use crate::board::signals::Seen;
use crate::board::state::Board;

/// An owner parks its query when it has more than this factor of the time left of one that waits. Results are alike
/// for factors from 1 to 4.
const PARK_FACTOR: u64 = 2;
/// A query is parked only with this factor of its time left to its deadline.
const SLACK_FACTOR: u64 = 4;

/// Least time left first. A free handler takes the query that has been urgent for the longest time, else the query
/// with the least time left among those that wait or are parked, else helps the oldest query that it shortens. At the end of a
/// range a helper leaves if a query waits, and an owner parks its query if one with less than half its time left waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeastLeft {
    /// Whether idle handlers help.
    pub helps: bool,
}

impl Policy for LeastLeft {
    fn name(&self) -> String {
        match self.helps {
            true => "least-left".to_owned(),
            false => "least-left:alone".to_owned(),
        }
    }

    fn begins(&self, _query: &Entry, load: &Load) -> Start {
        Start {
            range_ns: range_ns(load.handlers),
            degree_max: match self.helps {
                true => load.handlers as u32,
                false => 1,
            },
        }
    }

    fn stays(&self, visit: &Visit, seen: &Seen) -> bool {
        if seen.claimable == 0 {
            return true;
        }
        if !visit.is_owner {
            return false;
        }
        let slack_ns = visit.deadline_ns.saturating_sub(visit.now_ns);
        if visit.now_ns >= visit.urgent_ns || slack_ns <= SLACK_FACTOR.saturating_mul(visit.left_ns)
        {
            return true;
        }
        let is_longer = visit.left_ns > PARK_FACTOR.saturating_mul(seen.least_key);
        !is_longer && visit.now_ns < seen.urgent_at_ns
    }

    fn turn(&self, handler: usize, board: &Board) -> Turn {
        match board.most_urgent().or_else(|| board.least_key()) {
            Some(next) => take(next),
            None if self.helps => help_or_rest(helped(handler, board, |_| true)),
            None => Turn::Rest,
        }
    }

    fn calls_helpers_ns(&self) -> u64 {
        match self.helps {
            true => 0,
            false => u64::MAX,
        }
    }
}
