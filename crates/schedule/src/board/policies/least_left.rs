//! Least time left first, changed at the ends of ranges; idle handlers help the oldest query.

use super::order::{first_in_order, helped, take_or_help};
use crate::board::entry::Entry;
use crate::board::policy::{Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;

/// An owner parks its query when it has more than this factor of the time left of one that waits. Results are alike
/// for factors from 1 to 4.
const PARK_FACTOR: u64 = 2;

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
        // In ranges also for one handler: it parks at their ends.
        match self.helps {
            true => Start::for_all(load),
            false => Start::in_ranges(load, 1),
        }
    }

    fn stays(&self, visit: &Visit, seen: &Seen) -> bool {
        if seen.claimable == 0 {
            return true;
        }
        if !visit.is_owner {
            return false;
        }
        if visit.now_ns >= visit.urgent_ns || visit.is_pressed() {
            return true;
        }
        // To be resumed it is joined again.
        let least_ns = seen.least_key.saturating_add(visit.join_ns);
        let is_longer = !visit.is_fresh() && visit.left_ns > PARK_FACTOR.saturating_mul(least_ns);
        !is_longer && visit.now_ns < seen.urgent_at_ns
    }

    fn turn(&self, handler: usize, board: &Board) -> Turn {
        take_or_help(first_in_order(board), || {
            helped(handler, board, |_| self.helps)
        })
    }

    fn calls_helpers(&self) -> bool {
        self.helps
    }
}
