//! Collectors of hits and of matches, and the pair of them that one search feeds.

use super::context::{Context, MatchNeeds};
use crate::context::cancel::{Stop, StopRef};
use crate::context::contract;
use crate::context::wanted::Wanted;
use crate::plan::scorer::BLOCK;
use index::{DocId, IndexError, Segment};

/// Collector of scored documents whose score reaches the threshold of the context.
pub trait HitCollector<'a> {
    /// Returns the number of documents that the collector keeps: 0 if it needs no scores, `usize::MAX`
    /// if it needs the score of every match. A collector may raise the threshold to the score that this
    /// number of collected documents reach.
    fn k(&self) -> usize;

    /// Returns the upper bound on the collector's addition to the score of a document, 0 or more.
    fn added_max(&self) -> f32 {
        0.0
    }

    /// Sets the segment of the documents collected from now on.
    fn enter(&mut self, segment: &'a Segment) -> Result<(), IndexError>;

    /// Collects a document of the segment entered last, with the score of its clauses.
    fn collect(&mut self, score: f32, doc: DocId, context: &mut Context<'a>);
}

/// Collector of matching documents: each once, without deleted ones, in windows of any order.
pub trait MatchCollector {
    /// Needs of the collector. Only what it needs is delivered: numbers for [`MatchNeeds::Count`],
    /// documents or bits for [`MatchNeeds::Documents`].
    const NEEDS: MatchNeeds;

    /// Sets the segment of the matches collected from now on.
    fn enter(&mut self, segment: &Segment);

    /// Collects a number of matches.
    fn count(&mut self, count: u64);

    /// Collects several matches, increasing.
    fn documents(&mut self, docs: &[u32]);

    /// Collects a window of matches: bits of the documents from `base` on, a multiple of 64.
    fn bits(&mut self, base: u32, words: &[u64]);
}

/// Collector that keeps no hits and needs no scores.
impl<'a> HitCollector<'a> for () {
    fn k(&self) -> usize {
        0
    }
    fn enter(&mut self, _: &'a Segment) -> Result<(), IndexError> {
        Ok(())
    }
    fn collect(&mut self, _: f32, _: DocId, _: &mut Context<'a>) {}
}

/// Collector without needs.
impl MatchCollector for () {
    const NEEDS: MatchNeeds = MatchNeeds::Nothing;
    fn enter(&mut self, _: &Segment) {}
    fn count(&mut self, _: u64) {}
    fn documents(&mut self, _: &[u32]) {}
    fn bits(&mut self, _: u32, _: &[u64]) {}
}

/// Pair of collectors, fed by one walk.
impl<A: MatchCollector, B: MatchCollector> MatchCollector for (A, B) {
    const NEEDS: MatchNeeds = match (A::NEEDS, B::NEEDS) {
        (MatchNeeds::Documents, _) | (_, MatchNeeds::Documents) => MatchNeeds::Documents,
        (MatchNeeds::Count, _) | (_, MatchNeeds::Count) => MatchNeeds::Count,
        (MatchNeeds::Nothing, MatchNeeds::Nothing) => MatchNeeds::Nothing,
    };
    fn enter(&mut self, segment: &Segment) {
        self.0.enter(segment);
        self.1.enter(segment);
    }
    fn count(&mut self, count: u64) {
        self.0.count(count);
        self.1.count(count);
    }
    fn documents(&mut self, docs: &[u32]) {
        self.0.documents(docs);
        self.1.documents(docs);
    }
    fn bits(&mut self, base: u32, words: &[u64]) {
        self.0.bits(base, words);
        self.1.bits(base, words);
    }
}

/// Context of a search and the collectors that it feeds.
#[derive(Debug)]
pub struct Collectors<'a, H, M> {
    /// Threshold and cancellation.
    pub context: Context<'a>,
    /// The collector of scored documents.
    pub hits: H,
    /// The collector of matches.
    pub matches: M,
}

impl<'a, H: HitCollector<'a>, M: MatchCollector> Collectors<'a, H, M> {
    /// Returns a pair of collectors, for a search that is never cancelled.
    pub fn new(hits: H, matches: M) -> Collectors<'a, H, M> {
        Collectors {
            context: Context::new(hits.k(), M::NEEDS).adding(hits.added_max()),
            hits,
            matches,
        }
    }

    /// Sets the cancellation.
    pub fn until(self, stop: &'a Stop<'a>) -> Collectors<'a, H, M> {
        Collectors {
            context: self.context.until(stop),
            ..self
        }
    }

    /// Returns the purpose of a search for both collectors.
    pub(crate) fn wanted(&self) -> Wanted {
        match (self.hits.k() > 0, M::NEEDS) {
            (_, MatchNeeds::Nothing) => Wanted::Hits,
            (true, _) => Wanted::HitsAndCount,
            (false, _) => Wanted::Count,
        }
    }

    /// Sets the segment of the documents collected from now on.
    pub(crate) fn enter(&mut self, segment: &'a Segment) -> Result<(), IndexError> {
        self.hits.enter(segment)?;
        self.matches.enter(segment);
        Ok(())
    }

    /// Returns the cancellation of the search.
    #[inline]
    pub(crate) fn stop(&self) -> StopRef<'a> {
        self.context.stop()
    }

    /// Returns the lowest score that can enter.
    #[inline]
    pub(crate) fn threshold(&self) -> f32 {
        self.context.threshold()
    }

    /// Returns whether a document of this score could enter.
    #[inline]
    pub(crate) fn would_enter(&self, score: f32) -> bool {
        self.context.would_enter(score)
    }

    /// Offers a scored document of the segment entered last.
    #[inline]
    pub(crate) fn offer(&mut self, score: f32, doc: DocId) {
        // NaN passes this comparison and is refused later.
        if score < self.context.threshold() {
            return;
        }
        self.hits.collect(score, doc, &mut self.context);
    }

    /// Passes on matches (increasing, possibly deleted), unless a search for hits alone has met them
    /// and another search collects the matches.
    #[inline]
    pub(crate) fn found(&mut self, wanted: Wanted, docs: &[u32], segment: &Segment) {
        if wanted.is_counted() || M::NEEDS == MatchNeeds::Nothing {
            found(&mut self.matches, docs, segment);
        }
    }

    /// Passes on the documents at some indexes, none of them deleted, like [`Collectors::found`].
    #[inline]
    pub(crate) fn found_at(&mut self, wanted: Wanted, docs: &[u32; BLOCK], indexes: &[u8]) {
        if !wanted.is_counted() && M::NEEDS != MatchNeeds::Nothing {
            return;
        }
        if M::NEEDS < MatchNeeds::Documents {
            return self.matches.count(indexes.len() as u64);
        }
        let mut found = [0; BLOCK];
        for (found, &index) in found.iter_mut().zip(indexes) {
            *found = docs[usize::from(index)];
        }
        self.matches.documents(&found[..indexes.len()]);
    }
}

/// Passes on matches: increasing, possibly deleted.
#[inline]
pub(crate) fn found<M: MatchCollector>(matches: &mut M, docs: &[u32], segment: &Segment) {
    contract::check_docs(docs, 0, u32::MAX);
    match (M::NEEDS, segment.has_deletions()) {
        (MatchNeeds::Documents, false) => matches.documents(docs),
        (MatchNeeds::Documents, true) => {
            let mut live = [0; 64];
            for docs in docs.chunks(live.len()) {
                let mut count = 0;
                for &doc in docs {
                    live[count] = doc;
                    count += usize::from(!segment.is_deleted(DocId(doc)));
                }
                matches.documents(&live[..count]);
            }
        }
        (_, false) => matches.count(docs.len() as u64),
        (_, true) => {
            let live = docs.iter().filter(|&&doc| !segment.is_deleted(DocId(doc)));
            matches.count(live.count() as u64);
        }
    }
}

/// Passes on the matches of a window; deleted ones are cleared first.
#[inline]
pub(crate) fn found_bits<M: MatchCollector>(
    matches: &mut M,
    base: u32,
    words: &mut [u64],
    segment: &Segment,
) {
    segment.clear_deleted(base, words);
    match M::NEEDS {
        MatchNeeds::Documents => matches.bits(base, words),
        MatchNeeds::Nothing | MatchNeeds::Count => matches.count(codec::bits::count(words)),
    }
}
