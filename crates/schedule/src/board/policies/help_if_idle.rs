//! Order of arrival, whole queries; an idle handler asks for a half of what is left, and gives it back once a query waits.

use super::order::{helped, oldest, take_or_help};
use crate::board::entry::Entry;
use crate::board::policy::{Give, Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;

/// Order of arrival. A query begins in one piece. Where a handler idles and nothing waits, whoever searches gives it the upper
/// half of the documents left, between two blocks (lazy splitting: Tzannes, Caragea, Barua and Vishkin, PPoPP 2010). A helper
/// gives all that is left back once a query waits.
///
/// A query that nobody helps costs what a sequential one does, and help opens a query once for each helper, whatever the
/// number of ranges would have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HelpIfIdle;

impl Policy for HelpIfIdle {
    fn name(&self) -> String {
        "help-if-idle".to_owned()
    }

    fn begins(&self, _query: &Entry, load: &Load) -> Start {
        Start::on_request(load)
    }

    fn stays(&self, visit: &Visit, seen: &Seen) -> bool {
        visit.is_owner || seen.claimable == 0
    }

    fn gives(&self, is_owner: bool, seen: &Seen) -> Give {
        match (is_owner, seen.claimable > 0) {
            (false, true) => Give::All,
            (true, true) => Give::Nothing,
            (_, false) if seen.idle > 0 => Give::Half,
            (_, false) => Give::Nothing,
        }
    }

    fn turn(&self, handler: usize, board: &Board) -> Turn {
        take_or_help(oldest(board), || helped(handler, board, |_| true))
    }

    fn calls_helpers(&self) -> bool {
        true
    }
}
