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
#[derive(Debug)]
pub(super) struct Scoring {
    weights: Vec<u64>,
    /// Index `term * terms + next`: 1 + the ordinal of the pair, or 0. Empty where there are too many terms.
    pair_of: Vec<u16>,
    pair_weights: Vec<u64>,
}

impl Scoring {
    /// Creates the weights. `order` is the query as indexes of the distinct `terms`.
    pub(super) fn new(terms: &[SummaryTerm], order: &[usize]) -> Scoring {
        // Thousandths, at least one, so that showing a word always scores higher than not showing it.
        let thousandths = |term: &SummaryTerm| (term.weight.clamp(0.0, 1e6) * 1000.0) as u64;
        let weights: Vec<u64> = terms.iter().map(|term| thousandths(term).max(1)).collect();
        let mut pair_of = Vec::new();
        let mut pair_weights = Vec::new();
        if (2..=NEIGHBOUR_TERMS_MAX).contains(&terms.len()) {
            pair_of.resize(terms.len() * terms.len(), 0);
            for pair in order.windows(2) {
                let slot = &mut pair_of[pair[0] * terms.len() + pair[1]];
                if *slot == 0 && pair_weights.len() < u16::MAX as usize {
                    pair_weights.push((weights[pair[0]] + weights[pair[1]]) / 4);
                    *slot = pair_weights.len() as u16;
                }
            }
        }
        Scoring {
            weights,
            pair_of,
            pair_weights,
        }
    }

    pub(super) fn terms_count(&self) -> usize {
        self.weights.len()
    }

    /// Returns the pair of two consecutive matches, where they are neighbours.
    #[inline]
    fn pair(&self, before: &Match, after: &Match) -> Option<usize> {
        // Pairs of letters overlap.
        let gap_bytes = after.start.saturating_sub(before.end);
        if self.pair_of.is_empty() || gap_bytes > NEIGHBOUR_GAP_BYTES {
            return None;
        }
        let at = before.term as usize * self.weights.len() + after.term as usize;
        (self.pair_of[at] as usize).checked_sub(1)
    }
}

/// The score of the matches in the sliding window.
pub(super) struct Score<'a> {
    scoring: &'a Scoring,
    seen: &'a [bool],
    counts: Vec<u32>,
    pair_counts: Vec<u32>,
    total: u64,
}

impl Score<'_> {
    pub(super) fn new<'a>(scoring: &'a Scoring, seen: &'a [bool]) -> Score<'a> {
        Score {
            scoring,
            seen,
            counts: vec![0; scoring.weights.len()],
            pair_counts: vec![0; scoring.pair_weights.len()],
            total: 0,
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the score that an occurrence adds when it raises the count to `count`.
    #[inline]
    fn gain(&self, term: usize, count: u32) -> u64 {
        let weight = self.scoring.weights[term];
        match (count, self.seen[term]) {
            (1, false) => weight,
            (1, true) => weight / 8,
            (2, false) => weight / 10,
            _ => 0,
        }
    }

    #[inline]
    fn pair_gain(&self, pair: usize, found: &Match) -> u64 {
        let weight = self.scoring.pair_weights[pair];
        if self.seen[found.term as usize] {
            weight / 8
        } else {
            weight
        }
    }

    #[inline]
    pub(super) fn put_in(&mut self, before: Option<&Match>, found: &Match) {
        let term = found.term as usize;
        self.counts[term] += 1;
        self.total += self.gain(term, self.counts[term]);
        if let Some(before) = before
            && let Some(pair) = self.scoring.pair(before, found)
        {
            self.pair_counts[pair] += 1;
            if self.pair_counts[pair] == 1 {
                self.total += self.pair_gain(pair, found);
            }
        }
    }

    #[inline]
    pub(super) fn take_out(&mut self, found: &Match, after: Option<&Match>) {
        let term = found.term as usize;
        self.total -= self.gain(term, self.counts[term]);
        self.counts[term] -= 1;
        if let Some(after) = after
            && let Some(pair) = self.scoring.pair(found, after)
        {
            self.pair_counts[pair] -= 1;
            if self.pair_counts[pair] == 0 {
                self.total -= self.pair_gain(pair, after);
            }
        }
    }
}
