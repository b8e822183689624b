//! Order of arrival on big and little cores; long queries move to big cores.

use super::order::{oldest, range_ns, take};
use crate::board::entry::Entry;
use crate::board::policy::{Load, Policy, Start, Turn, Visit};
use crate::board::signals::Seen;
use crate::board::state::Board;

/// Order of arrival, one handler each; idle fast handlers first. Every `sampling_ns` the queries that have run for
/// `after_ns` on slow handlers, longest first, swap with what the fast ones run if that is younger (Hurry-up,
/// Algorithm 1, mended: it never demotes an older query).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HurryUp {
    /// Interval between decisions, in ns.
    pub sampling_ns: u64,
    /// Running time from which a query moves, in ns.
    pub after_ns: u64,
}

impl Policy for HurryUp {
    fn name(&self) -> String {
        format!(
            "hurry-up:{}us,{}us",
            self.sampling_ns / 1000,
            self.after_ns / 1000
        )
    }

    fn begins(&self, _query: &Entry, load: &Load) -> Start {
        Start {
            range_ns: range_ns(load.handlers),
            degree_max: 1,
        }
    }

    fn stays(&self, _visit: &Visit, seen: &Seen) -> bool {
        !seen.is_called
    }

    fn turn(&self, _handler: usize, board: &Board) -> Turn {
        oldest(board).map_or(Turn::Rest, take)
    }

    fn sampling_ns(&self) -> Option<u64> {
        Some(self.sampling_ns)
    }

    fn swaps(&self, board: &Board) -> Vec<(usize, usize)> {
        let handlers = board.handlers();
        let fastest = handlers.iter().map(|one| one.speed).fold(0.0, f64::max);
        let begun = |handler: usize| {
            let entry = handlers[handler].query.and_then(|id| board.query(id))?;
            Some((entry.begun_ns, entry.number))
        };
        let is_free = |handler: usize| handlers[handler].reserved.is_none();
        let (mut long, mut fast) = (Vec::new(), Vec::new());
        for handler in (0..handlers.len()).filter(|&one| is_free(one)) {
            if handlers[handler].speed >= fastest {
                fast.push(handler);
            } else if let Some(at) = begun(handler)
                && board.now_ns().saturating_sub(at.0) >= self.after_ns
            {
                long.push((at, handler));
            }
        }
        long.sort_unstable();
        // Idle fast handlers first, then those with the youngest query.
        fast.sort_by_key(|&handler| {
            std::cmp::Reverse(begun(handler).unwrap_or((u64::MAX, u64::MAX)))
        });
        let mut pairs = Vec::new();
        for ((at, from), to) in long.into_iter().zip(fast) {
            if begun(to).is_none_or(|other| other > at) {
                pairs.push((from, to));
            }
        }
        pairs
    }
}
