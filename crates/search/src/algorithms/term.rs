//! Top-k search of one term with block bounds (Ding & Suel 2011).
//!
//! ```text
//! threshold = floor(k)                             from the list, before a posting is read
//! for each block of the range:
//!     bound(block) < threshold?  skip it           nothing is decoded
//!     candidates = postings that reach threshold   by frequency and length, 64 at once
//!     collect the candidates that are not deleted
//! ```
//!
//! Exact: hits, scores and order are those of its slow twin, [`crate::exhaustive`]. The count is in the dictionary,
//! or that of the list's bits. Cost: a bound a block, and the decoding of blocks that can hold a hit.

use crate::block::candidate_block::CandidateBlock;
use crate::block::term_scorer::{List, Lists, first_damage};
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::executor::Executor;
use crate::context::counters::Name;
use crate::context::scratch::Lent;
use crate::context::wanted::Wanted;
use crate::count::union::collect_lists;
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// The search of one term on one segment.
pub(crate) struct Term<'a>(Lists<'a>);

impl<'a> Term<'a> {
    /// Makes a search of a single list.
    pub(crate) fn new(lists: Lists<'a>) -> Term<'a> {
        assert_eq!(lists.len(), 1);
        Term(lists)
    }
}

impl<'a> Executor<'a> for Term<'a> {
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        wanted: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        if wanted.has_hits() {
            search(&mut self.0[0], range.clone(), segment, top)?;
        }
        match wanted.is_counted() {
            true => collect_lists(&mut self.0, range, segment, top.stop(), &mut top.matches),
            false => Ok(()),
        }
    }

    fn bound(&mut self, range: &Range<u32>) -> f32 {
        self.0[0].bound_in(DocId(range.start), DocId(range.end))
    }

    fn cost(&self) -> u64 {
        self.0[0].cost().into()
    }

    fn name(&self) -> Name {
        Name::Single
    }
}

/// Collects the hits of a list among the documents of `range`.
pub(crate) fn search<'a, H: HitCollector<'a>, M: MatchCollector>(
    list: &mut List<'a>,
    range: Range<u32>,
    segment: &Segment,
    top: &mut Collectors<'a, H, M>,
) -> Result<(), IndexError> {
    let floor = list.floor(top.context.k(), segment);
    top.context.raise_first(floor);
    let mut candidates: Lent<CandidateBlock> = Lent::take();
    let first = list.find(DocId(range.start));
    for block in first..list.blocks.blocks_count() {
        let start = list.start(block);
        if start >= range.end || top.stop().ends_hits(start, 1) {
            break;
        }
        top.context.exchange();
        // A list without full blocks has no stored bounds; computing one costs as much as scoring.
        if list.blocks.blocks_count() > 1 && !top.would_enter(list.bound(block)) {
            continue;
        }
        list.check(block);
        list.blocks.load(block);
        candidates.take_reaching(list, top.threshold());
        candidates.clip(&range);
        candidates.offer(segment, top);
    }
    first_damage(std::slice::from_mut(list))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::asserting;
    use crate::testing::{check, clauses};

    #[test]
    fn blocks_find_what_the_slow_twin_finds() {
        for typed in ["w11", "w8", "w3"] {
            check(typed, Wanted::Hits, |plan, segment, ranges, top| {
                let mut term = Term::new(List::open_each(plan, clauses(plan)[0], segment).unwrap());
                for range in ranges {
                    asserting::run(&mut term, range.clone(), segment, Wanted::Hits, top).unwrap();
                }
            });
        }
    }
}
