//! Unit tests of MaxScore: several windows, compared with exhaustive evaluation.

use super::*;
use crate::collect::asserting;
use crate::testing::{DOCUMENTS, check, clauses};

#[test]
fn windows_find_what_the_slow_twin_finds() {
    let queries = [
        "w5 OR w9",
        "w11 OR w10 OR w9",
        "w0 OR w1 OR w2 OR w11",
        "w9 OR w8 OR w7 OR w6 OR w5 OR w4 OR w3",
        "w9 OR w8 -w11",
    ];
    for typed in queries {
        check(typed, Wanted::Hits, |plan, segment, ranges, top| {
            let [_, any, excluded] = clauses(plan);
            let excluded = [excluded, &[], &[]];
            let stop = top.stop();
            let condition = Condition::excluding(plan, excluded, segment, stop).unwrap();
            let lists = List::open_each(plan, any, segment).unwrap();
            let mut any = MaxScore::new(lists, condition, segment, &mut top.context);
            assert!(any.width * 4 < DOCUMENTS, "several windows");
            for range in ranges {
                asserting::run(&mut any, range.clone(), segment, Wanted::Hits, top).unwrap();
            }
        });
    }
}

#[test]
fn required_words_may_be_asked_last() {
    check("+w11 w4", Wanted::Hits, |plan, segment, ranges, top| {
        let [required, optional, _] = clauses(plan);
        let clauses = [required, optional];
        let context = &mut top.context;
        let mut any = MaxScore::requiring(plan, clauses, None, segment, context).unwrap();
        for range in ranges {
            asserting::run(&mut any, range.clone(), segment, Wanted::Hits, top).unwrap();
        }
    });
}
