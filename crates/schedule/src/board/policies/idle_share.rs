//! Order of arrival, the idle handlers shared evenly between a query and those behind it.

use super::order::{help_or_rest, lacking, oldest, range_ns, take};
use crate::board::entry::Entry;
use crate::board::policy::{Load, Policy, Start, Turn, Visit};
use crate::board::signals::Seen;
use crate::board::state::Board;

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
        match share.clamp(1, self.degree_max.max(1) as usize) as u32 {
            1 => Start::WHOLE,
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
        match oldest(board) {
            Some(waiting) => take(waiting),
            None => help_or_rest(lacking(board)),
        }
    }

    fn calls_helpers_ns(&self) -> u64 {
        0
    }
}
