//! Top-k and exhaustive search of a combination, block by block of its leader.
//!
//! ```text
//! for each block of the leader:
//!     bound(block) + maxima of all other clauses < threshold?  skip it, unless matches are wanted
//!     candidates = documents that all required words hold, scored by them
//!     drop, after each step, what cannot reach the threshold with the maxima of the later steps:
//!         optional words (where there are phrases: positions cost more), phrases, further required clauses,
//!         excluded clauses, optional clauses
//!     collect
//! ```
//!
//! Each step probes fewer documents than the one before. Where matches are wanted, all are found before any is scored.
//!
//! Exact: hits, scores, order and counts are those of its slow twin, [`crate::exhaustive`], since sums are exact.

use crate::algorithms::boolean::state::{Bounded, Mixed};
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::context::Context;
use crate::collect::executor::{Executor, SLOW};
use crate::context::cancel;
use crate::context::counters::Name;
use crate::context::wanted::Wanted;
use crate::plan::scorer::BLOCK;
use crate::verify::probe::Probe;
use index::{DocId, IndexError, Segment};
use std::ops::Range;

impl<'a> Mixed<'a> {
    /// Collects the hits and matches that are wanted among the documents of `range`.
    pub(crate) fn search<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        mut range: Range<u32>,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
        wanted: Wanted,
    ) -> Result<(), IndexError> {
        let counted = wanted.is_counted();
        let work = cancel::clauses_work(self.words.lists.len())
            + match self.phrases.is_empty() {
                true => 0,
                false => cancel::WINDOW - 1,
            };
        let mut live = [0; BLOCK];
        let mut block = self.words.lists[0].find(DocId(range.start));
        while self.words.is_in_range(block, &range)
            && !top.stop().ends_hits(self.words.start(block), work)
        {
            top.context.exchange();
            let start = self.words.start(block);
            if !counted && self.require_more(top.threshold()) {
                range.start = range.start.max(start);
                block = self.words.lists[0].find(DocId(range.start));
                continue;
            }
            let least = self.least_of_leader(&top.context);
            let can_enter = wanted.has_hits() && self.can_enter(block, least, &top.context);
            let mut live_count = 0;
            if counted {
                self.match_all(block, &range, can_enter, top.stop());
                let docs = self.words.candidates.docs();
                live[..docs.len()].copy_from_slice(docs);
                live_count = docs.len();
                if can_enter {
                    let most = self.known_most(top.threshold());
                    self.score_words(0, top.threshold(), most.optional);
                }
            } else if can_enter {
                self.match_best(block, &range, least, &top.context);
            }
            if can_enter {
                self.offer(segment, top, wanted);
            }
            if top.stop().is_aborted() {
                top.stop().stop_hits_at(start);
                break;
            }
            if counted {
                top.found(wanted, &live[..live_count], segment);
            }
            block += 1;
        }
        self.damage()
    }

    /// Returns the lowest score in the leader with which a document can enter; `None` if every document can.
    fn least_of_leader(&mut self, context: &Context<'_>) -> Option<f32> {
        let threshold = context.threshold();
        if threshold <= 0.0 || context.k() == 0 {
            return None;
        }
        let most = self.measure();
        let of_leader = match (self.adds[0], self.led) {
            (Some(most), _) => most,
            (None, Some(led)) => self.phrases[led].most,
            (None, None) => 0.0,
        };
        let others = most.all() - of_leader;
        (threshold > others).then_some(threshold - others)
    }

    fn can_enter(&mut self, block: usize, least: Option<f32>, context: &Context<'_>) -> bool {
        let leader = &mut self.words.lists[0];
        let reaches = |least| !leader.is_bounded() || leader.bound(block) >= least;
        context.k() > 0 && least.is_none_or(reaches)
    }

    /// Makes optional words required without which no document can enter any more. Returns whether there are any.
    fn require_more(&mut self, threshold: f32) -> bool {
        // An infinite threshold, of a search without hits, needs no words.
        if threshold <= self.looked_at || threshold.is_infinite() {
            return false;
        }
        self.looked_at = threshold;
        let mut most = self.measure();
        let is_needed = |optional: &Bounded<Probe<'_>>| {
            matches!(optional.clause, Probe::List(_)) && threshold > most.all() - optional.most
        };
        let needed: Vec<_> = self.optional.extract_if(.., |one| is_needed(one)).collect();
        let is_any = !needed.is_empty();
        for Bounded {
            clause,
            most: added,
        } in needed
        {
            if let Probe::List(list) = clause {
                self.insert_word(*list, added);
                most.words += added;
                most.optional -= added;
            }
        }
        self.most = Some(most);
        is_any
    }
}

impl<'a> Executor<'a> for Mixed<'a> {
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        wanted: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        self.search(range, segment, top, wanted)
    }

    fn bound(&mut self, range: &Range<u32>) -> f32 {
        self.bound_in(DocId(range.start), DocId(range.end))
    }

    fn cost(&self) -> u64 {
        u64::from(self.lists()[0].cost()) * SLOW
    }

    fn name(&self) -> Name {
        Name::Mixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::asserting;
    use crate::plan::node::Node;
    use crate::testing::{check, clauses};
    use crate::verify::filter::Condition;

    /// Searches queries as combinations. With `is_listed`, the documents of their values are listed before, so that these come
    /// before the other words.
    fn agrees(queries: &[&str], is_listed: bool) {
        for typed in queries {
            for wanted in [Wanted::Hits, Wanted::HitsAndCount, Wanted::Count] {
                check(typed, wanted, |plan, segment, ranges, top| {
                    let [required, optional, excluded] = clauses(plan);
                    for node in required.iter().filter(|_| is_listed) {
                        let Node::Value(value) = node else { continue };
                        let (column, codes) = value.open(segment).unwrap().unwrap();
                        let list = || segment.documents_with(&value.field, &column, codes);
                        // A filter of many documents gets no list.
                        let _ = (0..100).find_map(|_| list());
                    }
                    let stop = top.stop();
                    let excluded = [excluded, &[], &[], &[]];
                    let condition = Condition::excluding(plan, excluded, segment, stop).unwrap();
                    let clauses = [required, optional];
                    let opened = Mixed::open(plan, clauses, condition, segment, stop).unwrap();
                    let mut mixed = opened.unwrap();
                    assert_eq!(mixed.early.is_empty(), !is_listed, "{typed}");
                    for range in ranges {
                        asserting::run(&mut mixed, range.clone(), segment, wanted, top).unwrap();
                    }
                });
            }
        }
    }

    #[test]
    fn combinations_are_those_of_the_slow_twin() {
        let queries = [
            "+w10 w9 w3",
            "+w11 +w9 w8 -w10",
            "+\"w11 w10\" w9 w5",
            "+\"w11 w10 w11\" +w9",
            "+w11 +(w8 OR w7) \"w10 w9\" -w4",
        ];
        agrees(&queries, false);
    }

    #[test]
    fn matches_through_listed_values_are_those_of_the_slow_twin() {
        let queries = [
            "+w9 +w11 +w10 +n:7",
            "+w10 +w11 +n:7 +n:5..9 w9 w3",
            "+w9 +w11 +n:7 -w8 w4",
            "+\"w11 w10\" +n:7 w9",
        ];
        agrees(&queries, true);
    }
}
