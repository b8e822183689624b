//! Tests of the partial results of cancelled searches: each is a correct part of the whole answer.

use index::{Index, Segment};
use search::{
    Operator, Plan, Query, Ranking, ScoredHit, SearchTask, Stop, parse, search_partition,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use testkit::{BuildPlan, MadeUp, build_index};

/// One query for each algorithm, and one for none of them.
/// The words are the most frequent of the made-up collection, and one with its partner.
const QUERIES: [&str; 28] = [
    "bada",
    "dada bada",
    "bada OR fada",
    "bada OR dada OR gada",
    "\"bada gada\"",
    "bada OR dada -fada",
    "bada -dada",
    "bada dada -fada",
    "\"bada gada\" -dada",
    "\"bada gada\" OR dada OR fada",
    "bada* OR dada",
    "b* d* f*",
    "b*",
    "dada -b*",
    "bada OR dada -f*",
    "(bada dada) OR (fada gada)",
    "(bada OR \"bada gada\"~4) (dada OR f*)",
    "dada OR (fada \"bada gada\")",
    "dada -(bada fada)",
    "bada OR dada -(fada \"bada gada\"~4)",
    "\"bada gada\" OR (dada -fada)",
    "dada (fada OR (bada gada))",
    MANY,
    LOOSE[0],
    LOOSE[1],
    LOOSE[2],
    LOOSE[3],
    LOOSE[4],
];

/// Query with more lists than a window processes without counting work.
const MANY: &str = "bada OR dada OR fada OR gada OR kada OR lada OR mada OR nada OR pada OR rada OR sada OR tada \
                    OR bade OR dade OR fade OR gade OR kade OR lade OR made OR nade OR pade OR rade OR sade";

/// Loose phrases, alone and with other clauses. In each, every document with both words of the phrase
/// is evaluated by itself.
const LOOSE: [&str; 5] = [
    "\"bada gada\"~4",
    "\"bada gada\"~4 dada -fada",
    "\"bada gada\"~4 OR dada",
    "dada -\"bada gada\"~4",
    "bada OR dada -\"bada gada\"~4",
];

fn segments(index: &Index) -> Vec<&Arc<Segment>> {
    index.segments(0..index.chunks_count()).collect()
}

#[test]
fn whatever_the_moment() {
    let documents: Vec<_> = MadeUp::default().documents(60_000).collect();
    let index = build_index(&[documents], BuildPlan::PLAIN).unwrap();
    let parsed = |typed: &str| parse(typed, index.analyzer(), Operator::And).query;
    for typed in QUERIES {
        check_stopped(&index, &parsed(typed), typed);
    }
    for typed in ["bada OR dada OR gada", "b* OR \"bada gada\" OR dada", MANY] {
        let Query::Boolean { optional, .. } = parsed(typed) else {
            panic!("alternatives in {typed}");
        };
        let best = Query::BestOf {
            clauses: optional,
            tie_breaker: 0.3,
        };
        check_stopped(&index, &best, &format!("best of {typed}"));
    }
}

/// Checks that a search that is stopped gives a part of the whole answer, whenever it is.
fn check_stopped(index: &Index, query: &Query, typed: &str) {
    for counted in [true, false] {
        let plan = Plan::new(query, Ranking::default(), index.statistics()).unwrap();
        let plan = Arc::new(plan);
        let task = || {
            let segments = segments(index).into_iter().cloned();
            SearchTask::new(plan.clone(), segments, 10, counted)
        };
        let (all, total) = search_partition(&plan, segments(index), usize::MAX).unwrap();
        assert!(total > 100, "{typed}: {total}");
        let (mut cut, mut moment) = (0, 0);
        loop {
            let asked = AtomicU64::new(0);
            let is_due = || asked.fetch_add(1, Relaxed) >= moment;
            let stop = Stop::when(&is_due);
            let found = task().run(&stop).unwrap();
            let what = format!("{typed}, ended at question {moment}");
            assert!(found.documents_searched <= found.documents_count, "{what}");
            assert!(found.matches_count <= total, "{what}");
            assert!(is_part_of(&found.hits, &all), "{what}");
            if found.documents_searched == found.documents_count {
                assert_eq!(found.hits, all[..10], "{what}");
            }
            if found.count_is_exact {
                assert_eq!(found.matches_count, total, "{what}");
                assert!(counted, "{what}");
            }
            if asked.load(Relaxed) <= moment {
                assert_eq!(found.documents_searched, found.documents_count, "{what}");
                assert_eq!(found.count_is_exact, counted, "{what}");
                break;
            }
            cut += 1;
            // Each of the first, and of those after a part: there may be thousands.
            moment += 1 + moment / 8;
        }
        // The checks are at the beginning of the segment and within the lists.
        assert!(cut >= 2, "{typed} was asked {cut} times only");
    }
}

#[test]
fn loose_phrases_give_way_after_some_documents() {
    /// Upper limit on the documents evaluated by themselves between two checks.
    const DOCUMENTS_MAX: u64 = 64;
    let documents: Vec<_> = MadeUp::default().documents(60_000).collect();
    let index = build_index(&[documents], BuildPlan::PLAIN).unwrap();
    let plan = |typed: &str| {
        let query = parse(typed, index.analyzer(), Operator::And).query;
        Plan::new(&query, Ranking::default(), index.statistics()).unwrap()
    };
    let (_, looked_at) = search_partition(&plan("bada gada dada"), segments(&index), 1).unwrap();
    assert!(looked_at > 20 * DOCUMENTS_MAX, "{looked_at}");
    for typed in LOOSE {
        let asked = AtomicU64::new(0);
        let is_due = || {
            asked.fetch_add(1, Relaxed);
            false
        };
        let stop = Stop::when(&is_due);
        let segments = segments(&index).into_iter().cloned();
        let task = SearchTask::new(Arc::new(plan(typed)), segments, 10, true);
        task.run(&stop).unwrap();
        assert!(
            asked.load(Relaxed) >= looked_at / DOCUMENTS_MAX,
            "{typed}: asked {} times for {looked_at} documents",
            asked.load(Relaxed)
        );
    }
}

/// Returns whether hits occur in the whole ranking, in its order.
fn is_part_of(hits: &[ScoredHit], all: &[ScoredHit]) -> bool {
    let mut rest = all.iter();
    hits.iter().all(|hit| rest.any(|one| one == hit))
}
