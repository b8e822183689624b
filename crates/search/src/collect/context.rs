//! Context of a search: threshold, cancellation, and the needs of collectors.

use crate::collect::topk::shared_threshold::SharedThreshold;
use crate::context::cancel::{Stop, StopRef};
use crate::context::counters;

/// Needs of a collector of matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchNeeds {
    /// No matches: the collector sees some of those found on the way to hits.
    Nothing,
    /// Number of matches, which may be known without a walk over them.
    Count,
    /// Every match.
    Documents,
}

/// State of a search that its loops read and raise: the threshold and the cancellation.
#[derive(Debug)]
pub struct Context<'a> {
    k: usize,
    matches: MatchNeeds,
    /// Lower bound on the scores of clauses that enter: k documents are known to reach it, together with what the
    /// collector may add.
    threshold: f32,
    /// Upper bound on the collector's addition to the score of the clauses.
    added_max: f32,
    shared: Option<&'a SharedThreshold>,
    /// Whether floors, which bound the best of all documents, hold for the documents that the search collects.
    has_floors: bool,
    stop: StopRef<'a>,
}

impl<'a> Context<'a> {
    /// Returns the context of a search for the `k` best documents, with `matches` as the needs of its
    /// collectors.
    pub fn new(k: usize, matches: MatchNeeds) -> Context<'a> {
        Context {
            k,
            matches,
            threshold: match k {
                0 => f32::INFINITY,
                _ => f32::NEG_INFINITY,
            },
            added_max: 0.0,
            shared: None,
            has_floors: true,
            stop: StopRef::default(),
        }
    }

    /// Sets the upper bound on the collector's addition to the score of the clauses.
    pub(crate) fn adding(self, added_max: f32) -> Context<'a> {
        Context { added_max, ..self }
    }

    /// Sets the cancellation.
    pub fn until(self, stop: &'a Stop<'a>) -> Context<'a> {
        Context {
            stop: StopRef::new(stop),
            ..self
        }
    }

    /// Sets that the collector leaves out documents that match: a score that k matches reach is no threshold then.
    pub fn without_floors(self) -> Context<'a> {
        Context {
            has_floors: false,
            ..self
        }
    }

    /// Shares the threshold with searches of other documents for the same query.
    pub fn share(&mut self, shared: &'a SharedThreshold) {
        shared.join();
        self.shared = Some(shared);
    }

    /// Returns the number of hits requested; 0 without scores.
    #[inline]
    pub fn k(&self) -> usize {
        self.k
    }

    /// Returns the needs of the collector of matches.
    pub fn matches(&self) -> MatchNeeds {
        self.matches
    }

    /// Returns the lowest score that can enter.
    #[inline]
    pub fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Raises the threshold, given a score that `k` documents are known to reach, collected or not: by their clauses, or
    /// together with what the collector adds. A document whose clauses score less by what it may add can reach it, too.
    #[inline]
    pub fn raise(&mut self, score: f32) {
        let least = match self.added_max > 0.0 {
            // The step down makes up for the rounding of the difference.
            true => (score - self.added_max).next_down(),
            false => score,
        };
        self.threshold = self.threshold.max(least);
    }

    /// Raises the threshold like [`Context::raise`], before any posting is read.
    pub(crate) fn raise_first(&mut self, score: f32) {
        if self.has_floors {
            counters::known(score);
            self.raise(score);
        }
    }

    /// Takes over the threshold that other searches of the query have reached, and publishes this
    /// one's.
    #[inline]
    pub fn exchange(&mut self) {
        if let Some(shared) = self.shared
            && self.k > 0
        {
            let known = shared.get();
            if known > self.threshold {
                self.threshold = known;
            } else if known < self.threshold {
                shared.raise(self.threshold);
            }
        }
    }

    /// Returns whether a document of this score could enter. (At the threshold itself the URL hash
    /// decides.)
    #[inline]
    pub fn would_enter(&self, score: f32) -> bool {
        score >= self.threshold
    }

    /// Returns the threshold shared with other searches, if there are several.
    pub(crate) fn shared_by_several(&self) -> Option<&'a SharedThreshold> {
        self.shared.filter(|shared| shared.has_several())
    }

    /// Returns the cancellation of the search.
    #[inline]
    pub(crate) fn stop(&self) -> StopRef<'a> {
        self.stop
    }
}
