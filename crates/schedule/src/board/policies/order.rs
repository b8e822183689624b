//! Choices that policies share: which query a free handler takes, and whether it helps.

use crate::board::entry::{Entry, Stage};
use crate::board::policy::Turn;
use crate::board::state::Board;

/// Wanted time of a range, in ns: the 99th percentile is flat from 90 to 300 µs on up to four handlers.
pub(super) const RANGE_NS: u64 = 150_000;
/// The same where more than [`MANY`] handlers share queries.
const RANGE_MANY_NS: u64 = 100_000;
const MANY: usize = 8;

/// Returns the wanted time of a range on this number of handlers, in ns.
pub(super) fn range_ns(handlers: usize) -> u64 {
    match handlers > MANY {
        true => RANGE_MANY_NS,
        false => RANGE_NS,
    }
}

/// Returns how a free handler takes a query that nobody works on.
pub(super) fn take(entry: &Entry) -> Turn {
    match entry.stage {
        Stage::Waiting => Turn::Begin(entry.id),
        _ => Turn::Resume(entry.id),
    }
}

/// Returns the oldest query that waits or is parked.
pub(super) fn oldest(board: &Board) -> Option<&Entry> {
    board.claimable().next()
}

/// Returns the oldest open query that a further handler shortens, of those that `allows` admits.
pub(super) fn helped(
    handler: usize,
    board: &Board,
    allows: impl Fn(&Entry) -> bool,
) -> Option<&Entry> {
    if !board.has_room_for_help() {
        return None;
    }
    let is_awake = !board.handlers()[handler].is_resting;
    let shortened = board.running().filter(|one| {
        one.is_helpable()
            && one.left_ns() >= board.learnt().worth_ns(one.hands, is_awake)
            && allows(one)
    });
    shortened.min_by_key(|one| one.number)
}

/// Returns a help turn, or rest.
pub(super) fn help_or_rest(entry: Option<&Entry>) -> Turn {
    entry.map_or(Turn::Rest, |one| Turn::Help(one.id))
}

/// Returns the oldest open query that has had fewer visits than its degree.
pub(super) fn lacking(board: &Board) -> Option<&Entry> {
    if !board.has_room_for_help() {
        return None;
    }
    let lacking = board
        .running()
        .filter(|one| one.is_helpable() && one.visits < one.degree_max);
    lacking.min_by_key(|one| one.number)
}
