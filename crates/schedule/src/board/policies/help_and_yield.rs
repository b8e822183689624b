//! Order of arrival; idle handlers help, and yield as soon as a query waits.

use super::order::{helped, oldest, take_or_help};
use crate::board::entry::Entry;
use crate::board::policy::{Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;

/// Order of arrival. A handler without a query helps the oldest open one that has run for `after_ns`; it leaves at the
/// end of a range once a query waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HelpAndYield {
    /// Time that a query runs on one handler before it is helped, in ns.
    pub after_ns: u64,
    /// Predicted time above which a query is helped at once, in ns; `u64::MAX` for none.
    pub at_once_ns: u64,
}

impl Policy for HelpAndYield {
    fn name(&self) -> String {
        match (self.after_ns / 1000, self.at_once_ns) {
            (0, _) => "help-and-yield".to_owned(),
            (after_us, u64::MAX) => format!("help-and-yield:{after_us}us"),
            (after_us, at_once_ns) => {
                format!("help-and-yield:{after_us}us,{}us", at_once_ns / 1000)
            }
        }
    }

    fn begins(&self, _query: &Entry, load: &Load) -> Start {
        Start::for_all(load)
    }

    fn stays(&self, visit: &Visit, seen: &Seen) -> bool {
        visit.is_owner || seen.claimable == 0
    }

    fn turn(&self, handler: usize, board: &Board) -> Turn {
        let is_due = |one: &Entry| {
            one.progress.likely_ns() > self.at_once_ns
                || board.now_ns().saturating_sub(one.begun_ns) >= self.after_ns
        };
        take_or_help(oldest(board), || helped(handler, board, is_due))
    }

    fn calls_helpers(&self) -> bool {
        true
    }
}
