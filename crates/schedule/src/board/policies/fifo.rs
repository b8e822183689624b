//! Order of arrival, with a fixed degree.

use super::order::{lacking, oldest, take};
use crate::board::entry::Entry;
use crate::board::policy::{Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;

/// Order of arrival, each query on `degree` handlers. Handlers that become free join the oldest query that lacks some
/// before they begin another, and stay until no range is left. With degree 1 no query is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fifo {
    /// Handlers a query, at least 1.
    pub degree: u32,
}

impl Policy for Fifo {
    fn name(&self) -> String {
        format!("fifo:{}", self.degree)
    }

    fn begins(&self, _query: &Entry, load: &Load) -> Start {
        Start::of_degree(load, self.degree)
    }

    fn stays(&self, _visit: &Visit, _seen: &Seen) -> bool {
        true
    }

    fn turn(&self, _handler: usize, board: &Board) -> Turn {
        match lacking(board) {
            Some(lacking) => Turn::Help(lacking.id),
            None => oldest(board).map_or(Turn::Rest, take),
        }
    }

    fn calls_helpers(&self) -> bool {
        self.degree > 1
    }
}
