//! BM25 (Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
//!
//! ```text
//! idf    = ln(1 + (N - df + 0.5) / (df + 0.5))          that of Lucene 8 and later, which is never negative
//! weight = said · idf · boost
//! factor = 1 / (k1 · (1 - b + b · length / average))
//! score  = weight - weight / (1 + frequency · factor)   without the constant factor k1 + 1
//! ```
//!
//! Why a subtraction: `frequency / (frequency + 1 / factor)` rounds twice in opposite directions and so can fall by a unit in
//! the last place; here every step is monotone, and so is its rounding.

use crate::plan::ranking::formula::{
    Formula, FormulaText, TermCounts, TermWeight, before_rounding, by_shares,
};
use crate::plan::ranking::model::{Model, Parameter, Values};
use crate::plan::ranking::value::Ranking;
use codec::lanes;
use codec::limits::LIMITS;

/// Reciprocals, by frequency.
static SHARES: [f32; LIMITS] = {
    let mut shares = [f32::INFINITY; LIMITS];
    let mut frequency = 1;
    while frequency < LIMITS {
        shares[frequency] = 1.0 / frequency as f32;
        frequency += 1;
    }
    shares
};

/// BM25 with its parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bm25 {
    pub(super) k1: f32,
    pub(super) b: f32,
}

impl Formula for Bm25 {
    const MODEL: Model = Model {
        name: "bm25",
        aliases: &[],
        summary: "BM25 (see --k1 and --b)",
        parameters: &[
            Parameter {
                name: "k1",
                default: 1.2,
                least: 0.0,
                greatest: 1000.0,
                help: "BM25 term frequency saturation, 0 to 1000; 0 counts no occurrence beyond the first",
            },
            Parameter {
                name: "b",
                default: 0.75,
                least: 0.0,
                greatest: 1.0,
                help: "BM25 length normalization, 0 (none) to 1 (full)",
            },
        ],
        make: |values| Ranking::Bm25 {
            k1: values[0],
            b: values[1],
        },
    };
    const SATURATES: bool = true;

    fn values(self) -> Values {
        Values::from_slice(&[self.k1, self.b])
    }

    fn rarity(self, counts: &TermCounts) -> f32 {
        let n = counts.documents_count as f64;
        let df = counts.document_frequency.min(counts.documents_count) as f64;
        (1.0 + (n - df + 0.5) / (df + 0.5)).ln() as f32
    }

    #[inline]
    fn weigh(self, query_frequency: u32, boost: f32, rarity: f32) -> TermWeight {
        TermWeight {
            weight: query_frequency as f32 * rarity * boost,
            scale: 1.0,
        }
    }

    fn factor(self, length: u32, average: f32) -> f32 {
        1.0 / (self.k1 * (1.0 - self.b + self.b * length as f32 / average))
    }

    #[inline]
    fn most(self, weight: TermWeight) -> f64 {
        weight.weight.into()
    }

    #[inline]
    fn score(self, weight: TermWeight, frequency: u32, factor: f32, grid: f32) -> f32 {
        lanes::saturate_one(weight.weight, grid, frequency, factor)
    }

    #[inline]
    fn score_four(
        self,
        weight: TermWeight,
        frequencies: [u32; 4],
        factors: [f32; 4],
        grid: f32,
    ) -> [f32; 4] {
        // One vector division.
        std::array::from_fn(|at| {
            lanes::saturate_one(weight.weight, grid, frequencies[at], factors[at])
        })
    }

    #[inline]
    fn score_many(
        self,
        weight: TermWeight,
        frequencies: &[u32],
        factors: &[f32],
        grid: f32,
        scores: &mut [f32],
    ) {
        lanes::saturate(weight.weight, grid, frequencies, factors, scores);
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
        // weight - weight / (1 + x) >= least, solved for x.
        let needed = least / (weight - least).max(weight * 1e-6);
        let needed = match least > 0.0 && needed >= 0.0 {
            true => needed * (1.0 - 1e-5),
            false => 0.0,
        };
        by_shares(needed, &SHARES, each);
    }

    fn rarity_text(self, counts: &TermCounts) -> String {
        format!(
            "idf = ln(1 + (N - df + 0.5) / (df + 0.5)), N = {}, df = {}",
            counts.documents_count, counts.document_frequency
        )
    }

    fn text(self, length: u32, average: f32) -> FormulaText {
        let Bm25 { k1, b } = self;
        FormulaText {
            score: "BM25 = weight - weight / (1 + frequency * factor)",
            weight: "said * idf",
            factor: format!(
                "factor = 1 / (k1 * (1 - b + b * length / average)), \
                 k1 = {k1}, b = {b}, length = {length}, average = {average}"
            ),
            scale: None,
        }
    }
}
