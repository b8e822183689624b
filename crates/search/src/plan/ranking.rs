//! Ranking functions BM25 and classic tf·idf, in one form.
//!
//! ```text
//! score = shape(weight · boost, frequency, factor[length byte])     all in f32; boost 1 unless the query says another
//!
//! BM25    weight = said · idf    factor = 1 / (k1 · (1 - b + b · length / average))
//!         weight - weight / (1 + frequency · factor)
//! tf·idf  weight = said · idf²   factor = 1 / √length
//!         weight · √frequency · factor
//! ```
//!
//! BM25 is Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
//! with the idf of Lucene 8 and later, `ln(1 + (N - df + 0.5) / (df + 0.5))`, which is never
//! negative, and without the constant factor k1 + 1. tf·idf is Lucene 3's default without the
//! query norm and the coordination factor: `idf = 1 + ln(N / (df + 1))`.
//!
//! The score of a clause is rounded to a grid that the plan chooses (see [`Ranking::grid`]): so coarse
//! that every sum of a query's clauses is a number of 24 bits, and so fine that it is invisible (about
//! 2^-22 of the highest score). Sums are exact then, hence the same in whatever order they are made:
//! that lets every algorithm add up clauses as they come, and still give the same bits.
//!
//! Invariant: a score never falls when the frequency rises, and never rises with the length byte.
//! Why BM25 is written with a subtraction: `frequency / (frequency + 1 / factor)` rounds twice in
//! opposite directions and so can fall by a unit in the last place; here every step is monotone,
//! and so is its rounding. Upper bounds of a block of postings rest on this.

use codec::lanes;
use codec::limits::LIMITS;
use std::sync::LazyLock;

/// Reciprocals, by frequency.
pub(crate) static SHARES: [f32; LIMITS] = {
    let mut shares = [f32::INFINITY; LIMITS];
    let mut frequency = 1;
    while frequency < LIMITS {
        shares[frequency] = 1.0 / frequency as f32;
        frequency += 1;
    }
    shares
};

/// Reciprocals of square roots, by frequency.
pub(crate) static SHARES_OF_ROOTS: LazyLock<[f32; LIMITS]> =
    LazyLock::new(|| SHARES.map(f32::sqrt));

/// A ranking function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ranking {
    /// BM25 (Robertson & Zaragoza 2009), without the constant factor k1 + 1.
    Bm25 {
        /// Saturation of the term frequency.
        k1: f32,
        /// Strength of length normalisation.
        b: f32,
    },
    /// Classic tf·idf: √tf · idf² / √length.
    TfIdf,
}

impl Default for Ranking {
    fn default() -> Self {
        Ranking::Bm25 { k1: 1.2, b: 0.75 }
    }
}

impl Ranking {
    /// Returns the ranking with its parameters inside their ranges: `k1` ≥ 0 and finite, `b` in 0..=1. No score can be
    /// NaN then.
    pub fn sanitized(self) -> Ranking {
        match self {
            // `max` drops a NaN.
            Ranking::Bm25 { k1, b } => Ranking::Bm25 {
                k1: f32::min(k1.max(0.0), 1e9),
                b: f32::min(b.max(0.0), 1.0),
            },
            Ranking::TfIdf => Ranking::TfIdf,
        }
    }

    /// Returns the ranking with another strength of length normalisation, where it has one.
    pub(crate) fn with_length_normalisation(self, b: f32) -> Ranking {
        match self {
            Ranking::Bm25 { k1, .. } => Ranking::Bm25 { k1, b }.sanitized(),
            Ranking::TfIdf => Ranking::TfIdf,
        }
    }

    /// Returns the inverse document frequency of a term that occurs in `document_frequency` of `documents_count`
    /// documents.
    pub fn inverse_document_frequency(self, documents_count: u64, document_frequency: u64) -> f32 {
        let n = documents_count as f64;
        let df = document_frequency.min(documents_count) as f64;
        match self {
            Ranking::Bm25 { .. } => (1.0 + (n - df + 0.5) / (df + 0.5)).ln() as f32,
            Ranking::TfIdf => (1.0 + (n.max(1.0) / (df + 1.0)).ln()) as f32,
        }
    }

    /// Returns the weight of a term that occurs `said` times in the query.
    pub fn weight(self, said: u32, idf: f32) -> f32 {
        match self {
            Ranking::Bm25 { .. } => said as f32 * idf,
            Ranking::TfIdf => said as f32 * idf * idf,
        }
    }

    /// Returns the factor that a length contributes.
    pub fn factor(self, length: u32, average: f32) -> f32 {
        match self {
            Ranking::Bm25 { k1, b } => 1.0 / (k1 * (1.0 - b + b * length as f32 / average)),
            Ranking::TfIdf => 1.0 / (length.max(1) as f32).sqrt(),
        }
    }

    /// Upper bound on the score of a clause of a weight.
    pub fn most(self, weight: f32) -> f64 {
        match self {
            Ranking::Bm25 { .. } => weight.into(),
            // A length is stored up to an eighth too short, and a frequency may reach the true length.
            Ranking::TfIdf => f64::from(weight) * 1.1,
        }
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

    /// Returns a lower bound on the product of length factor and share of the frequency (see [`Ranking::shares`]) of a
    /// posting that scores `least`. It allows for rounding.
    pub(crate) fn least_factor(self, weight: f32, grid: f32, least: f32) -> f32 {
        // Roundings raise a score by three units in the last place and half a step of the grid, 2^-22 of `grid`, at
        // most.
        let least = least - (weight + grid) * 1e-6;
        let needed = match self {
            // weight - weight / (1 + x) >= least, solved for x.
            Ranking::Bm25 { .. } => least / (weight - least).max(weight * 1e-6),
            Ranking::TfIdf => least / weight,
        };
        match least > 0.0 && needed >= 0.0 {
            true => needed * (1.0 - 1e-5),
            false => 0.0,
        }
    }

    /// Returns, by frequency, the length factor that is as good as a factor of 1 with a frequency of 1.
    #[inline]
    pub(crate) fn shares(self) -> &'static [f32; LIMITS] {
        match self {
            Ranking::Bm25 { .. } => &SHARES,
            Ranking::TfIdf => &SHARES_OF_ROOTS,
        }
    }

    /// Returns the score of one term in one document, on the grid.
    #[inline]
    pub fn score(self, weight: f32, frequency: u32, factor: f32, grid: f32) -> f32 {
        match self {
            Ranking::Bm25 { .. } => lanes::saturate_one(weight, grid, frequency, factor),
            Ranking::TfIdf => on_grid(weight * (frequency as i32 as f32).sqrt() * factor, grid),
        }
    }

    /// Returns the scores of four postings of one term.
    #[inline]
    pub(crate) fn score_four(
        self,
        weight: f32,
        frequencies: [u32; 4],
        factors: [f32; 4],
        grid: f32,
    ) -> [f32; 4] {
        match self {
            Ranking::Bm25 { .. } => std::array::from_fn(|at| {
                lanes::saturate_one(weight, grid, frequencies[at], factors[at])
            }),
            Ranking::TfIdf => {
                std::array::from_fn(|at| self.score(weight, frequencies[at], factors[at], grid))
            }
        }
    }

    /// Computes the scores of many postings of one term.
    #[inline]
    pub(crate) fn score_many(
        self,
        weight: f32,
        frequencies: &[u32],
        factors: &[f32],
        grid: f32,
        scores: &mut [f32],
    ) {
        match self {
            Ranking::Bm25 { .. } => lanes::saturate(weight, grid, frequencies, factors, scores),
            Ranking::TfIdf => {
                for ((score, &frequency), &factor) in
                    scores.iter_mut().zip(frequencies).zip(factors)
                {
                    *score = self.score(weight, frequency, factor, grid);
                }
            }
        }
    }
}

/// Rounds a value to a grid (see [`Ranking::grid`]).
#[inline]
pub(crate) fn on_grid(value: f32, grid: f32) -> f32 {
    (value + grid) - grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use testkit::floats;

    fn rankings() -> impl Strategy<Value = Ranking> {
        prop_oneof![
            Just(Ranking::default()),
            (floats(0.0, 4.0), floats(0.0, 1.0)).prop_map(|(k1, b)| Ranking::Bm25 { k1, b }),
            Just(Ranking::TfIdf),
        ]
    }

    #[test]
    fn bm25_by_hand() {
        let ranking = Ranking::default();
        let idf = ranking.inverse_document_frequency(10, 2);
        assert!((idf - (1.0f32 + 8.5 / 2.5).ln()).abs() < 1e-6);
        let score = ranking.score(idf, 3, ranking.factor(20, 10.0), 0.0);
        let expected = idf * 3.0 / (3.0 + 1.2 * (0.25 + 0.75 * 2.0));
        assert!((score - expected).abs() < 1e-6, "{score} {expected}");
    }

    #[test]
    fn tfidf_by_hand() {
        let ranking = Ranking::TfIdf;
        let idf = ranking.inverse_document_frequency(10, 4);
        assert!((idf - (1.0 + 2.0f32.ln())).abs() < 1e-6);
        let score = ranking.score(ranking.weight(1, idf), 9, ranking.factor(25, 0.0), 0.0);
        assert!((score - idf * idf * 3.0 / 5.0).abs() < 1e-6);
    }

    #[test]
    fn odd_parameters_give_no_nan() {
        for k1 in [f32::NAN, -1.0, 0.0, f32::INFINITY] {
            for b in [f32::NAN, -1.0, 0.0, 1.0, 7.0] {
                let ranking = Ranking::Bm25 { k1, b }.sanitized();
                for length in [0, 1, 1000, u32::MAX] {
                    let score = ranking.score(2.0, 3, ranking.factor(length, 1.0), 6.0);
                    assert!((0.0..=2.0).contains(&score), "{ranking:?} {length} {score}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn score_rises_with_frequency_and_falls_with_length(
            ranking in rankings(),
            weight in floats(0.0, 50.0),
            frequency in 1u32..100_000,
            more in 1u32..1000,
            length in 0u32..1_000_000,
            longer in 1u32..1_000_000,
            average in floats(0.5, 5000.0),
        ) {
            let (long, short) = (length + longer, length);
            let grid = Ranking::grid(ranking.most(weight));
            let score = |tf, len| ranking.score(weight, tf, ranking.factor(len, average), grid);
            prop_assert!(score(frequency, short) <= score(frequency + more, short));
            prop_assert!(score(frequency, long) <= score(frequency, short));
            prop_assert!(score(frequency, short) >= 0.0);
        }

        #[test]
        fn sums_on_the_grid_are_the_same_in_any_order(
            clauses in prop::collection::vec((floats(0.0, 20.0), 1u32..1000, floats(0.001, 9.0)), 1..30),
            ranking in rankings(),
            turn in any::<prop::sample::Index>(),
        ) {
            let ranking = ranking.sanitized();
            let most = clauses.iter().map(|(weight, ..)| ranking.most(*weight)).sum();
            let grid = Ranking::grid(most);
            let mut scores: Vec<f32> = clauses
                .iter()
                .map(|&(weight, tf, factor)| {
                    // No frequency exceeds its length.
                    let factor = factor.min(1.0 / (tf as f32).sqrt());
                    ranking.score(weight, tf, factor, grid)
                })
                .collect();
            let forwards: f32 = scores.iter().sum();
            let exact: f64 = scores.iter().map(|&score| f64::from(score)).sum();
            let at = turn.index(scores.len());
            scores.rotate_left(at);
            scores.reverse();
            prop_assert_eq!(scores.iter().sum::<f32>().to_bits(), forwards.to_bits());
            prop_assert_eq!(f64::from(forwards), exact);
        }
    }
}
