//! Query likelihood with Dirichlet smoothing (Zhai & Lafferty, "A Study of Smoothing Methods for Language Models Applied to
//! Ad Hoc Information Retrieval", 2001), in the form of Lucene's LMDirichletSimilarity.
//!
//! ```text
//! p           = (cf + 1) / (C + 1)            cf occurrences of the term, C words of the field, in live documents
//! information = ln(1 / p)
//! scale       = exp(information) / mu         = 1 / (mu · p)
//! weight      = said · boost
//! factor      = mu / (mu + length)
//! score       = weight · ln(max(1, (1 + frequency · scale) · factor))
//! ```
//!
//! The likelihood of a term that is rarer in a document than in the collection is negative. It counts as 0, as in Lucene. The
//! probability of a phrase is the product of those of its words, so their information adds up.
//!
//! Why one logarithm of a product: its argument is rounded to f32, and the logarithms of neighbouring numbers of f32 are so
//! far apart that no error of a logarithm in f64 can swap them. So the score is monotone, whatever library computes it.

use crate::plan::ranking::formula::{
    Formula, FormulaText, TermCounts, TermWeight, before_rounding, on_grid,
};
use crate::plan::ranking::model::{Model, Parameter, Values};
use crate::plan::ranking::value::Ranking;
use codec::limits::LIMITS;

/// Greatest scale, which only phrases of many rare words reach: its product with any frequency is finite.
const SCALE_MAX: f64 = 1e28;

/// Query likelihood with its parameter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dirichlet {
    pub(super) mu: f32,
}

impl Formula for Dirichlet {
    const MODEL: Model = Model {
        name: "dirichlet",
        aliases: &["lmdirichlet", "qld"],
        summary: "Query likelihood with Dirichlet smoothing",
        parameters: &[Parameter {
            name: "mu",
            default: 1000.0,
            least: 1.0,
            greatest: 1e6,
            help: "Dirichlet smoothing, in words of the collection that each document is mixed with, 1 to 1000000",
        }],
        make: |values| Ranking::Dirichlet { mu: values[0] },
    };
    const RARITY: &'static str = "information";
    const COUNTS_OCCURRENCES: bool = true;

    fn values(self) -> Values {
        Values::from_slice(&[self.mu])
    }

    fn rarity(self, counts: &TermCounts) -> f32 {
        let occurrences = counts.occurrences.min(counts.words) as f64;
        ((counts.words as f64 + 1.0) / (occurrences + 1.0)).ln() as f32
    }

    #[inline]
    fn weigh(self, query_frequency: u32, boost: f32, rarity: f32) -> TermWeight {
        let scale = f64::from(rarity).exp() / f64::from(self.mu);
        TermWeight {
            weight: query_frequency as f32 * boost,
            scale: scale.min(SCALE_MAX) as f32,
        }
    }

    fn factor(self, length: u32, _average: f32) -> f32 {
        self.mu / (self.mu + length as f32)
    }

    #[inline]
    fn most(self, weight: TermWeight) -> f64 {
        // Of all lengths, with a frequency of 1.25 times the length (it is stored up to an eighth too short), the infinite one
        // has the highest score.
        let most = 1.25 * f64::from(self.mu) * f64::from(weight.scale);
        f64::from(weight.weight) * most.max(1.0).ln()
    }

    // Not inlined: beside a logarithm a call costs little, and the loops of all models stay small.
    #[inline(never)]
    fn score(self, weight: TermWeight, frequency: u32, factor: f32, grid: f32) -> f32 {
        let likelihood = (1.0 + frequency as i32 as f32 * weight.scale) * factor;
        on_grid(
            weight.weight * f64::from(likelihood.max(1.0)).ln() as f32,
            grid,
        )
    }

    #[inline]
    fn least_factors(
        self,
        TermWeight { weight, scale }: TermWeight,
        grid: f32,
        least: f32,
        mut each: impl FnMut(usize, f32),
    ) {
        let least = before_rounding(least, weight + least, grid);
        // weight · ln(x) >= least, solved for x.
        let needed = match least > 0.0 && weight > 0.0 {
            true => (f64::from(least) / f64::from(weight)).exp() as f32 * (1.0 - 1e-5),
            false => 0.0,
        };
        for frequency in 0..LIMITS {
            each(frequency, needed / (1.0 + frequency as f32 * scale));
        }
    }

    fn rarity_text(self, counts: &TermCounts) -> String {
        format!(
            "information = ln(1 / p), p = (cf + 1) / (C + 1), cf = {}, C = {}",
            counts.occurrences, counts.words
        )
    }

    fn text(self, length: u32, _average: f32) -> FormulaText {
        let mu = self.mu;
        FormulaText {
            score: "query likelihood = weight * ln(max(1, (1 + frequency * scale) * factor))",
            weight: "said",
            factor: format!("factor = mu / (mu + length), mu = {mu}, length = {length}"),
            scale: Some(format!("scale = exp(information) / mu, mu = {mu}")),
        }
    }
}
