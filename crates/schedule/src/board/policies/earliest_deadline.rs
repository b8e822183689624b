//! Earliest deadline first, one handler each.

use super::order::take;
use crate::board::entry::Entry;
use crate::board::policy::{Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;

/// Earliest deadline first (Liu and Layland 1973), never interrupted, one handler each. Order of arrival where all
/// queries have the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarliestDeadline;

impl Policy for EarliestDeadline {
    fn name(&self) -> String {
        "earliest-deadline".to_owned()
    }

    fn begins(&self, _query: &Entry, _load: &Load) -> Start {
        Start::WHOLE
    }

    fn stays(&self, _visit: &Visit, _seen: &Seen) -> bool {
        true
    }

    fn turn(&self, _handler: usize, board: &Board) -> Turn {
        let earliest = (board.claimable()).min_by_key(|one| (one.deadline_ns, one.number));
        earliest.map_or(Turn::Rest, take)
    }
}
