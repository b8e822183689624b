//! Counters of the work of a search, in cells of its thread.

use std::cell::Cell;

/// Algorithm, by its index in [`NAMES`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Name {
    Single,
    Conjunction,
    MaxScore,
    Union,
    Phrase,
    Mixed,
    Exhaustive,
    BestOf,
}

/// Names of the algorithms in profiles.
pub(crate) const NAMES: [&str; 8] = [
    "single",
    "conjunction",
    "maxscore",
    "union",
    "phrase",
    "mixed",
    "exhaustive",
    "best of",
];

/// The counters of a thread, each in its own cell, so that counting is one addition in memory.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) algorithms: Cell<u8>,
    pub(crate) scored: Cell<u64>,
    pub(crate) pairs: Cell<u64>,
    pub(crate) offered: Cell<u64>,
    pub(crate) known: Cell<f32>,
}

thread_local! {
    pub(crate) static COUNTERS: Counters = const {
        Counters {
            algorithms: Cell::new(0),
            scored: Cell::new(0),
            pairs: Cell::new(0),
            offered: Cell::new(0),
            known: Cell::new(0.0),
        }
    };
}

impl Counters {
    pub(crate) fn exchange(&self, other: Counters) -> Counters {
        Counters {
            algorithms: self.algorithms.replace(other.algorithms.get()).into(),
            scored: self.scored.replace(other.scored.get()).into(),
            pairs: self.pairs.replace(other.pairs.get()).into(),
            offered: self.offered.replace(other.offered.get()).into(),
            known: self.known.replace(other.known.get()).into(),
        }
    }
}

/// Notes an algorithm that runs.
pub(crate) fn runs(name: Name) {
    COUNTERS.with(|now| now.algorithms.set(now.algorithms.get() | 1 << name as u8));
}

/// Counts postings that were scored.
#[inline]
pub(crate) fn scored(count: usize) {
    COUNTERS.with(|now| now.scored.set(now.scored.get() + count as u64));
}

/// Counts stored pairs that are read.
#[inline]
pub(crate) fn paired(count: usize) {
    COUNTERS.with(|now| now.pairs.set(now.pairs.get() + count as u64));
}

/// Counts offered documents.
#[inline]
pub(crate) fn offered(count: usize) {
    COUNTERS.with(|now| now.offered.set(now.offered.get() + count as u64));
}

/// Notes a score that enough documents are known to reach.
#[inline]
pub(crate) fn known(score: f32) {
    COUNTERS.with(|now| now.known.set(now.known.get().max(score)));
}
