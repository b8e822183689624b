//! Classic tf·idf: the default of Lucene 3 without the query norm and the coordination factor.
//!
//! ```text
//! idf    = 1 + ln(N / (df + 1))
//! weight = said · idf² · boost
//! factor = 1 / √length
//! score  = weight · √frequency · factor
//! ```

use crate::plan::ranking::formula::{
    Formula, FormulaText, TermCounts, TermWeight, before_rounding, by_shares, on_grid,
};
use crate::plan::ranking::model::{Model, Values};
use crate::plan::ranking::value::Ranking;
use codec::limits::LIMITS;
use std::sync::LazyLock;

/// Reciprocals of square roots, by frequency.
static SHARES: LazyLock<[f32; LIMITS]> =
    LazyLock::new(|| std::array::from_fn(|frequency| (1.0 / frequency as f32).sqrt()));

/// Classic tf·idf, which has no parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct TfIdf;

impl Formula for TfIdf {
    const MODEL: Model = Model {
        name: "tfidf",
        aliases: &[],
        summary: "Classic tf·idf",
        parameters: &[],
        make: |_| Ranking::TfIdf,
    };

    fn values(self) -> Values {
        Values::new()
    }

    fn rarity(self, counts: &TermCounts) -> f32 {
        let n = counts.documents_count as f64;
        let df = counts.document_frequency.min(counts.documents_count) as f64;
        (1.0 + (n.max(1.0) / (df + 1.0)).ln()) as f32
    }

    #[inline]
    fn weigh(self, query_frequency: u32, boost: f32, rarity: f32) -> TermWeight {
        TermWeight {
            weight: query_frequency as f32 * rarity * rarity * boost,
            scale: 1.0,
        }
    }

    fn factor(self, length: u32, _average: f32) -> f32 {
        1.0 / (length.max(1) as f32).sqrt()
    }

    #[inline]
    fn most(self, weight: TermWeight) -> f64 {
        // A length is stored up to an eighth too short, and a frequency may reach the true length.
        f64::from(weight.weight) * 1.1
    }

    #[inline]
    fn score(self, weight: TermWeight, frequency: u32, factor: f32, grid: f32) -> f32 {
        on_grid(
            weight.weight * (frequency as i32 as f32).sqrt() * factor,
            grid,
        )
    }

    #[inline]
    fn least_factors(
        self,
        TermWeight { weight, .. }: TermWeight,
        grid: f32,
        least: f32,
        each: impl FnMut(usize, f32),
    ) {
        let least = before_rounding(least, weight, grid);
        let needed = match least > 0.0 && least / weight >= 0.0 {
            true => least / weight * (1.0 - 1e-5),
            false => 0.0,
        };
        by_shares(needed, &SHARES, each);
    }

    fn rarity_text(self, counts: &TermCounts) -> String {
        format!(
            "idf = 1 + ln(N / (df + 1)), N = {}, df = {}",
            counts.documents_count, counts.document_frequency
        )
    }

    fn text(self, length: u32, _average: f32) -> FormulaText {
        FormulaText {
            score: "tf-idf = weight * sqrt(frequency) * factor",
            weight: "said * idf * idf",
            factor: format!("factor = 1 / sqrt(length), length = {length}"),
            scale: None,
        }
    }
}
