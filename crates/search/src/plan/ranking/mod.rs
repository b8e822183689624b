//! Ranking models, in one registry: a model's name and parameters, and its formula.
//!
//! ```text
//! bm25:k1=0.9,b=0.4     text of a ranking (see [`text`]), as HTTP, the wire, the command line and caches know it
//! Ranking               value: a model with its parameters
//! [`Formula`]           what a model computes; a file each
//! ```
//!
//! A model is added by a file with its [`Formula`], a variant of [`Ranking`], an arm of `with_formula`, and an
//! entry of [`Ranking::MODELS`]. Everything else asks the registry ([`Ranking::MODELS`]).
//!
//! The score of a clause is rounded to a grid that the plan chooses (see [`Ranking::grid`]): so coarse
//! that every sum of a query's clauses is a number of 24 bits, and so fine that it is invisible (about
//! 2^-22 of the highest score). Sums are exact then, hence the same in whatever order they are made:
//! that lets every algorithm add up clauses as they come, and still give the same bits.

mod bm25;
mod dirichlet;
mod formula;
mod model;
mod text;
mod tf_idf;
mod value;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use formula::{FormulaText, on_grid};
pub use formula::{TermCounts, TermWeight};
pub use model::{Model, Parameter, Values};
pub use text::UnknownRanking;
pub use value::Ranking;

use bm25::Bm25;
use dirichlet::Dirichlet;
use formula::Formula;
use std::sync::LazyLock;
use tf_idf::TfIdf;

/// Evaluates an expression with the formula of a ranking. The only list of the variants beside their declaration.
macro_rules! with_formula {
    ($ranking:expr, $formula:ident => $result:expr) => {
        match $ranking {
            Ranking::Bm25 { k1, b } => {
                let $formula = Bm25 { k1, b };
                $result
            }
            Ranking::TfIdf => {
                let $formula = TfIdf;
                $result
            }
            Ranking::Dirichlet { mu } => {
                let $formula = Dirichlet { mu };
                $result
            }
        }
    };
}

impl Default for Ranking {
    fn default() -> Self {
        static DEFAULT: LazyLock<Ranking> = LazyLock::new(|| Ranking::MODELS[0].ranking());
        *DEFAULT
    }
}

/// Returns the registry entry of a formula.
const fn model_of<F: Formula>(_: &F) -> &'static Model {
    const { &F::MODEL }
}

/// Returns whether the weights of a formula are upper bounds on scores.
fn saturates_of<F: Formula>(_: F) -> bool {
    F::SATURATES
}

/// Returns whether the rarity of a formula depends on occurrences.
fn counts_occurrences_of<F: Formula>(_: F) -> bool {
    F::COUNTS_OCCURRENCES
}

/// Returns the name of the rarity of a formula.
fn rarity_name_of<F: Formula>(_: F) -> &'static str {
    F::RARITY
}

impl Ranking {
    /// Registered models; the first is the default.
    pub const MODELS: [&'static Model; 3] = [&Bm25::MODEL, &TfIdf::MODEL, &Dirichlet::MODEL];

    /// Returns the model.
    pub fn model(self) -> &'static Model {
        with_formula!(self, formula => model_of(&formula))
    }

    /// Returns the values of the parameters, in the order of [`Model::parameters`].
    pub fn values(self) -> Values {
        with_formula!(self, formula => formula.values())
    }

    /// Returns the value of a parameter, if the model has it.
    pub fn parameter(self, name: &str) -> Option<f32> {
        let place = self.model().place(name)?;
        self.values().get(place).copied()
    }

    /// Returns the ranking with another value of a parameter; unchanged where the model has no such parameter.
    pub fn with_parameter(self, name: &str, value: f32) -> Ranking {
        let model = self.model();
        let mut values = self.values();
        if let Some(own) = model.place(name).and_then(|place| values.get_mut(place)) {
            *own = value;
        }
        model.with(&values)
    }

    /// Returns the ranking with its parameters inside their ranges. No score can be NaN then.
    pub fn sanitized(self) -> Ranking {
        let (model, values) = (self.model(), self.values());
        // Rankings that were read are inside, and each search comes here.
        let mut own = model.parameters.iter().zip(&values);
        match own.all(|(one, value)| one.allows(*value)) {
            true => self,
            false => model.with(&values),
        }
    }

    /// Returns whether the rarity depends on the occurrences of the term, rather than on its documents alone.
    pub fn counts_occurrences(self) -> bool {
        with_formula!(self, formula => counts_occurrences_of(formula))
    }

    /// Returns how much an occurrence of a term tells: its inverse document frequency, or what stands for it.
    pub fn rarity(self, counts: &TermCounts) -> f32 {
        with_formula!(self, formula => formula.rarity(counts))
    }

    /// Returns the numbers of a clause, by its frequency in the query; a phrase has the sum of its words' rarities.
    pub fn weigh(self, query_frequency: u32, boost: f32, rarity: f32) -> TermWeight {
        with_formula!(self, formula => formula.weigh(query_frequency, boost, rarity))
    }

    /// Returns the factor that a length contributes.
    pub fn factor(self, length: u32, average: f32) -> f32 {
        with_formula!(self, formula => formula.factor(length, average))
    }

    /// Upper bound on the score of a clause of a weight.
    pub fn most(self, weight: TermWeight) -> f64 {
        with_formula!(self, formula => formula.most(weight))
    }

    /// Returns whether the weight is an upper bound on scores of any frequency.
    pub(crate) fn saturates(self) -> bool {
        with_formula!(self, formula => saturates_of(formula))
    }

    /// Returns the grid for clauses whose scores add up to `most` at most: a number that, added to a score and
    /// subtracted again, leaves it rounded to a multiple of 2^-22 of the next power of two above `most`.
    pub fn grid(most: f64) -> f32 {
        if !(most > 1e-30 && most < 1e30) {
            // There are no scores, or none in a sensible range: they stay as they are.
            return 0.0;
        }
        let above = 2f32.powi(most.log2().floor() as i32 + 1);
        // From 3 to 4 times a power of two the unit in the last place is 2^-22 of it.
        3.0 * above
    }

    /// Calls `each` for every frequency below [`codec::limits::LIMITS`] with a lower bound on the length factor of a posting of that
    /// frequency that scores `least`.
    #[inline]
    pub(crate) fn least_factors(
        self,
        weight: TermWeight,
        grid: f32,
        least: f32,
        each: impl FnMut(usize, f32),
    ) {
        with_formula!(self, formula => formula.least_factors(weight, grid, least, each));
    }

    /// Returns the score of one term in one document, on the grid.
    #[inline]
    pub fn score(self, weight: TermWeight, frequency: u32, factor: f32, grid: f32) -> f32 {
        with_formula!(self, formula => formula.score(weight, frequency, factor, grid))
    }

    /// Returns the scores of four postings of one term.
    #[inline]
    pub(crate) fn score_four(
        self,
        weight: TermWeight,
        frequencies: [u32; 4],
        factors: [f32; 4],
        grid: f32,
    ) -> [f32; 4] {
        with_formula!(self, formula => formula.score_four(weight, frequencies, factors, grid))
    }

    /// Computes the scores of many postings of one term.
    #[inline]
    pub(crate) fn score_many(
        self,
        weight: TermWeight,
        frequencies: &[u32],
        factors: &[f32],
        grid: f32,
        scores: &mut [f32],
    ) {
        with_formula!(self, formula => {
            formula.score_many(weight, frequencies, factors, grid, scores);
        });
    }

    /// Returns the name of the rarity in explanations.
    pub(crate) fn rarity_name(self) -> &'static str {
        with_formula!(self, formula => rarity_name_of(formula))
    }

    /// Returns the derivation of a rarity.
    pub(crate) fn rarity_text(self, counts: &TermCounts) -> String {
        with_formula!(self, formula => formula.rarity_text(counts))
    }

    /// Returns the other parts of the formula as text.
    pub(crate) fn formula_text(self, length: u32, average: f32) -> FormulaText {
        with_formula!(self, formula => formula.text(length, average))
    }
}
