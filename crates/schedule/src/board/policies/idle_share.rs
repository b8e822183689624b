//! Order of arrival, the idle handlers shared evenly between a query and those behind it.

use super::order::{lacking, oldest, take_or_help};
use crate::board::entry::Entry;
use crate::board::policy::{Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;

/// Order of arrival; the degree is fixed at the start of a query, to its even share of the idle handlers. Helpers stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleShare {
    /// Handlers a query at most, at least 1.
    pub degree_max: u32,
}

impl Policy for IdleShare {
    fn name(&self) -> String {
        match self.degree_max {
            u32::MAX => "idle-share".to_owned(),
            degree_max => format!("idle-share:{degree_max}"),
        }
    }

    fn begins(&self, _query: &Entry, load: &Load) -> Start {
        let share = (load.idle + 1) / (load.claimable + 1);
        Start::of_degree(load, share.min(self.degree_max as usize) as u32)
    }

    fn stays(&self, _visit: &Visit, _seen: &Seen) -> bool {
        true
    }

    fn turn(&self, _handler: usize, board: &Board) -> Turn {
        take_or_help(oldest(board), || lacking(board))
    }

    fn calls_helpers(&self) -> bool {
        true
    }
}
