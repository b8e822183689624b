//! Scores of one clause on one segment, and upper bounds on them.

use crate::context::counters;
use crate::plan::norms::Factors;
use crate::plan::planner::Plan;
use crate::plan::ranking::Ranking;
use index::{DocId, Field, Impact, Segment};

/// Number of postings scored at once.
pub(crate) const BLOCK: usize = 256;
/// Largest frequency that scoring distinguishes.
const FREQUENCY_MAX: u32 = i32::MAX as u32;

/// Number of pairs scored side by side.
const BOUNDED: usize = 4;

/// Conversion of frequencies to scores, with the parameters that are constant for a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scorer<'a> {
    pub(crate) ranking: Ranking,
    pub(crate) weight: f32,
    pub(crate) grid: f32,
    /// Length factors; `None` for a clause without a score.
    pub(crate) factors: Option<&'a Factors>,
    pub(crate) lengths: &'a [u8],
}

impl<'a> Scorer<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        field: Field,
        weight: f32,
        segment: &'a Segment,
    ) -> Scorer<'a> {
        Scorer {
            ranking: plan.ranking,
            weight,
            grid: plan.grid,
            factors: match field {
                Field::Text => plan.text_factors.as_deref(),
                Field::Title => plan.title_factors.as_deref(),
                Field::Site => None,
            },
            lengths: segment.lengths(field),
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
            None => 0.0,
        }
    }

    /// Computes the scores of several postings, one for each document (256 at most).
    #[inline]
    pub(crate) fn score_many(&self, docs: &[u32], frequencies: &[u32], scores: &mut [f32]) {
        let Some(factors) = self.factors else {
            scores.fill(0.0);
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

    /// Returns whether the score stays below the weight at any frequency.
    pub(crate) fn saturates(&self) -> bool {
        matches!(self.ranking, Ranking::Bm25 { .. })
    }

    /// Returns the score upper bound of any posting dominated by one of `impacts`. A score never falls
    /// when the frequency rises, and never rises with the length, so the maximum is at one of them.
    #[inline]
    pub(crate) fn bound(&self, impacts: &[Impact]) -> f32 {
        let Some(factors) = self.factors else {
            return 0.0;
        };
        // Four at a time, without a branch, in one vector division.
        let mut most = 0.0;
        for impacts in impacts.chunks(BOUNDED) {
            // An unused pair has frequency 0 and scores 0.
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

    /// Returns the quantised length of a document. A damaged list could name a document that the
    /// segment lacks; it counts as empty, so the program does not end.
    #[inline]
    pub(crate) fn length_byte(&self, doc: DocId) -> u8 {
        self.lengths.get(doc.0 as usize).copied().unwrap_or(0)
    }
}
