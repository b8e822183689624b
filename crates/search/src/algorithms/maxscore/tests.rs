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
            let excluded = [excluded, &[], &[], &[]];
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

#[test]
fn lists_that_never_lead_only_add() {
    // w0 is held by a few documents, w11 by nearly all: only the rare words are telling.
    for typed in [
        "some of: w0 w1 w11",
        "some of: w0 w2 w10 w11",
        "some of: w1 w3 w10 w11 -w2",
    ] {
        check(typed, Wanted::Hits, |plan, segment, ranges, top| {
            let [group, others, excluded] = clauses(plan);
            let [
                Node::Boolean {
                    optional: telling, ..
                },
            ] = group
            else {
                panic!("no telling words in {plan:?}");
            };
            assert!(telling.len() > 1 && !others.is_empty());
            let excluded = [excluded, &[], &[], &[]];
            let condition = Condition::excluding(plan, excluded, segment, top.stop()).unwrap();
            let lists = [telling, others].map(|all| List::open_each(plan, all, segment).unwrap());
            let [telling, others] = lists;
            let context = &mut top.context;
            let mut any = MaxScore::leading(telling, others, condition, segment, context);
            for range in ranges {
                asserting::run(&mut any, range.clone(), segment, Wanted::Hits, top).unwrap();
            }
        });
    }
}
