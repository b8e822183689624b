//! Degree that grows with the age of a query.

use super::order::{helped, oldest, take_or_help};
use crate::board::entry::Entry;
use crate::board::policy::{Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;

/// Order of arrival; a query gets a further handler for each `interval_ns` of its running time, longer intervals the
/// more queries are on the board (Haque et al., ASPLOS 2015, with a linear table). Helpers stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FewToMany {
    /// Running time after which a query gets one handler more, on an otherwise empty server, in ns.
    pub interval_ns: u64,
}

impl FewToMany {
    /// Returns the degree of a query of some age, with `queries` on the board of `handlers` handlers.
    fn degree(self, age_ns: u64, queries: usize, handlers: usize) -> u32 {
        let others = queries.saturating_sub(1);
        if others >= handlers {
            return 1;
        }
        let interval_ns = self.interval_ns.max(1) * handlers as u64 / (handlers - others) as u64;
        1 + (age_ns / interval_ns).min(handlers as u64) as u32
    }
}

impl Policy for FewToMany {
    fn name(&self) -> String {
        format!("few-to-many:{}us", self.interval_ns / 1000)
    }

    fn begins(&self, _query: &Entry, load: &Load) -> Start {
        Start::for_all(load)
    }

    fn stays(&self, _visit: &Visit, _seen: &Seen) -> bool {
        true
    }

    fn turn(&self, handler: usize, board: &Board) -> Turn {
        let (queries, handlers) = (board.queries_count(), board.handlers().len());
        let lacks = |one: &Entry| {
            let age_ns = board.now_ns().saturating_sub(one.begun_ns);
            one.hands < self.degree(age_ns, queries, handlers)
        };
        take_or_help(oldest(board), || helped(handler, board, lacks))
    }

    fn calls_helpers(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_grow_with_age_and_fall_with_load() {
        let policy = FewToMany {
            interval_ns: 500_000,
        };
        assert_eq!(policy.degree(0, 1, 4), 1);
        assert_eq!(policy.degree(500_000, 1, 4), 2);
        assert_eq!(policy.degree(500_000, 3, 4), 1);
        assert_eq!(policy.degree(1_000_000, 3, 4), 2);
        assert_eq!(policy.degree(9_000_000, 5, 4), 1);
    }
}
