//! Formula of a ranking model: the interface that every model implements.
//!
//! ```text
//! score = shape(weight, frequency · scale, factor[length byte])     all in f32, rounded to the grid of the plan
//! ```
//!
//! Invariants, on which the upper bounds of lists and blocks and the floors of lists rest: a score is never negative, is 0
//! for a frequency of 0, never falls when the frequency rises, and never rises with the length. A model whose formula
//! breaks one of them cannot be a [`Formula`], unless its negative part is cut off at 0.

use crate::plan::ranking::model::{Model, Values};
use codec::limits::LIMITS;

/// Statistics of a term in one field of the whole index.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TermCounts {
    /// Live documents of the index.
    pub documents_count: u64,
    /// Live documents with the term.
    pub document_frequency: u64,
    /// Occurrences of the term in live documents, for models that count them ([`Ranking::counts_occurrences`]); else 0.
    ///
    /// [`Ranking::counts_occurrences`]: crate::Ranking::counts_occurrences
    pub occurrences: u64,
    /// Words of the field in live documents, for the same models.
    pub words: u64,
}

/// Numbers of a clause that all its scores share.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TermWeight {
    /// Factor of the score: repetitions in the query, boosts, and the rarity where the model multiplies by it. 0 for a
    /// clause that only filters.
    pub weight: f32,
    /// Factor of the frequency; unused by models in which every occurrence counts alike.
    pub scale: f32,
}

/// Parts of a formula as text, for explanations.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FormulaText {
    /// The score of a clause.
    pub(crate) score: &'static str,
    /// Its weight, without the boost.
    pub(crate) weight: &'static str,
    /// The factor of the length, with its numbers.
    pub(crate) factor: String,
    /// The factor of the frequency; `None` for models without one.
    pub(crate) scale: Option<String>,
}

/// A ranking model with its parameters.
pub(crate) trait Formula: Copy {
    /// Name, parameters and constructor.
    const MODEL: Model;
    /// Name of the rarity in explanations.
    const RARITY: &'static str = "idf";
    /// Whether the weight is an upper bound on scores of any frequency.
    const SATURATES: bool = false;
    /// Whether the rarity depends on occurrences, which cost more than documents where some are deleted.
    const COUNTS_OCCURRENCES: bool = false;

    /// Returns the values of the parameters, in the order of [`Model::parameters`].
    fn values(self) -> Values;

    /// Returns how much an occurrence of a term tells: its inverse document frequency, or what stands for it. Rarities of
    /// the words of a phrase add up to that of the phrase.
    fn rarity(self, counts: &TermCounts) -> f32;

    /// Returns the numbers of a clause, by its frequency in the query and its rarity.
    fn weigh(self, query_frequency: u32, boost: f32, rarity: f32) -> TermWeight;

    /// Returns the factor that a length contributes; it never rises with the length.
    fn factor(self, length: u32, average: f32) -> f32;

    /// Upper bound on the score of a clause, on no grid.
    fn most(self, weight: TermWeight) -> f64;

    /// Returns the score of one posting.
    fn score(self, weight: TermWeight, frequency: u32, factor: f32, grid: f32) -> f32;

    /// Returns the scores of four postings. Not inlined, so that bounds stay small where a model has its own form.
    #[inline(never)]
    fn score_four(
        self,
        weight: TermWeight,
        frequencies: [u32; 4],
        factors: [f32; 4],
        grid: f32,
    ) -> [f32; 4] {
        std::array::from_fn(|at| self.score(weight, frequencies[at], factors[at], grid))
    }

    /// Computes the scores of many postings.
    #[inline]
    fn score_many(
        self,
        weight: TermWeight,
        frequencies: &[u32],
        factors: &[f32],
        grid: f32,
        scores: &mut [f32],
    ) {
        for ((score, &frequency), &factor) in scores.iter_mut().zip(frequencies).zip(factors) {
            *score = self.score(weight, frequency, factor, grid);
        }
    }

    /// Calls `each` for every frequency below [`LIMITS`], from 0 on, with a lower bound on the length factor of a posting
    /// of that frequency that scores `least`. It allows for rounding.
    fn least_factors(self, weight: TermWeight, grid: f32, least: f32, each: impl FnMut(usize, f32));

    /// Returns the derivation of a rarity.
    fn rarity_text(self, counts: &TermCounts) -> String;

    /// Returns the other parts of the formula.
    fn text(self, length: u32, average: f32) -> FormulaText;
}

/// Calls `each` for every frequency with the least factor of a frequency of 1 times the share of the frequency.
#[inline]
pub(super) fn by_shares(needed: f32, shares: &[f32; LIMITS], mut each: impl FnMut(usize, f32)) {
    for (frequency, share) in shares.iter().enumerate() {
        each(frequency, needed * share);
    }
}

/// Returns a score lowered by the rounding that may have raised it: three units in the last place and half a step of the
/// grid, 2^-22 of `grid`, at most.
#[inline]
pub(super) fn before_rounding(least: f32, most: f32, grid: f32) -> f32 {
    least - (most + grid) * 1e-6
}

/// Rounds a value to a grid (see [`crate::Ranking::grid`]).
#[inline]
pub(crate) fn on_grid(value: f32, grid: f32) -> f32 {
    (value + grid) - grid
}
