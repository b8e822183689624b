//! Alternatives for given candidates: any of some terms, probed the best first, so that few candidates are left for the
//! long lists of frequent terms.
//!
//! ```text
//! candidates   [ 17  23  40  41  58 ]           threshold 9
//! rare term    +7.5      +7.1                   later: 3 + 1, so 0 + 4 < 9: all but 17 and 40 leave
//! other term   +2.8                             later: 1, so 7.1 + 1 < 9: 40 leaves
//! frequent     +0.9
//! ```
//!
//! This is MaxScore (Turtle and Flood 1995) on documents that something else has found, with the bounds of blocks: a block
//! is read only where one of its candidates could enter.

use crate::block::apply::apply_optional;
use crate::block::candidate_block::CandidateBlock;
use crate::block::probed::Demand;
use crate::block::term_scorer::List;
use crate::context::cancel::{PROBE, StopRef};
use crate::plan::scorer::BLOCK;
use crate::verify::probe::Probe;
use index::{DocId, IndexError};

/// Any of some terms on one segment.
pub(crate) struct Alternatives<'a> {
    /// The term of the highest scores first.
    terms: Vec<Alternative<'a>>,
}

struct Alternative<'a> {
    list: Box<List<'a>>,
    /// Upper bound on the score of the term.
    most: f32,
    /// Upper bound on the sum of the scores of the terms after it.
    later: f32,
}

impl<'a> Alternatives<'a> {
    /// Takes the alternatives out of required clauses; `None` unless one clause is such, and all others are tests of
    /// values, which add nothing to the score.
    pub(crate) fn take(required: &mut Vec<Probe<'a>>) -> Option<Alternatives<'a>> {
        let is_scored = |probe: &Probe<'_>| !matches!(probe, Probe::Value(_));
        let mut scored = (0..required.len()).filter(|&number| is_scored(&required[number]));
        let (Some(number), None) = (scored.next(), scored.next()) else {
            return None;
        };
        let lists = match &mut required[number] {
            Probe::Any(probes, _) if probes.iter().all(Probe::is_list) => std::mem::take(probes),
            _ => return None,
        };
        required.remove(number);
        let lists = lists.into_iter().filter_map(Probe::into_list);
        let mut terms: Vec<Alternative<'a>> = lists
            .map(|mut list| Alternative {
                most: list.most_unread(),
                list,
                later: 0.0,
            })
            .collect();
        terms.sort_by(|one, other| other.most.total_cmp(&one.most));
        let mut later = 0.0;
        for one in terms.iter_mut().rev() {
            one.later = later;
            later += one.most;
        }
        Some(Alternatives { terms })
    }

    /// Returns the number of terms.
    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Keeps the candidates that any of the terms matches, and adds up their scores; drops those that cannot reach
    /// `threshold`. Void where `stop` aborted.
    pub(crate) fn apply(
        &mut self,
        threshold: f32,
        candidates: &mut CandidateBlock,
        stop: StopRef<'_>,
    ) {
        if threshold <= 0.0 {
            return self.apply_whole(candidates, stop);
        }
        // What matches no term has no score, so it cannot reach a threshold.
        for one in &mut self.terms {
            if candidates.count == 0 || stop.aborts(PROBE) {
                return;
            }
            apply_optional(&mut *one.list, threshold, one.later, candidates, stop);
        }
    }

    /// Applies all alternatives, without a threshold.
    fn apply_whole(&mut self, candidates: &mut CandidateBlock, stop: StopRef<'_>) {
        let mut are_matched = [false; BLOCK];
        for one in &mut self.terms {
            if stop.aborts(PROBE) {
                return;
            }
            candidates.probe(&mut *one.list, Demand::Scores, stop);
            candidates.scatter_probed();
            for &row in candidates.probed.rows() {
                are_matched[usize::from(row)] = true;
            }
        }
        candidates.keep_where(|row| are_matched[row]);
    }

    /// Upper bound on the scores of a range.
    pub(crate) fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
        let bounds = self.terms.iter_mut();
        bounds.map(|one| one.list.bound_in(base, end)).sum()
    }

    /// Returns the first damage found so far.
    pub(crate) fn damage(&mut self) -> Result<(), IndexError> {
        let damage = self
            .terms
            .iter_mut()
            .find_map(|one| one.list.blocks.take_error());
        damage.map_or(Ok(()), Err)
    }
}
