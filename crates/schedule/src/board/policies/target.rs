//! Least degree that meets a target time, and more for a query that is late.

use super::order::{helped, oldest, take_or_help};
use crate::board::entry::Entry;
use crate::board::law::speed_up;
use crate::board::policy::{Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;

/// Order of arrival; a query gets the least degree P with L / S(P) within what is left of `target_ns` since its
/// arrival, so a late one gets more (TPC, Jeon et al., ASPLOS 2016). Helpers leave once a query waits, unless
/// theirs is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Target of the response time, in ns.
    pub target_ns: u64,
}

impl Target {
    fn degree(self, query: &Entry, now_ns: u64, efficiency: f64, handlers: usize) -> u32 {
        let left_ns = query.left_ns() as f64;
        let time_ns = (query.arrived_ns.saturating_add(self.target_ns)).saturating_sub(now_ns);
        let is_met = |degree: &u32| left_ns / speed_up(*degree, efficiency) <= time_ns as f64;
        (1..=handlers as u32)
            .find(is_met)
            .unwrap_or(handlers as u32)
    }
}

impl Policy for Target {
    fn name(&self) -> String {
        match self.target_ns % 1_000_000 {
            0 => format!("target:{}ms", self.target_ns / 1_000_000),
            _ => format!("target:{}us", self.target_ns / 1000),
        }
    }

    fn begins(&self, _query: &Entry, load: &Load) -> Start {
        Start::for_all(load)
    }

    fn stays(&self, visit: &Visit, seen: &Seen) -> bool {
        visit.is_owner || seen.claimable == 0
    }

    fn turn(&self, handler: usize, board: &Board) -> Turn {
        let (now_ns, handlers) = (board.now_ns(), board.handlers().len());
        let lacks =
            |one: &Entry| one.hands < self.degree(one, now_ns, board.learnt().efficiency, handlers);
        take_or_help(oldest(board), || helped(handler, board, lacks))
    }

    fn calls_helpers(&self) -> bool {
        true
    }
}
