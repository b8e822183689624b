//! Wrapper of executors that checks the contract of [`Executor`] while they run (as Lucene's `AssertingScorer`).
//!
//! ```text
//! hits      lie in the range, are live, are collected once each; scores are numbers, not negative, at most the
//!           executor's bound of the range; none where matches alone are wanted
//! matches   lie in the range, are live, are collected once each; no more than there are live documents;
//!           none where hits alone are wanted; every hit is a match
//! context   the threshold never falls
//! ```
//!
//! Plans and the unit tests of algorithms run their executors through [`run`], which wraps them where contracts are
//! enforced ([`crate::context::contract`]): in tests, never in release builds.

use super::collectors::{Collectors, HitCollector, MatchCollector};
use super::context::{Context, MatchNeeds};
use super::executor::Executor;
use crate::context::contract;
use crate::context::counters::Name;
use crate::context::wanted::Wanted;
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// Runs an executor over a range; its contract is checked where contracts are enforced.
#[inline]
pub(crate) fn run<'a, E: Executor<'a>, H: HitCollector<'a>, M: MatchCollector>(
    executor: &mut E,
    range: Range<u32>,
    segment: &'a Segment,
    wanted: Wanted,
    top: &mut Collectors<'a, H, M>,
) -> Result<(), IndexError> {
    match contract::is_enforced() {
        true => Asserting(executor).run(range, segment, wanted, top),
        false => executor.run(range, segment, wanted, top),
    }
}

/// An executor whose contract is checked.
pub(crate) struct Asserting<'e, E>(pub(crate) &'e mut E);

impl<'a, E: Executor<'a>> Executor<'a> for Asserting<'_, E> {
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        wanted: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        let threshold = top.threshold();
        let nothing = Context::new(0, M::NEEDS);
        let mut watched = Collectors {
            context: std::mem::replace(&mut top.context, nothing),
            hits: WatchedHits {
                inner: &mut top.hits,
                seen: Seen::new(&range, segment),
                best: 0.0,
            },
            matches: WatchedMatches {
                inner: &mut top.matches,
                seen: Seen::new(&range, segment),
                count: 0,
            },
        };
        let result = self.0.run(range.clone(), segment, wanted, &mut watched);
        let Collectors {
            context,
            hits: WatchedHits {
                seen: hits, best, ..
            },
            matches: WatchedMatches { seen, count, .. },
        } = watched;
        top.context = context;
        result?;
        let name = self.name();
        assert!(top.threshold() >= threshold, "{name:?}: threshold fell");
        assert!(
            best <= self.bound(&range),
            "{name:?}: {best} is above the bound"
        );
        assert!(
            wanted.has_hits() || hits.is_empty(),
            "{name:?}: hits unasked for"
        );
        let is_asked = wanted.is_counted() || M::NEEDS == MatchNeeds::Nothing;
        assert!(is_asked || count == 0, "{name:?}: matches unasked for");
        assert!(
            count <= seen.live_count(),
            "{name:?}: {count} matches are too many"
        );
        let is_whole =
            !top.stop().count_is_cut() && !top.stop().is_aborted() && !top.stop().has_ended_hits();
        if wanted.is_counted() && M::NEEDS == MatchNeeds::Documents && is_whole {
            assert!(seen.includes(&hits), "{name:?}: a hit is no match");
        }
        Ok(())
    }

    fn bound(&mut self, range: &Range<u32>) -> f32 {
        self.0.bound(range)
    }

    fn cost(&self) -> u64 {
        self.0.cost()
    }

    fn name(&self) -> Name {
        self.0.name()
    }
}

/// The documents of a range that were collected.
struct Seen<'a> {
    range: Range<u32>,
    segment: &'a Segment,
    words: Vec<u64>,
}

impl<'a> Seen<'a> {
    fn new(range: &Range<u32>, segment: &'a Segment) -> Seen<'a> {
        Seen {
            range: range.clone(),
            segment,
            words: vec![0; range.len().div_ceil(64)],
        }
    }

    /// Notes a document, which must be live, in the range, and new.
    fn note(&mut self, doc: u32) {
        let range = &self.range;
        assert!(range.contains(&doc), "document {doc} is not in {range:?}");
        assert!(doc < self.segment.documents_count(), "{doc} is no document");
        assert!(!self.segment.is_deleted(DocId(doc)), "{doc} is deleted");
        let at = (doc - range.start) as usize;
        let word = &mut self.words[at / 64];
        assert!(*word >> (at % 64) & 1 == 0, "document {doc} comes twice");
        *word |= 1 << (at % 64);
    }

    fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Returns whether all documents of another set are in this one.
    fn includes(&self, others: &Seen<'_>) -> bool {
        let mut words = self.words.iter().zip(&others.words);
        words.all(|(word, other)| other & !word == 0)
    }

    /// Returns the number of live documents of the range.
    fn live_count(&self) -> u64 {
        let end = self.range.end.min(self.segment.documents_count());
        let docs = self.range.start..end;
        docs.filter(|&doc| !self.segment.is_deleted(DocId(doc)))
            .count() as u64
    }
}

struct WatchedHits<'s, 'a, H> {
    inner: &'s mut H,
    seen: Seen<'a>,
    /// The highest score collected.
    best: f32,
}

impl<'a, H: HitCollector<'a>> HitCollector<'a> for WatchedHits<'_, 'a, H> {
    fn k(&self) -> usize {
        self.inner.k()
    }

    fn added_max(&self) -> f32 {
        self.inner.added_max()
    }

    fn enter(&mut self, segment: &'a Segment) -> Result<(), IndexError> {
        self.inner.enter(segment)
    }

    fn collect(&mut self, score: f32, doc: DocId, context: &mut Context<'a>) {
        contract::check_score(doc, score);
        assert!(score.is_finite(), "the score of {doc:?} is {score}");
        self.seen.note(doc.0);
        self.best = self.best.max(score);
        self.inner.collect(score, doc, context);
    }
}

struct WatchedMatches<'s, 'a, M> {
    inner: &'s mut M,
    seen: Seen<'a>,
    count: u64,
}

impl<M: MatchCollector> MatchCollector for WatchedMatches<'_, '_, M> {
    const NEEDS: MatchNeeds = M::NEEDS;

    fn enter(&mut self, segment: &Segment) {
        self.inner.enter(segment);
    }

    fn count(&mut self, count: u64) {
        assert!(M::NEEDS < MatchNeeds::Documents, "a number, not documents");
        self.count += count;
        self.inner.count(count);
    }

    fn documents(&mut self, docs: &[u32]) {
        docs.iter().for_each(|&doc| self.seen.note(doc));
        self.count += docs.len() as u64;
        self.inner.documents(docs);
    }

    fn bits(&mut self, base: u32, words: &[u64]) {
        for (number, &word) in (0..).zip(words) {
            for bit in (0..64).filter(|bit| word >> bit & 1 == 1) {
                self.seen.note(base + number * 64 + bit);
                self.count += 1;
            }
        }
        self.inner.bits(base, words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::doc_bits::DocBits;
    use crate::collect::topk::kept::TopK;
    use crate::testing::{first_segment, made_up};

    /// A way to break the contract.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Breach {
        None,
        HitTwice,
        HitOutside,
        HitDeleted,
        HitAboveBound,
        HitNegative,
        HitNotMatched,
        HitUnasked,
        MatchTwice,
        MatchOutside,
        MatchDeleted,
        MatchUnasked,
        NumberForDocuments,
    }

    /// Finds documents 9 and 11, and breaks the contract in one way.
    struct Careless(Breach);

    impl<'a> Executor<'a> for Careless {
        fn run<H: HitCollector<'a>, M: MatchCollector>(
            &mut self,
            range: Range<u32>,
            _: &'a Segment,
            wanted: Wanted,
            top: &mut Collectors<'a, H, M>,
        ) -> Result<(), IndexError> {
            let Careless(breach) = *self;
            let is = |one: Breach| breach == one;
            if wanted.has_hits() || is(Breach::HitUnasked) {
                top.offer(1.0, DocId(9));
                match breach {
                    Breach::HitTwice => top.offer(1.0, DocId(9)),
                    Breach::HitOutside => top.offer(1.0, DocId(range.end)),
                    Breach::HitDeleted => top.offer(1.0, DocId(7)),
                    Breach::HitAboveBound => top.offer(2.5, DocId(11)),
                    Breach::HitNegative => top.offer(-1.0, DocId(11)),
                    Breach::HitNotMatched => top.offer(1.0, DocId(12)),
                    _ => {}
                }
            }
            if wanted.is_counted() || is(Breach::MatchUnasked) {
                top.matches.documents(&[9, 11]);
                match breach {
                    Breach::MatchTwice => top.matches.bits(0, &[1 << 11]),
                    Breach::MatchOutside => top.matches.documents(&[range.end]),
                    Breach::MatchDeleted => top.matches.bits(0, &[1 << 14]),
                    Breach::NumberForDocuments => top.matches.count(1),
                    _ => {}
                }
            }
            Ok(())
        }

        fn bound(&mut self, _: &Range<u32>) -> f32 {
            2.0
        }

        fn cost(&self) -> u64 {
            1
        }

        fn name(&self) -> Name {
            Name::Exhaustive
        }
    }

    /// Returns whether a run panics.
    fn is_noticed(breach: Breach, wanted: Wanted) -> bool {
        let index = made_up(true);
        let segment = first_segment(&index);
        let run = std::panic::AssertUnwindSafe(|| {
            let mut top = Collectors::new(TopK::new(10), DocBits::default());
            top.enter(&segment).unwrap();
            run(&mut Careless(breach), 0..100, &segment, wanted, &mut top).unwrap();
            assert_eq!(top.matches.count(), 2 * u64::from(wanted.is_counted()));
        });
        std::panic::catch_unwind(run).is_err()
    }

    #[test]
    fn every_breach_of_the_contract_is_noticed() {
        use Breach::*;
        let all = Wanted::HitsAndCount;
        for wanted in [Wanted::Hits, Wanted::HitsAndCount, Wanted::Count] {
            assert!(!is_noticed(None, wanted), "{wanted:?}");
        }
        for breach in [HitTwice, HitOutside, HitDeleted, HitAboveBound, HitNegative] {
            assert!(is_noticed(breach, Wanted::Hits), "{breach:?}");
            assert!(is_noticed(breach, all), "{breach:?}");
        }
        for breach in [MatchTwice, MatchOutside, MatchDeleted, NumberForDocuments] {
            assert!(is_noticed(breach, Wanted::Count), "{breach:?}");
            assert!(is_noticed(breach, all), "{breach:?}");
        }
        assert!(is_noticed(HitNotMatched, all));
        assert!(is_noticed(HitUnasked, Wanted::Count));
        assert!(is_noticed(MatchUnasked, Wanted::Hits));
    }
}
