//! Predicted time of a search, fitted to the searches that a server runs.
//!
//! ```text
//! t = exp(c₀) · (1 + P/10³)^c₁ · (1 + P/10⁵)^c₂ · lists^c₃ · (1 + min(k, P))^c₄        ns; P postings, k hits
//! ```
//!
//! A product of powers, because searches for the k best read a share of the postings that shrinks with their number:
//! sums of postings and of postings × lists were off by a factor of 1.6 on average for unions of up to a hundred
//! words, and this by 1.24. The exponents are fitted for each kind of query, by ridge regression of ln t with
//! none below 0, over the latest [`SAMPLES`] searches of the kind. Between two fits a running ratio of true to predicted
//! time corrects them. The model steers handlers and decides nothing about hits.

/// Features of a search, from which its time is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Number of the kind of query, below the number of kinds of the model.
    pub kind: usize,
    /// Number of postings of the leading lists.
    pub postings: u64,
    /// Lists.
    pub lists: u32,
    /// Hits wanted.
    pub k: u32,
}

/// Predicted time of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prediction {
    /// Time that half of such searches exceed, about, in ns.
    pub likely_ns: u64,
    /// Time that a tenth of such searches exceeds, about, in ns.
    pub high_ns: u64,
    /// Whether enough such searches were measured, and predicted well: only then is it worth cutting one by its time.
    pub is_trusted: bool,
}

/// Searches of a kind between two fits, and the number that a fit takes.
pub const SAMPLES: usize = 256;
/// Searches of a kind before its first fit.
const FIRST_FIT: usize = 64;
/// Weight of a new ratio: 1/64.
const NEW: f64 = 1.0 / 64.0;
/// Bounds of the running ratio.
const RATIO: [f64; 2] = [0.25, 4.0];
/// Step of the estimate of the 90th percentile, relative.
const STEP: f64 = 0.02;
/// Error up to which predictions are trusted: a factor of 2.7.
const TRUSTED_ERROR_MAX: f64 = 1.0;
/// Ratio of true to predicted time up to which a search counts: beyond, its thread has lost the CPU.
const OFF_MAX: f64 = 5.0;
/// Rounds of coordinate descent of a fit.
const ROUNDS: usize = 60;
/// Weight of the exponents before a fit, in searches.
const RIDGE: f64 = 1.0;
const EXPONENT_MAX: f64 = 3.0;
/// Bound on ln t, t in ns: a quarter of an hour.
const LN_NS_MAX: f64 = 27.5;

const SLOPES: usize = 4;

/// Coefficients of ln t.
#[derive(Debug, Clone, Copy)]
struct Coefficients {
    constant: f64,
    exponents: [f64; SLOPES],
}

/// Terms and ln t of a search.
type Sample = ([f64; SLOPES], f64);

/// Coefficients until searches are measured: about those of unions on a 2 GHz server core.
const FIRST: Coefficients = Coefficients {
    constant: 8.0,
    exponents: [0.3, 0.2, 0.5, 0.1],
};

/// Predictions by kind of query.
#[derive(Debug, Clone)]
pub struct CostModel {
    kinds: Vec<Kind>,
}

#[derive(Debug, Clone)]
struct Kind {
    coefficients: Coefficients,
    /// Running mean of true over predicted time.
    ratio: f64,
    /// Running 90th percentile of true over likely time.
    high: f64,
    /// Running mean of |ln(true / likely)|.
    error: f64,
    observed: u64,
    /// Terms and ln t of the latest searches.
    samples: Vec<Sample>,
}

impl CostModel {
    /// Returns the first model of `kinds` kinds.
    pub fn new(kinds: usize) -> CostModel {
        let first = Kind {
            coefficients: FIRST,
            ratio: 1.0,
            high: 2.0,
            error: 0.0,
            observed: 0,
            samples: Vec::with_capacity(SAMPLES),
        };
        CostModel {
            kinds: vec![first; kinds.max(1)],
        }
    }

    /// Predicts the time of a search.
    pub fn predict(&self, work: &Work) -> Prediction {
        let kind = &self.kinds[work.kind.min(self.kinds.len() - 1)];
        let likely_ns = kind.coefficients.ln_ns(&terms(work)).exp() * kind.ratio;
        Prediction {
            likely_ns: likely_ns as u64,
            high_ns: (likely_ns * kind.high.max(1.0)) as u64,
            is_trusted: kind.observed >= FIRST_FIT as u64 && kind.error < TRUSTED_ERROR_MAX,
        }
    }

    /// Learns from the handler time of a search.
    pub fn observe(&mut self, work: &Work, predicted: &Prediction, spent_ns: u64) {
        let last = self.kinds.len() - 1;
        self.kinds[work.kind.min(last)].observe(work, predicted, spent_ns.max(1));
    }

    /// Returns the mean of |ln(true / predicted)| of late over all kinds, by the number of their searches: 0.5 means
    /// that times are off by a factor of 1.6 on average.
    pub fn error(&self) -> f64 {
        let observed: u64 = self.kinds.iter().map(|kind| kind.observed).sum();
        let errors = self
            .kinds
            .iter()
            .map(|kind| kind.error * kind.observed as f64);
        errors.sum::<f64>() / (observed.max(1) as f64)
    }
}

impl Kind {
    fn observe(&mut self, work: &Work, predicted: &Prediction, spent_ns: u64) {
        self.observed += 1;
        let spent_ns = spent_ns as f64;
        let likely_ns = predicted.likely_ns.max(1) as f64;
        let off = spent_ns / likely_ns;
        self.error += (off.ln().abs() - self.error) * NEW;
        // Stochastic approximation of a percentile (Robbins and Monro 1951).
        self.high *= match off > self.high {
            true => 1.0 + 0.9 * STEP,
            false => 1.0 - 0.1 * STEP,
        };
        self.high = self.high.clamp(1.0, 100.0);
        self.ratio += self.ratio * (off.clamp(0.1, OFF_MAX) - 1.0) * NEW;
        self.ratio = self.ratio.clamp(RATIO[0], RATIO[1]);
        let ln_ns = match self.observed > FIRST_FIT as u64 {
            true => spent_ns.min(likely_ns * OFF_MAX).ln(),
            false => spent_ns.ln(),
        };
        self.samples.push((terms(work), ln_ns));
        let is_first = self.observed == FIRST_FIT as u64;
        if is_first || self.samples.len() == SAMPLES {
            self.fit();
            if !is_first {
                self.samples.clear();
            }
        }
    }

    /// Fits the coefficients to the samples, and measures their error.
    fn fit(&mut self) {
        self.coefficients = fitted(&self.samples, &self.coefficients);
        self.ratio = 1.0;
        let off = |(terms, ln_ns): &(_, f64)| (ln_ns - self.coefficients.ln_ns(terms)).abs();
        let errors: f64 = self.samples.iter().map(off).sum();
        self.error = errors / self.samples.len() as f64;
    }
}

impl Coefficients {
    /// Returns ln t, t in ns.
    fn ln_ns(&self, terms: &[f64; SLOPES]) -> f64 {
        let products = self
            .exponents
            .iter()
            .zip(terms)
            .map(|(one, term)| one * term);
        (self.constant + products.sum::<f64>()).clamp(0.0, LN_NS_MAX)
    }
}

/// Returns the logarithms in the formula, in the order of the exponents.
fn terms(work: &Work) -> [f64; SLOPES] {
    let postings = work.postings as f64;
    [
        (postings / 1e3).ln_1p(),
        (postings / 1e5).ln_1p(),
        f64::from(work.lists.max(1)).ln(),
        f64::from(work.k).min(postings).ln_1p(),
    ]
}

/// Fits coefficients by coordinate descent on Σ (c₀ + Σ cᵢ·xᵢ − ln t)² + [`RIDGE`] · Σ (cᵢ − before)², each exponent kept
/// from 0 to [`EXPONENT_MAX`].
fn fitted(samples: &[Sample], before: &Coefficients) -> Coefficients {
    let count = samples.len().max(1) as f64;
    let mean = |of: &dyn Fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let means: [f64; SLOPES] = std::array::from_fn(|i| mean(&|(terms, _)| terms[i]));
    let ln_ns_mean = mean(&|&(_, ln_ns)| ln_ns);
    let (mut products, mut targets) = ([[0.0; SLOPES]; SLOPES], [0.0; SLOPES]);
    for (terms, ln_ns) in samples {
        for i in 0..SLOPES {
            let term = terms[i] - means[i];
            targets[i] += term * (ln_ns - ln_ns_mean);
            for j in 0..SLOPES {
                products[i][j] += term * (terms[j] - means[j]);
            }
        }
    }
    let mut found = before.exponents;
    for _ in 0..ROUNDS {
        for i in 0..SLOPES {
            let others: f64 = (0..SLOPES)
                .filter(|&j| j != i)
                .map(|j| products[i][j] * found[j])
                .sum();
            let best =
                (targets[i] - others + RIDGE * before.exponents[i]) / (products[i][i] + RIDGE);
            found[i] = best.clamp(0.0, EXPONENT_MAX);
        }
    }
    let explained = found.iter().zip(means).map(|(one, mean)| one * mean);
    Coefficients {
        constant: ln_ns_mean - explained.sum::<f64>(),
        exponents: found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(number: u64) -> Work {
        let random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        Work {
            kind: 0,
            postings: 1 + random % 3_000_000,
            lists: 1 + (random % 3) as u32,
            k: 10,
        }
    }

    fn true_ns(work: &Work) -> u64 {
        5_000 + work.postings * (2 + u64::from(work.lists - 1)) / 4
    }

    #[test]
    fn predictions_follow_what_is_measured() {
        let mut model = CostModel::new(2);
        for number in 0..2_000 {
            let work = work(number);
            let predicted = model.predict(&work);
            model.observe(&work, &predicted, true_ns(&work));
        }
        assert!(model.error() < 0.1, "{}", model.error());
        for number in 2_000..2_100 {
            let work = work(number);
            let (likely, spent) = (model.predict(&work).likely_ns as f64, true_ns(&work) as f64);
            assert!(
                (likely / spent).ln().abs() < 0.15,
                "{work:?}: {likely}, {spent}"
            );
        }
        // Another kind has learnt nothing.
        let other = Work { kind: 1, ..work(1) };
        assert_eq!(
            model.predict(&other).likely_ns,
            FIRST.ln_ns(&terms(&other)).exp() as u64
        );
    }

    #[test]
    fn the_high_prediction_is_seldom_exceeded() {
        let mut model = CostModel::new(1);
        let mut above = 0;
        for number in 0..20_000_u64 {
            let work = work(number);
            let predicted = model.predict(&work);
            // Times from half to twice the formula.
            let factor = 0.5 + 1.5 * ((number * 7919) % 1000) as f64 / 1000.0;
            let spent_ns = (true_ns(&work) as f64 * factor) as u64;
            above += u32::from(number >= 10_000 && spent_ns > predicted.high_ns);
            model.observe(&work, &predicted, spent_ns);
        }
        assert!((500..1_500).contains(&above), "{above} of 10,000");
    }

    #[test]
    fn odd_searches_do_no_harm() {
        let mut model = CostModel::new(1);
        for number in 0..1_000 {
            let work = Work {
                kind: 9,
                postings: [0, 1, u64::MAX / 4][number % 3],
                lists: 0,
                k: u32::MAX,
            };
            let predicted = model.predict(&work);
            assert!(predicted.likely_ns <= predicted.high_ns);
            model.observe(&work, &predicted, [0, 1, u64::MAX][number % 3]);
        }
        assert!(model.error().is_finite());
    }
}
