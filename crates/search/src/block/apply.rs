//! The three ways to apply a clause to a block of candidates.
//!
//! ```text
//!              rows that match    the other rows    sums
//! required     stay               leave             grow by the clause's scores
//! optional     stay               stay              grow where the clause matches
//! filter       stay, or leave     leave, or stay    stay the same
//! ```
//!
//! All algorithms share them; the loops are compiled for each kind of clause. The result is void where `stop` aborted.

use crate::block::candidate_block::CandidateBlock;
use crate::block::probed::{Clause, Demand};
use crate::context::cancel::StopRef;

/// Keeps the candidates that a clause matches; with `scored`, adds its scores to their sums.
#[inline]
pub(crate) fn apply_required<C: Clause>(
    clause: &mut C,
    scored: bool,
    candidates: &mut CandidateBlock,
    stop: StopRef<'_>,
) {
    let demand = match scored {
        true => Demand::Scores,
        false => Demand::Rows,
    };
    candidates.probe(clause, demand, stop);
    candidates.keep_probed();
    if scored {
        candidates.add_probed();
    }
}

/// Adds the scores of a clause to the candidates that it matches, then drops those whose sum cannot reach `threshold`
/// with `later`, the upper bound of the clauses after it.
#[inline]
pub(crate) fn apply_optional<C: Clause>(
    clause: &mut C,
    threshold: f32,
    later: f32,
    candidates: &mut CandidateBlock,
    stop: StopRef<'_>,
) {
    candidates.probe(clause, Demand::Competitive { threshold, later }, stop);
    candidates.scatter_probed();
    candidates.retain(threshold - later);
}

/// Keeps the candidates that a clause matches; with `is_excluded`, those that it does not match.
#[inline]
pub(crate) fn apply_filter<C: Clause>(
    clause: &mut C,
    is_excluded: bool,
    candidates: &mut CandidateBlock,
    stop: StopRef<'_>,
) {
    candidates.probe(clause, Demand::Rows, stop);
    match is_excluded {
        true => candidates.drop_probed(),
        false => candidates.keep_probed(),
    }
}
