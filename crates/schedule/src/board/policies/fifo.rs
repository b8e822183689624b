//! Order of arrival, with a fixed degree.

use super::order::{lacking, oldest, range_ns, take};
use crate::board::entry::Entry;
use crate::board::policy::{Load, Policy, Start, Turn, Visit};
use crate::board::signals::Seen;
use crate::board::state::Board;

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
        match self.degree {
            0 | 1 => Start::WHOLE,
            degree_max => Start {
                range_ns: range_ns(load.handlers),
                degree_max,
            },
        }
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

    fn calls_helpers_ns(&self) -> u64 {
        match self.degree {
            0 | 1 => u64::MAX,
            _ => 0,
        }
    }
}
