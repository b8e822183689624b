//! Scores of one clause on one segment, and upper bounds on them.

use crate::context::counters;
use crate::plan::norms::Factors;
use crate::plan::planner::Plan;
use crate::plan::ranking::{Ranking, TermWeight, on_grid};
use index::{DocId, Field, Impact, Segment};

/// Number of postings that are scored at once.
pub(crate) const BLOCK: usize = 256;
/// Highest frequency that kernels take.
const FREQUENCY_MAX: u32 = i32::MAX as u32;

/// Number of pairs that are scored side by side.
const BOUNDED: usize = 4;

/// Scorer of a list: the parts of a score that are the same for all its postings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scorer<'a> {
    pub(crate) ranking: Ranking,
    pub(crate) weight: TermWeight,
    pub(crate) grid: f32,
    /// Factors of lengths; `None` if every posting scores the weight: 0 for a filter.
    pub(crate) factors: Option<&'a Factors>,
    pub(crate) lengths: &'a [u8],
}

impl<'a> Scorer<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        field: Field,
        weight: TermWeight,
        segment: &'a Segment,
    ) -> Scorer<'a> {
        let scale = plan.scales.get(field);
        Scorer {
            ranking: scale.map_or(plan.ranking, |scale| scale.ranking),
            weight,
            grid: plan.grid,
            factors: scale.map(|scale| &*scale.factors),
            lengths: segment.lengths(field),
        }
    }

    /// Makes the scorer of a list whose postings score alike.
    pub(crate) fn constant(plan: &Plan, weight: f32) -> Scorer<'a> {
        Scorer {
            ranking: plan.ranking,
            weight: TermWeight {
                weight: on_grid(weight, plan.grid),
                scale: 0.0,
            },
            grid: plan.grid,
            factors: None,
            lengths: &[],
        }
    }

    #[inline]
    pub(crate) fn score(&self, doc: DocId, frequency: u32) -> f32 {
        match self.factors {
            Some(factors) => {
                counters::scored(1);
                let factor = factors.by_length[self.length_byte(doc) as usize];
                self.ranking
                    .score(self.weight, frequency, factor, self.grid)
            }
            None => self.weight.weight,
        }
    }

    /// Computes the scores of postings, 256 at most; `docs`, `frequencies` and `scores` have one length.
    #[inline]
    pub(crate) fn score_many(&self, docs: &[u32], frequencies: &[u32], scores: &mut [f32]) {
        let Some(factors) = self.factors else {
            scores.fill(self.weight.weight);
            return;
        };
        counters::scored(docs.len());
        let mut factors_of = [0.0; BLOCK];
        for (factor, &doc) in factors_of.iter_mut().zip(docs) {
            *factor = factors.by_length[self.length_byte(DocId(doc)) as usize];
        }
        let factors_of = &factors_of[..docs.len().min(BLOCK)];
        self.ranking
            .score_many(self.weight, frequencies, factors_of, self.grid, scores);
    }

    /// Returns whether the weight is an upper bound on scores of any frequency.
    pub(crate) fn saturates(&self) -> bool {
        self.ranking.saturates()
    }

    /// Upper bound on the score of a posting that one of `impacts` dominates. A score never falls with the frequency
    /// and never rises with the length, so one of them has the maximum.
    #[inline(always)]
    pub(crate) fn bound(&self, impacts: &[Impact]) -> f32 {
        let Some(factors) = self.factors else {
            return self.weight.weight;
        };
        // Four at a time, without a branch: the processor divides them in one instruction.
        let mut most = 0.0;
        for impacts in impacts.chunks(BOUNDED) {
            // Unused pairs have frequency 0 and score 0.
            let (mut frequencies, mut of_lengths) = ([0; BOUNDED], [0.0; BOUNDED]);
            for (at, impact) in impacts.iter().enumerate() {
                frequencies[at] = impact.frequency & FREQUENCY_MAX;
                of_lengths[at] = factors.by_length[usize::from(impact.length)];
            }
            for score in self
                .ranking
                .score_four(self.weight, frequencies, of_lengths, self.grid)
            {
                most = if score > most { score } else { most };
            }
        }
        most
    }

    /// Returns the score that a posting reaches which beats one of `impacts`; 0 if there are none: unused ones have a frequency
    /// of 0.
    pub(crate) fn floor(&self, impacts: &[Impact]) -> f32 {
        let is_unused = |impact: &Impact| impact.frequency == 0;
        match self.factors.is_none() && impacts.iter().all(is_unused) {
            true => 0.0,
            false => self.bound(impacts),
        }
    }

    /// Returns the quantised length of a document. A document that the segment lacks, named by a damaged list, counts
    /// as empty.
    #[inline]
    pub(crate) fn length_byte(&self, doc: DocId) -> u8 {
        self.lengths.get(doc.0 as usize).copied().unwrap_or(0)
    }
}
