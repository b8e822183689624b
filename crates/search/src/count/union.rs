//! Matches of any of several terms, by windows of bits.
//!
//! ```text
//! one term        its count, from the dictionary
//! two terms       the sum of their counts - what both hold (a conjunction: the shorter one's time)
//! more            for each window: bits of all lists joined, 64 documents a word; excluded ones cleared
//! ```
//!
//! Ranges, deleted documents, excluded clauses, and collectors of documents go by bits. Exact: the slow twin is
//! [`crate::exhaustive`].

use crate::block::bitset::{clip, mark};
use crate::block::term_scorer::{List, Lists, first_damage, postings_of};
use crate::collect::collectors::{Collectors, HitCollector};
use crate::collect::collectors::{MatchCollector, found_bits};
use crate::collect::context::MatchNeeds;
use crate::collect::executor::Executor;
use crate::collect::match_count::MatchCount;
use crate::context::cancel;
use crate::context::cancel::StopRef;
use crate::context::counters::Name;
use crate::context::scratch::{Lent, kept_by_thread};
use crate::context::wanted::Wanted;
use crate::join::conjunction::Conjunction;
use crate::verify::filter::Condition;
use index::{IndexError, Segment};
use std::ops::Range;

/// Width of a window of bits, in documents. Wide, since every list is begun anew in each window.
const WIDTH: u32 = if cfg!(test) { 128 } else { 1 << 18 };
/// Units of work for marking a list's documents of a window.
const WORK: u32 = cancel::WINDOW;

/// Working memory for the bits of a window.
#[derive(Debug, Default)]
struct Marks(Vec<u64>);

kept_by_thread!(Marks);

/// The matches of some lists on one segment.
pub(crate) enum Union<'a> {
    Two(Conjunction<'a>),
    Many(Lists<'a>),
    But(Lists<'a>, Condition<'a>),
}

impl<'a> Union<'a> {
    /// Returns the number of postings of all lists.
    pub(crate) fn postings(&self) -> u64 {
        postings_of(match self {
            Union::Two(both) => &both.lists,
            Union::Many(lists) | Union::But(lists, _) => lists,
        })
    }

    /// Prepares to count or collect, as `needs` says, the documents of which the condition holds.
    pub(crate) fn new(
        lists: Lists<'a>,
        condition: Option<Condition<'a>>,
        needs: MatchNeeds,
    ) -> Union<'a> {
        match (lists.len(), condition) {
            (_, Some(condition)) => Union::But(lists, condition),
            (2, None) if needs < MatchNeeds::Documents => Union::Two(Conjunction::new(lists)),
            (_, None) => Union::Many(lists),
        }
    }

    /// Collects the documents of `range` that hold any of the terms and that the condition allows.
    pub(crate) fn collect<M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        stop: StopRef<'_>,
        matches: &mut M,
    ) -> Result<(), IndexError> {
        match self {
            Union::Two(both) if is_whole(&range, segment) => {
                matches.count(count_two(both, range, segment, stop)?);
                Ok(())
            }
            Union::Two(both) => collect_lists(&mut both.lists, range, segment, stop, matches),
            Union::Many(lists) => collect_lists(lists, range, segment, stop, matches),
            Union::But(lists, condition) => {
                collect_bits(lists, Some(condition), range, segment, stop, matches);
                first_damage(lists)?;
                condition.damage()
            }
        }
    }
}

/// Counts the documents of a whole segment that hold either of two terms.
fn count_two(
    both: &mut Conjunction<'_>,
    range: Range<u32>,
    segment: &Segment,
    stop: StopRef<'_>,
) -> Result<u64, IndexError> {
    let sum = postings_of(&both.lists);
    let mut shared = MatchCount::<true>::default();
    both.collect(range, segment, stop, &mut shared)?;
    if stop.count_is_cut() {
        // A lower bound without reading postings: the longer list.
        let longest = both.lists.iter().map(List::cost).max();
        return Ok(longest.unwrap_or(0).into());
    }
    // Never negative in an undamaged index.
    Ok(sum.saturating_sub(shared.0))
}

/// Returns whether the lists' own counts hold for a range.
fn is_whole(range: &Range<u32>, segment: &Segment) -> bool {
    *range == (0..segment.documents_count()) && !segment.has_deletions()
}

/// Collects the documents of `range` that are in any of the lists.
pub(crate) fn collect_lists<M: MatchCollector>(
    lists: &mut [List<'_>],
    range: Range<u32>,
    segment: &Segment,
    stop: StopRef<'_>,
    matches: &mut M,
) -> Result<(), IndexError> {
    if let [list] = lists
        && M::NEEDS < MatchNeeds::Documents
        && is_whole(&range, segment)
    {
        matches.count(list.cost().into());
        return Ok(());
    }
    collect_bits(lists, None, range, segment, stop, matches);
    first_damage(lists)
}

fn collect_bits<M: MatchCollector>(
    lists: &mut [List<'_>],
    mut condition: Option<&mut Condition<'_>>,
    range: Range<u32>,
    segment: &Segment,
    stop: StopRef<'_>,
    matches: &mut M,
) {
    let mut base = range.start & !63;
    let mut marks: Lent<Marks> = Lent::take();
    let mut excluded: Option<Lent<Marks>> = condition.as_ref().map(|_| Lent::take());
    'windows: while base < range.end && !stop.ends_count(base, 1) {
        let width = WIDTH.min(range.end - base);
        marks.0.clear();
        marks.0.resize(width.div_ceil(64) as usize, 0);
        let words = marks.0.as_mut_slice();
        for list in lists.iter_mut() {
            mark(list, base, words);
            if stop.ends_window(WORK) {
                break 'windows;
            }
        }
        clip(words, base, &range);
        if let (Some(condition), Some(marks)) = (&mut condition, &mut excluded) {
            condition.strike(base, words, &mut marks.0, stop);
            if stop.is_aborted() {
                stop.cut_count();
                break;
            }
        }
        found_bits(matches, base, words, segment);
        base += width;
    }
}

impl<'a> Executor<'a> for Union<'a> {
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        _: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        self.collect(range, segment, top.stop(), &mut top.matches)
    }

    fn bound(&mut self, _: &Range<u32>) -> f32 {
        f32::INFINITY
    }

    fn cost(&self) -> u64 {
        self.postings()
    }

    fn name(&self) -> Name {
        Name::Union
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::asserting;
    use crate::collect::context::MatchNeeds;
    use crate::testing::{DOCUMENTS, check, clauses};
    use crate::verify::filter::Condition;

    #[test]
    fn windows_of_bits_count_what_the_slow_twin_counts() {
        // Two terms by subtraction, more by bits, with and without something excluded.
        for typed in [
            "w5 OR w9",
            "w5 OR w9 OR w3",
            "w11 OR w10 OR w9 OR w1",
            "w5 OR w9 -w11",
        ] {
            for needs in [MatchNeeds::Count, MatchNeeds::Documents] {
                check(typed, Wanted::Count, |plan, segment, ranges, top| {
                    let [_, any, excluded] = clauses(plan);
                    let stop = top.stop();
                    let excluded = [excluded, &[], &[], &[]];
                    let condition = Condition::excluding(plan, excluded, segment, stop).unwrap();
                    let lists = List::open_each(plan, any, segment).unwrap();
                    let mut union = Union::new(lists, condition, needs);
                    for range in ranges {
                        let range = range.clone();
                        asserting::run(&mut union, range, segment, Wanted::Count, top).unwrap();
                    }
                });
            }
        }
        const { assert!(DOCUMENTS > 4 * WIDTH) }
    }
}
