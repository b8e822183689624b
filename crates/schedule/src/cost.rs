//! Predicted time of a search, fitted to the searches that a server runs.
//!
//! ```text
//! t = a + P · (b + c · (lists − 1)) + d · min(k, P)            ns; P postings, k hits
//! ```
//!
//! The coefficients are fitted for each kind of query by non-negative least squares on the relative error, over the
//! latest [`SAMPLES`] searches of the kind; until then they are those of a 2 GHz server core. Between two fits a
//! running ratio of true to predicted time corrects them. The model steers handlers and decides nothing about hits.

/// What a prediction knows of a search.
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
/// Weight of a new ratio: 1/64.
const NEW: f64 = 1.0 / 64.0;
/// Bounds of the running ratio.
const RATIO: [f64; 2] = [0.25, 4.0];
/// Step of the estimate of the 90th percentile, relative.
const STEP: f64 = 0.02;
/// Searches of a kind before its predictions are trusted, and the error up to which they are: a factor of 2.7.
const TRUSTED_MIN: u64 = 64;
const TRUSTED_ERROR_MAX: f64 = 1.0;
/// Rounds of coordinate descent of a fit.
const ROUNDS: usize = 40;

type Coefficients = [f64; 4];

/// Until searches are measured: 3 µs a search, 1 ns a posting, half of that for each further list, 10 ns a hit.
const FIRST: Coefficients = [3_000.0, 1.0, 0.5, 10.0];

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
    samples: Vec<(Work, f64)>,
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
        let likely_ns = time_ns(&kind.coefficients, work) * kind.ratio;
        Prediction {
            likely_ns: likely_ns as u64,
            high_ns: (likely_ns * kind.high.max(1.0)) as u64,
            is_trusted: kind.observed >= TRUSTED_MIN && kind.error < TRUSTED_ERROR_MAX,
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
        let off = spent_ns / (predicted.likely_ns.max(1) as f64);
        self.error += (off.ln().abs() - self.error) * NEW;
        // Stochastic approximation of a percentile (Robbins and Monro 1951).
        self.high *= match off > self.high {
            true => 1.0 + 0.9 * STEP,
            false => 1.0 - 0.1 * STEP,
        };
        self.high = self.high.clamp(1.0, 100.0);
        self.ratio += self.ratio * (off.clamp(0.1, 10.0) - 1.0) * NEW;
        self.ratio = self.ratio.clamp(RATIO[0], RATIO[1]);
        self.samples.push((*work, spent_ns));
        if self.samples.len() == SAMPLES {
            self.coefficients = fitted(&self.samples, self.coefficients);
            self.ratio = 1.0;
            self.samples.clear();
        }
    }
}

/// Terms of the formula, in the order of the coefficients.
fn terms(work: &Work) -> Coefficients {
    let postings = work.postings as f64;
    let further = f64::from(work.lists.saturating_sub(1));
    [
        1.0,
        postings,
        postings * further,
        f64::from(work.k).min(postings),
    ]
}

fn time_ns(coefficients: &Coefficients, work: &Work) -> f64 {
    let terms = terms(work);
    let products = coefficients.iter().zip(terms).map(|(one, term)| one * term);
    products.sum::<f64>().max(1.0)
}

/// Fits the coefficients by coordinate descent on Σ (Σ cᵢ·xᵢ / t − 1)², each kept at 0 or above.
fn fitted(samples: &[(Work, f64)], start: Coefficients) -> Coefficients {
    let rows: Vec<Coefficients> = (samples.iter())
        .map(|(work, spent_ns)| terms(work).map(|term| term / spent_ns))
        .collect();
    let mut found = start;
    for _ in 0..ROUNDS {
        for at in 0..found.len() {
            let (mut up, mut down) = (0.0, 0.0);
            for row in &rows {
                let others: f64 = (0..row.len())
                    .filter(|&i| i != at)
                    .map(|i| row[i] * found[i])
                    .sum();
                up += row[at] * (1.0 - others);
                down += row[at] * row[at];
            }
            if down > 0.0 {
                found[at] = (up / down).max(0.0);
            }
        }
    }
    match found.iter().any(|&one| one > 0.0) {
        true => found,
        false => start,
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
            time_ns(&FIRST, &other) as u64
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
