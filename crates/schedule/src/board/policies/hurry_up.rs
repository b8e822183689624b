//! Order of arrival on big and little cores; long queries move to big cores.

use super::order::{oldest, take};
use crate::board::entry::{Entry, QueryId, Stage};
use crate::board::policy::{Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;
use crate::hurry::{BigCore, LittleThread, Rule, exchanges};

/// Order of arrival, one handler each; idle fast handlers first. Every `sampling_ns` the queries that have run for more
/// than `after_ns` on slow handlers, longest first, swap with what the fast ones run if that is younger (Hurry-up,
/// Algorithm 1, mended: it never demotes an older query).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HurryUp {
    /// Interval between decisions, in ns.
    pub sampling_ns: u64,
    /// Running time above which a query moves, in ns.
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
        // In ranges for one handler: it swaps at their ends.
        Start::in_ranges(load, 1)
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
        let elapsed_ms = |handler: usize| {
            let entry = handlers[handler].query.and_then(|id| board.query(id))?;
            Some(ms(board.now_ns().saturating_sub(entry.begun_ns)))
        };
        // Nothing moves twice at once: neither a handler that is to take a query over, nor a query that is on its way.
        // A query that is not cut has no end of a range to move at.
        let can_move = |id: QueryId| {
            let is_open = |one: &Entry| one.stage == Stage::Open && one.hands == 1;
            board.query(id).is_some_and(is_open)
                && handlers
                    .iter()
                    .all(|one| one.reserved.is_none_or(|(reserved, _)| reserved != id))
        };
        let is_free = |handler: usize| {
            handlers[handler].reserved.is_none() && handlers[handler].query.is_none_or(can_move)
        };
        let (mut little, mut big) = (Vec::new(), Vec::new());
        for handler in (0..handlers.len()).filter(|&one| is_free(one)) {
            if handlers[handler].speed >= fastest {
                big.push(BigCore {
                    core: handler as u32,
                    elapsed_ms: elapsed_ms(handler),
                });
            } else if let Some(elapsed_ms) = elapsed_ms(handler) {
                little.push(LittleThread {
                    id: handler as u32,
                    elapsed_ms,
                });
            }
        }
        let mut found = Vec::new();
        let threshold_ms = ms(self.after_ns);
        exchanges(
            Rule::Mended,
            threshold_ms,
            &mut little,
            &mut big,
            &mut found,
        );
        found
            .iter()
            .map(|one| (one.little as usize, one.big as usize))
            .collect()
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}
