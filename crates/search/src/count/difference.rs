//! Count of the documents that hold all of some terms, and not another.
//!
//! |all and not x| = |all| - |all and x|: both are conjunctions, and no score is computed. Exact: the slow twin is
//! [`crate::exhaustive`].

use crate::block::term_scorer::{List, postings_of};
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::executor::Executor;
use crate::collect::match_count::MatchCount;
use crate::context::cancel::StopRef;
use crate::context::counters::Name;
use crate::context::wanted::Wanted;
use crate::count::union::collect_lists;
use crate::join::conjunction::Conjunction;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::verify::filter::{Condition, Excluded};
use crate::verify::probe::Probe;
use index::{IndexError, Segment};
use std::ops::Range;

/// The count of the documents of some lists on one segment.
pub(crate) struct Counter<'a> {
    all: Conjunction<'a>,
    /// Conjunction of the same lists and the excluded one.
    with_excluded: Option<Conjunction<'a>>,
}

impl<'a> Counter<'a> {
    /// Opens clauses to be counted; `None` if they have another form, if the segment lacks one, or if counting while
    /// searching is as cheap.
    pub(crate) fn open(
        plan: &'a Plan,
        required: &'a [Node],
        excluded: Excluded<'a>,
        condition: Option<&Condition<'a>>,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Option<Counter<'a>>, IndexError> {
        let is_counted = required.iter().all(|node| node.word().is_some())
            && condition.is_none_or(Condition::is_one_list);
        if !is_counted {
            return Ok(None);
        }
        let all = List::open_each(plan, required, segment)?;
        if all.len() < required.len() {
            return Ok(None);
        }
        let all = Conjunction::new(all);
        // The search of a conjunction of rare words reads all matches anyway.
        if all.lists.len() > 1 && !all.is_dense(segment) {
            return Ok(None);
        }
        let with_excluded = match condition {
            None => None,
            Some(_) => {
                let mut lists = List::open_each(plan, required, segment)?;
                let nodes = excluded.into_iter().flatten();
                for probe in Probe::open_each(plan, nodes, segment, stop)? {
                    // The condition is one list, of a word or of a stored pair.
                    if let Probe::List(list) = probe {
                        lists.push(*list);
                    }
                }
                Some(Conjunction::new(lists))
            }
        };
        Ok(Some(Counter { all, with_excluded }))
    }

    /// Returns the number of postings of all lists.
    pub(crate) fn postings(&self) -> u64 {
        postings_of(&self.all.lists)
    }

    /// Counts the matching documents of `range`. A count that is cancelled is a lower bound.
    pub(crate) fn count(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        stop: StopRef<'_>,
    ) -> Result<u64, IndexError> {
        let mut all = MatchCount::<true>::default();
        match self.all.lists.len() {
            1 => collect_lists(&mut self.all.lists, range.clone(), segment, stop, &mut all)?,
            _ => self.all.collect(range.clone(), segment, stop, &mut all)?,
        }
        let Some(with_excluded) = &mut self.with_excluded else {
            return Ok(all.0);
        };
        let mut excluded = MatchCount::<true>::default();
        with_excluded.collect(range, segment, stop, &mut excluded)?;
        if stop.count_is_cut() {
            // The excluded documents are not all known, so 0 is the only lower bound.
            return Ok(0);
        }
        // Never negative in an undamaged index.
        Ok(all.0.saturating_sub(excluded.0))
    }
}

impl<'a> Executor<'a> for Counter<'a> {
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        _: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        let stop = top.stop();
        // Both walks are over the same documents.
        let count = stop.whole(|| self.count(range, segment, stop))?;
        top.matches.count(count);
        Ok(())
    }

    fn bound(&mut self, _: &Range<u32>) -> f32 {
        f32::INFINITY
    }

    fn cost(&self) -> u64 {
        self.postings()
    }

    fn name(&self) -> Name {
        Name::Mixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::asserting;
    use crate::testing::{check, clauses};

    #[test]
    fn differences_count_what_the_slow_twin_counts() {
        for typed in ["w11 w10 -w9", "w11 -w5", "w11 w10"] {
            check(typed, Wanted::Count, |plan, segment, ranges, top| {
                let [required, _, excluded] = clauses(plan);
                let excluded = [excluded, &[], &[], &[]];
                let stop = top.stop();
                let condition = Condition::excluding(plan, excluded, segment, stop).unwrap();
                let condition = condition.as_ref();
                let opened = Counter::open(plan, required, excluded, condition, segment, stop);
                let mut counter = opened.unwrap().unwrap();
                for range in ranges {
                    let range = range.clone();
                    asserting::run(&mut counter, range, segment, Wanted::Count, top).unwrap();
                }
            });
        }
    }
}
