//! Choices that policies share: which query a free handler takes, and whether it helps.

use crate::board::entry::{Entry, Stage};
use crate::board::policy::Turn;
use crate::board::state::Board;

/// Returns the action by which a free handler takes a query that no handler works on.
pub(super) fn take(entry: &Entry) -> Turn {
    match entry.stage {
        Stage::Waiting => Turn::Begin(entry.id),
        _ => Turn::Resume(entry.id),
    }
}

/// Returns how a free handler takes the query that is next, if there is one, or helps another.
pub(super) fn take_or_help<'a>(
    next: Option<&Entry>,
    helped: impl FnOnce() -> Option<&'a Entry>,
) -> Turn {
    match next {
        Some(next) => take(next),
        None => helped().map_or(Turn::Rest, |one| Turn::Help(one.id)),
    }
}

/// Returns the oldest query that waits or is parked.
pub(super) fn oldest(board: &Board) -> Option<&Entry> {
    board.claimable().next()
}

/// Returns the query that has been urgent for the longest time, else the first one in the order of the policy.
pub(super) fn first_in_order(board: &Board) -> Option<&Entry> {
    board.most_urgent().or_else(|| board.least_key())
}

/// Returns the oldest open query that `allows` admits and that a further handler shortens.
pub(super) fn helped(
    handler: usize,
    board: &Board,
    allows: impl Fn(&Entry) -> bool,
) -> Option<&Entry> {
    if !board.has_room_for_help() {
        return None;
    }
    let shortened = board.running().filter(|one| {
        one.is_helpable() && one.left_ns() >= board.worth_ns(handler, one) && allows(one)
    });
    shortened.min_by_key(|one| one.number)
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
