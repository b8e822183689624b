//! Small segments and a comparison with exhaustive evaluation, for the unit tests of algorithms.

use crate::collect::collectors::{Collectors, HitCollector};
use crate::collect::match_count::MatchCount;
use crate::collect::topk::hit::ScoredHit;
use crate::collect::topk::kept::TopK;
use crate::context::cancel::StopRef;
use crate::context::wanted::Wanted;
use crate::exhaustive::cursor::any::Cursor;
use crate::exhaustive::search::search_range;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::plan::ranking::Ranking;
use crate::query::parse::{Operator, parse, parse_with};
use document::Document;
use index::{Index, Segment};
use std::ops::Range;
use std::sync::Arc;
use testkit::{BuildPlan, build_index};

/// Number of documents of the first segment: lists have several blocks, and searches many windows.
pub(crate) const DOCUMENTS: u32 = 1500;

/// The collectors of a search: hits and their count.
pub(crate) type Counted<'a> = Collectors<'a, TopK<'a>, MatchCount<true>>;

/// Makes an index of documents of the words w0 (rare) to w11 (frequent), with a field `n` of 0 to 39. With
/// `with_deletions`, every seventh is deleted.
pub(crate) fn made_up(with_deletions: bool) -> Index {
    let mut state = 7u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let documents: Vec<Document> = (0..DOCUMENTS)
        .map(|number| {
            let words = (0..1 + random(14)).map(|_| format!("w{}", (random(4095) + 1).ilog2()));
            Document {
                url: format!("http://s{}.test/{number}", number % 5),
                body: words.collect::<Vec<_>>().join(" "),
                fields: [("n".to_owned(), (number * 7 % 40).into())]
                    .into_iter()
                    .collect(),
                ..Document::default()
            }
        })
        .collect();
    let mut batches = vec![documents];
    if with_deletions {
        let replaced = batches[0].iter().step_by(7).cloned();
        batches.push(
            replaced
                .map(|one| Document {
                    body: "gone".to_owned(),
                    ..one
                })
                .collect(),
        );
    }
    build_index(&batches, BuildPlan::PLAIN).unwrap()
}

/// Returns the first segment of an index.
pub(crate) fn first_segment(index: &Index) -> Arc<Segment> {
    let mut segments = index.segments(0..index.chunks_count());
    Arc::clone(segments.next().unwrap())
}

/// Plans a typed query; bare words are required, or optional if a `+` marks others as required. After `some of:` a
/// telling one of them is.
pub(crate) fn planned(index: &Index, typed: &str) -> Plan {
    if let Some(words) = typed.strip_prefix("some of:") {
        let parsed = parse(words, index.analyzer(), Operator::Auto);
        let query = parsed.some_words.expect("two words or more");
        return Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
    }
    let operator = match typed.contains('+') {
        true => Operator::Or,
        false => Operator::And,
    };
    let query = parse_with(typed, index.analyzer(), index.fields(), operator).query;
    Plan::new(&query, Ranking::default(), index.statistics()).unwrap()
}

/// Returns the required, optional and excluded clauses of a plan.
pub(crate) fn clauses(plan: &Plan) -> [&[Node]; 3] {
    match &plan.root {
        Node::Boolean {
            required,
            optional,
            excluded,
        } => [required, optional, excluded],
        one => [std::slice::from_ref(one), &[], &[]],
    }
}

/// Checks that `search`, given ranges of documents, collects what exhaustive evaluation of the plan collects: for
/// several numbers of hits, with and without deleted documents, in ranges of any order.
pub(crate) fn check(
    typed: &str,
    wanted: Wanted,
    search: impl for<'a> Fn(&'a Plan, &'a Segment, &[Range<u32>], &mut Counted<'a>),
) {
    let whole = 0..DOCUMENTS;
    let cuts: [&[Range<u32>]; 3] = [
        &[whole],
        &[0..64, 64..130, 130..DOCUMENTS],
        &[1024..DOCUMENTS, 0..1, 1..257, 257..1024],
    ];
    for with_deletions in [false, true] {
        let index = made_up(with_deletions);
        let segment = first_segment(&index);
        let plan = planned(&index, typed);
        for k in [1, 10, 300] {
            let expected = exhaustively(&plan, &segment, k);
            for ranges in cuts {
                let mut top = Counted::new(plan.top(k), MatchCount::default());
                top.enter(&segment).unwrap();
                search(&plan, &segment, ranges, &mut top);
                let what = format!("{k} of {typed} in {ranges:?}, {with_deletions}");
                assert!(expected.1 > 0, "{what}");
                if wanted.is_counted() {
                    assert_eq!(top.matches.0, expected.1, "{what}");
                }
                if wanted.has_hits() {
                    assert_eq!(top.hits.into_sorted(), expected.0, "{what}");
                }
            }
        }
    }
}

fn exhaustively(plan: &Plan, segment: &Segment, k: usize) -> (Vec<ScoredHit>, u64) {
    let mut top = Counted::new(plan.top(k), MatchCount::default());
    top.hits.enter(segment).unwrap();
    let mut cursor = Cursor::open(plan, &plan.root, segment, StopRef::default()).unwrap();
    let wanted = Wanted::HitsAndCount;
    search_range(&mut cursor, 0..DOCUMENTS, segment, &mut top, wanted).unwrap();
    (top.hits.into_sorted(), top.matches.0)
}
