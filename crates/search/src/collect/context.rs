//! Context of a search: threshold, cancellation, and what collectors ask of a walk.

use crate::collect::topk::shared_threshold::SharedThreshold;
use crate::context::cancel::{Stop, StopRef};
use crate::context::counters;

/// What a collector asks of the matches of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchNeeds {
    /// Nothing: it hears of some of the matches that are found on the way to hits.
    Nothing,
    /// Their number, which may be known without a walk over them.
    Count,
    /// Each of them.
    Documents,
}

/// State of a search that its loops read and raise: the threshold and the cancellation.
#[derive(Debug)]
pub struct Context<'a> {
    k: usize,
    matches: MatchNeeds,
    /// Below it nothing enters: k documents are known to reach it.
    threshold: f32,
    shared: Option<&'a SharedThreshold>,
    stop: StopRef<'a>,
}

impl<'a> Context<'a> {
    /// Context of a search for the `k` best documents, whose matches are asked for as `matches` says.
    pub fn new(k: usize, matches: MatchNeeds) -> Context<'a> {
        Context {
            k,
            matches,
            threshold: match k {
                0 => f32::INFINITY,
                _ => f32::NEG_INFINITY,
            },
            shared: None,
            stop: StopRef::default(),
        }
    }

    /// Cancels the search when `stop` says so.
    pub fn until(self, stop: &'a Stop<'a>) -> Context<'a> {
        Context {
            stop: StopRef::new(stop),
            ..self
        }
    }

    /// Shares the threshold with searches of other documents for the same query.
    pub fn share(&mut self, shared: &'a SharedThreshold) {
        shared.join();
        self.shared = Some(shared);
    }

    /// The number of hits wanted; 0 where no scores are.
    #[inline]
    pub fn k(&self) -> usize {
        self.k
    }

    /// What is asked of the matches.
    pub fn matches(&self) -> MatchNeeds {
        self.matches
    }

    /// The least score that can enter.
    #[inline]
    pub fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Raises the threshold to a score that `k` documents are known to reach, whether they were collected yet or not.
    #[inline]
    pub fn raise(&mut self, score: f32) {
        self.threshold = self.threshold.max(score);
    }

    /// As [`Context::raise`], before any posting is read.
    pub(crate) fn raise_first(&mut self, score: f32) {
        counters::known(score);
        self.raise(score);
    }

    /// Takes over the threshold that other searches of the query have reached, and tells them of this one's.
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

    /// Whether a document of this score could enter. (At the very threshold the URL hash decides.)
    #[inline]
    pub fn would_enter(&self, score: f32) -> bool {
        score >= self.threshold
    }

    /// The threshold shared with other searches, where there are several.
    pub(crate) fn shared_by_several(&self) -> Option<&'a SharedThreshold> {
        self.shared.filter(|shared| shared.has_several())
    }

    /// The cancellation of the search.
    #[inline]
    pub(crate) fn stop(&self) -> StopRef<'a> {
        self.stop
    }
}
