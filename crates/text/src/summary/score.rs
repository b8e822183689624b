//! Score of the matches in a stretch of text.
//!
//! score := Σ weight of the distinct terms inside          an eighth of it for terms shown already
//!        + Σ weight / 10 of those that occur again        once a term
//!        + Σ (weight + weight) / 4 of neighbours           terms that follow each other as in the query
//!
//! Weights are integers, so that removing a match from the sliding window exactly undoes adding it.
use super::input::{Match, SummaryTerm};

/// Upper limit on the terms of a query for which neighbours count; a longer query is a list of words, not a phrase.
const NEIGHBOUR_TERMS_MAX: usize = 64;

/// Upper limit on the bytes between neighbours, as in `end. Start`.
const NEIGHBOUR_GAP_BYTES: usize = 3;

/// Weights of a query's terms and pairs of neighbours.
#[derive(Debug, Clone)]
pub(super) struct Scoring {
    weights: Vec<u64>,
    /// Index `term * terms + next`: 1 + the ordinal of the pair, or 0. Empty where there are too many terms.
    pair_of: Vec<u16>,
    pairs: Vec<Pair>,
}

/// Two terms that follow each other in the query.
#[derive(Debug, Clone)]
struct Pair {
    /// Ordinal of the second term.
    after: usize,
    weight: u64,
}

impl Scoring {
    /// Creates the weights. `order` is the query as indexes of the distinct `terms`.
    pub(super) fn new(terms: &[SummaryTerm], order: &[usize]) -> Scoring {
        // Thousandths, at least one, so that showing a word always scores higher than not showing it.
        let thousandths = |term: &SummaryTerm| (term.weight.clamp(0.0, 1e6) * 1000.0) as u64;
        let weights: Vec<u64> = terms.iter().map(|term| thousandths(term).max(1)).collect();
        let mut pair_of = Vec::new();
        let mut pairs = Vec::new();
        if (2..=NEIGHBOUR_TERMS_MAX).contains(&terms.len()) {
            pair_of.resize(terms.len() * terms.len(), 0);
            for pair in order.windows(2) {
                let slot = &mut pair_of[pair[0] * terms.len() + pair[1]];
                if *slot == 0 && pairs.len() < u16::MAX as usize {
                    pairs.push(Pair {
                        after: pair[1],
                        weight: (weights[pair[0]] + weights[pair[1]]) / 4,
                    });
                    *slot = pairs.len() as u16;
                }
            }
        }
        Scoring {
            weights,
            pair_of,
            pairs,
        }
    }

    /// Returns 1 + the ordinal of the pair of two consecutive matches, and 0 where they are no neighbours.
    #[inline]
    fn pair(&self, before: &Match, after: &Match) -> usize {
        if self.pair_of.is_empty() {
            return 0;
        }
        // Pairs of letters overlap.
        let gap_bytes = after.start.saturating_sub(before.end);
        let at = before.term as usize * self.weights.len() + after.term as usize;
        usize::from(self.pair_of[at]) * usize::from(gap_bytes <= NEIGHBOUR_GAP_BYTES)
    }
}

/// Scores that further occurrences of a term add: of the first, the second and later ones. Index 0 is unused.
type Gains = [u64; 4];

/// The score of the matches in the sliding window. Whether a term was met before decides no branch: in a text full of the
/// query's words it would be mispredicted all the time.
pub(super) struct Score<'a> {
    scoring: &'a Scoring,
    /// Gains by term.
    gains: Vec<Gains>,
    counts: Vec<u32>,
    /// Gains by pair, after those of matches that are no neighbours.
    pair_gains: Vec<u64>,
    pair_counts: Vec<u32>,
    total: u64,
}

impl Score<'_> {
    pub(super) fn new(scoring: &Scoring) -> Score<'_> {
        let gains = scoring.weights.iter();
        let gains = gains.map(|&weight| [0, weight, weight / 10, 0]);
        let pair_gains = scoring.pairs.iter().map(|pair| pair.weight);
        Score {
            gains: gains.collect(),
            counts: vec![0; scoring.weights.len()],
            pair_gains: [0].into_iter().chain(pair_gains).collect(),
            pair_counts: vec![0; scoring.pairs.len() + 1],
            scoring,
            total: 0,
        }
    }

    /// Notes that a window shows a term. The score is that of no matches.
    pub(super) fn show(&mut self, term: usize) {
        self.gains[term] = [0, self.scoring.weights[term] / 8, 0, 0];
        for (pair, gain) in self.scoring.pairs.iter().zip(&mut self.pair_gains[1..]) {
            if pair.after == term {
                *gain = pair.weight / 8;
            }
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    #[inline]
    pub(super) fn put_in(&mut self, before: Option<&Match>, found: &Match) {
        let term = found.term as usize;
        let count = &mut self.counts[term];
        *count += 1;
        self.total += self.gains[term][(*count).min(3) as usize];
        if let Some(before) = before {
            let pair = self.scoring.pair(before, found);
            let count = &mut self.pair_counts[pair];
            *count += 1;
            self.total += u64::from(*count == 1) * self.pair_gains[pair];
        }
    }

    #[inline]
    pub(super) fn take_out(&mut self, found: &Match, after: Option<&Match>) {
        let term = found.term as usize;
        let count = &mut self.counts[term];
        self.total -= self.gains[term][(*count).min(3) as usize];
        *count -= 1;
        if let Some(after) = after {
            let pair = self.scoring.pair(found, after);
            let count = &mut self.pair_counts[pair];
            self.total -= u64::from(*count == 1) * self.pair_gains[pair];
            *count -= 1;
        }
    }
}
