//! Unit tests of conjunctions: hits, counts by blocks and by windows of bits, bounds of ranges.

use super::*;
use crate::collect::asserting;
use crate::plan::planner::Plan;
use crate::testing::{check, clauses};

fn opened<'a>(plan: &'a Plan, segment: &'a Segment) -> Conjunction<'a> {
    Conjunction::new(List::open_each(plan, clauses(plan)[0], segment).unwrap())
}

#[test]
fn hits_and_counts_are_those_of_the_slow_twin() {
    for typed in ["w11 w10", "w9 w8 w11", "w11 w5", "w10 w9 w8 w7"] {
        for wanted in [Wanted::Hits, Wanted::HitsAndCount] {
            check(typed, wanted, |plan, segment, ranges, top| {
                let mut all = opened(plan, segment);
                for range in ranges {
                    asserting::run(&mut all, range.clone(), segment, wanted, top).unwrap();
                }
            });
        }
    }
}

#[test]
fn bits_of_several_windows_and_blocks_count_the_same() {
    for typed in ["w11 w10", "w11 w10 w9", "w6 w11"] {
        check(typed, Wanted::Count, |plan, segment, ranges, top| {
            let mut all = opened(plan, segment);
            for range in ranges {
                asserting::run(&mut all, range.clone(), segment, Wanted::Count, top).unwrap();
            }
        });
        check(typed, Wanted::Count, |plan, segment, ranges, top| {
            let mut all = opened(plan, segment);
            let (stop, matches) = (top.stop(), &mut top.matches);
            for range in ranges {
                all.collect_blocks(range.clone(), segment, stop, matches);
            }
        });
    }
}

#[test]
fn a_range_is_bounded() {
    check("w10 w9", Wanted::Hits, |plan, segment, ranges, top| {
        let mut all = opened(plan, segment);
        for range in ranges {
            let bound = all.bound_in(DocId(range.start), DocId(range.end));
            asserting::run(&mut all, range.clone(), segment, Wanted::Hits, top).unwrap();
            assert!(bound > 0.0 && (range.len() < 500 || top.threshold() <= bound));
        }
    });
}
