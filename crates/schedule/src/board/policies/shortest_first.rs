//! Shortest predicted query first, one handler each.

use super::order::take;
use crate::board::entry::Entry;
use crate::board::policy::{Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;

/// Shortest predicted query first (SJF, Conway, Maxwell and Miller 1967), never interrupted, one handler each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortestFirst;

impl Policy for ShortestFirst {
    fn name(&self) -> String {
        "sjf".to_owned()
    }

    fn begins(&self, _query: &Entry, _load: &Load) -> Start {
        Start::WHOLE
    }

    fn stays(&self, _visit: &Visit, _seen: &Seen) -> bool {
        true
    }

    fn turn(&self, _handler: usize, board: &Board) -> Turn {
        let shortest = (board.claimable()).min_by_key(|one| (one.progress.likely_ns(), one.number));
        shortest.map_or(Turn::Rest, take)
    }
}
