//! Search that the best of many lists leads, as patterns are, beside further required, optional and excluded clauses.
//!
//! ```text
//! for each window of documents in which a list has a block that reaches the threshold with the other clauses:
//!     pour what can reach it of each list; a document keeps its best score
//!     for each document that reaches it, 256 at a time:
//!         add the required clauses, then the optional ones; drop what cannot reach it after each
//!         drop what is excluded; collect
//! ```
//!
//! A list of which no score reaches the threshold is not read at all, and of the others only blocks are that can: of fifty
//! words with one beginning, few are rare enough to matter once k documents are known.
//!
//! Exact: hits, scores and order are those of its slow twin, [`crate::exhaustive`], since sums are exact.

use crate::algorithms::boolean::state::Bounded;
use crate::block::apply::apply_optional;
use crate::block::best_window::WIDTH;
use crate::block::candidate_block::CandidateBlock;
use crate::block::probed::Demand;
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::executor::Executor;
use crate::context::cancel;
use crate::context::cancel::PROBE;
use crate::context::counters::Name;
use crate::context::scratch::Lent;
use crate::context::wanted::Wanted;
use crate::join::best_lists::BestLists;
use crate::plan::scorer::BLOCK;
use crate::verify::filter::Condition;
use crate::verify::probe::Probe;
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// A search led by the best of some lists.
pub(crate) struct BestOf<'a> {
    lists: BestLists<'a>,
    others: Others<'a>,
    candidates: Lent<CandidateBlock>,
}

/// The clauses that are probed for what the lists find.
struct Others<'a> {
    required: Vec<Bounded<Probe<'a>>>,
    optional: Vec<Bounded<Probe<'a>>>,
    condition: Option<Condition<'a>>,
    /// Upper bound on the sum of their scores.
    most: f32,
}

impl<'a> BestOf<'a> {
    /// Prepares a search of lists beside other clauses; the segment has all that are required.
    pub(crate) fn new(
        lists: BestLists<'a>,
        [mut required, optional]: [Vec<Probe<'a>>; 2],
        condition: Option<Condition<'a>>,
    ) -> BestOf<'a> {
        required.sort_by_key(Probe::cost);
        let [required, optional] = [required, optional].map(bounded);
        let most = required.iter().chain(&optional).map(|one| one.most).sum();
        BestOf {
            lists,
            others: Others {
                required,
                optional,
                condition,
                most,
            },
            candidates: Lent::take(),
        }
    }

    fn search<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        let work = cancel::WINDOW + cancel::clauses_work(self.lists.len());
        let mut next = range.start;
        self.candidates.clear();
        while next < range.end && !top.stop().ends_hits(next, work) {
            top.context.exchange();
            let least = top.threshold() - self.others.most;
            let Some(start) = self.lists.first_from(next, least) else {
                break;
            };
            let base = start & !63;
            let part = start..range.end.min(base.saturating_add(WIDTH));
            if part.is_empty() {
                break;
            }
            self.search_window(base, &part, segment, top);
            if top.stop().is_aborted() {
                top.stop().stop_hits_at(start);
                break;
            }
            next = part.end;
        }
        self.damage()
    }

    fn search_window<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        base: u32,
        part: &Range<u32>,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
    ) {
        let candidates = &mut *self.candidates;
        let least = top.threshold() - self.others.most;
        let window = self.lists.pour(base, part, least, top.stop());
        if top.stop().is_aborted() {
            return;
        }
        for word in 0..window.words_count() {
            // The threshold only rises, so documents dropped here could not enter later either.
            let least = top.threshold() - self.others.most;
            window.each_of_word(word, least, |doc, score| candidates.push(doc, score));
            // A word adds 64 documents at most.
            if candidates.count > BLOCK - 64 {
                self.others.finish(candidates, segment, top);
                if top.stop().is_aborted() {
                    return;
                }
            }
        }
        self.others.finish(candidates, segment, top);
    }

    fn damage(&mut self) -> Result<(), IndexError> {
        if let Some(condition) = &mut self.others.condition {
            condition.damage()?;
        }
        let others = self.others.required.iter_mut();
        let mut others = others.chain(&mut self.others.optional);
        let of_others = others.find_map(|one| one.clause.take_error());
        let damage = self.lists.take_error().or(of_others);
        damage.map_or(Ok(()), Err)
    }
}

fn bounded(probes: Vec<Probe<'_>>) -> Vec<Bounded<Probe<'_>>> {
    let mut bounded = Vec::with_capacity(probes.len());
    for mut clause in probes {
        let most = clause.most();
        bounded.push(Bounded { clause, most });
    }
    bounded
}

impl<'a> Others<'a> {
    /// Adds the scores of the other clauses, and offers the candidates that match them all and can still enter.
    fn finish<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        candidates: &mut CandidateBlock,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
    ) {
        let mut later = self.most;
        for one in &mut self.required {
            if candidates.count == 0 || top.stop().aborts(PROBE) {
                break;
            }
            // Exact: all of them lie on the grid.
            later -= one.most;
            let threshold = top.threshold();
            let demand = Demand::Competitive { threshold, later };
            candidates.probe(&mut one.clause, demand, top.stop());
            candidates.keep_probed();
            candidates.add_probed();
            candidates.retain(threshold - later);
        }
        for one in &mut self.optional {
            if candidates.count == 0 || top.stop().aborts(PROBE) {
                break;
            }
            later -= one.most;
            let threshold = top.threshold();
            apply_optional(&mut one.clause, threshold, later, candidates, top.stop());
        }
        if let Some(condition) = &mut self.condition {
            let stop = top.stop();
            condition.apply(candidates, stop);
        }
        if top.stop().is_aborted() {
            return candidates.clear();
        }
        candidates.offer(segment, top);
    }
}

impl<'a> Executor<'a> for BestOf<'a> {
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        _: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        self.search(range, segment, top)
    }

    fn bound(&mut self, range: &Range<u32>) -> f32 {
        let (base, end) = (DocId(range.start), DocId(range.end));
        let others = self.others.required.iter_mut();
        let others = others.chain(&mut self.others.optional);
        let others: f32 = others.map(|one| one.clause.bound_in(base, end)).sum();
        self.lists.bound_in(base, end) + others
    }

    fn cost(&self) -> u64 {
        self.lists.cost()
    }

    fn name(&self) -> Name {
        Name::BestOf
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::asserting;
    use crate::join::best_lists::is_best_of_lists;
    use crate::testing::{check, clauses};

    /// Searches queries whose first required clause is a pattern, led by it.
    fn agrees(queries: &[&str]) {
        for typed in queries {
            check(typed, Wanted::Hits, |plan, segment, ranges, top| {
                let [required, optional, excluded] = clauses(plan);
                let at = required.iter().position(is_best_of_lists).unwrap();
                let lists = BestLists::open(plan, &required[at], segment)
                    .unwrap()
                    .unwrap();
                assert!(lists.len() > 1, "{typed}");
                let stop = top.stop();
                let rest = required[..at].iter().chain(&required[at + 1..]);
                let required = Probe::open_each(plan, rest, segment, stop).unwrap();
                let optional = Probe::open_each(plan, optional, segment, stop).unwrap();
                let excluded = [excluded, &[], &[], &[]];
                let condition = Condition::excluding(plan, excluded, segment, stop).unwrap();
                let mut best = BestOf::new(lists, [required, optional], condition);
                for range in ranges {
                    asserting::run(&mut best, range.clone(), segment, Wanted::Hits, top).unwrap();
                }
            });
        }
    }

    #[test]
    fn documents_led_by_the_best_of_lists_are_those_of_the_slow_twin() {
        agrees(&[
            "w1*",
            "+w1*",
            "+w1* +w9",
            "+w1* +w9 w3 w8",
            "+w1* +w9~1 -w8",
            "+w1* w7 +n:7..20",
            "+w1* +\"w9 w8\" w2",
        ]);
    }
}
