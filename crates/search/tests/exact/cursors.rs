//! Tests that pages, each after the last hit of the one before, are slices of the ranking.

use crate::ways::all_segments;
use index::Segment;
use proptest::prelude::*;
use search::{After, Cut, Plan, Query, Ranking, ScoredHit, SearchTask, Stop, search_partition};
use std::sync::Arc;
use testkit::{MadeUp, batches, build_index, build_plans, queries};

fn place(hit: &ScoredHit) -> After {
    After {
        score: hit.score,
        values: Vec::new(),
        url_hash: hit.url_hash,
    }
}

/// Returns the pages of `k` hits one after another, by tasks of one worker or of a worker for each range.
fn paged(
    plan: &Arc<Plan>,
    segments: &[Arc<Segment>],
    k: usize,
    counted: bool,
    cut: Option<Cut>,
) -> (Vec<ScoredHit>, Vec<u64>) {
    let (mut all, mut totals): (Vec<ScoredHit>, _) = (Vec::new(), Vec::new());
    loop {
        let task = SearchTask::new(Arc::clone(plan), segments.iter().cloned(), k, counted)
            .after(all.last().map(place));
        let task = match cut {
            Some(cut) => task.cut(cut).unwrap(),
            None => task,
        };
        let mut shares = vec![task.work(&Stop::default(), || cut.is_some()).unwrap()];
        while !task.is_exhausted() {
            shares.push(task.work(&Stop::default(), || true).unwrap());
        }
        let found = task.merged(shares);
        if found.count_is_exact {
            totals.push(found.matches_count);
        }
        if found.hits.is_empty() {
            return (all, totals);
        }
        all.extend(found.hits);
    }
}

fn check(query: &Query, index: &index::Index, k: usize) -> Result<(), TestCaseError> {
    let segments: Vec<Arc<Segment>> = all_segments(index).into_iter().cloned().collect();
    let plan = Plan::new(query, Ranking::default(), index.statistics()).unwrap();
    let plan = Arc::new(plan);
    let (ranking, total) = search_partition(&plan, &segments, usize::MAX >> 1).unwrap();
    let cut = Cut {
        ranges_max: 5,
        postings_min: 0,
    };
    for (counted, cut) in [(true, None), (false, None), (false, Some(cut))] {
        let (hits, totals) = paged(&plan, &segments, k, counted, cut);
        prop_assert_eq!(&hits, &ranking, "{:?} counted {}", query, counted);
        prop_assert!(totals.iter().all(|&counted| counted == total));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(120, 2_000)))]

    #[test]
    fn pages_are_slices_of_the_ranking(
        batches in batches(3, 24),
        build in build_plans(),
        queries in prop::collection::vec(queries(), 1..4),
        k in 1usize..7,
    ) {
        let index = build_index(&batches, build).unwrap();
        for query in &queries {
            check(query, &index, k)?;
        }
    }
}

/// Blocks, floors and many equal scores, which small indexes do not have.
#[test]
fn pages_of_a_large_index_are_slices_of_the_ranking() {
    let documents: Vec<_> = MadeUp::default().documents(3_000).collect();
    let batches: Vec<Vec<_>> = documents.chunks(1_300).map(<[_]>::to_vec).collect();
    let index = build_index(&batches, testkit::BuildPlan::PLAIN).unwrap();
    for typed in [
        "bada",
        "bada OR fada",
        "dada bada",
        "\"bada gada\" OR dada",
        "bada -fada",
        "b*",
    ] {
        let query = search::parse(typed, index.analyzer(), search::Operator::And).query;
        for &k in testkit::size(&[40, 333][..], &[7, 40, 333]) {
            check(&query, &index, k).unwrap();
        }
    }
}
