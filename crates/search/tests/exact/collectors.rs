//! Tests that collectors agree with exhaustive evaluation: every match, its count and the best hits,
//! apart and in one walk.

use crate::ways::{Everything, all_segments, check_all_ways, many_documents, on_handlers, parsed};
use index::{DocId, Index, Segment};
use proptest::prelude::*;
use search::collect::MatchNeeds;
use search::{Collectors, DocBits, MatchCollector, MatchCount, Plan, Ranking, collect, exhaustive};
use std::sync::Arc;
use testkit::{BuildPlan, batches, build_index, build_plans};

/// Collector that counts the matches with even numbers: a small facet, for documents and bits alike.
#[derive(Default)]
struct Evens(u64);

impl MatchCollector for Evens {
    const NEEDS: MatchNeeds = MatchNeeds::Documents;
    fn enter(&mut self, _: &Segment) {}
    fn count(&mut self, _: u64) {
        panic!("documents were asked for");
    }
    fn documents(&mut self, docs: &[u32]) {
        assert!(docs.is_sorted_by(|a, b| a < b));
        self.0 += docs.iter().filter(|&&doc| doc % 2 == 0).count() as u64;
    }
    fn bits(&mut self, base: u32, words: &[u64]) {
        assert_eq!(base % 64, 0);
        let evens = words
            .iter()
            .map(|word| (word & 0x5555_5555_5555_5555).count_ones());
        self.0 += u64::from(evens.sum::<u32>());
    }
}

fn check(index: &Index, typed: &str, any: bool, k: usize) {
    let query = parsed(typed, any, index);
    let plan = Arc::new(Plan::new(&query, Ranking::default(), index.statistics()).unwrap());
    let segments = all_segments(index);
    let (mut slow, mut slow_top) = (Everything::default(), plan.top(k));
    for segment in &segments {
        exhaustive::search_segment(&plan, segment, &mut slow).unwrap();
        exhaustive::search_segment(&plan, segment, &mut slow_top).unwrap();
    }
    let what = format!("{k} of {typed} (any: {any})");
    slow.found.sort();
    let expected = slow.found.len() as u64;
    let expected_evens = slow.found.iter().filter(|found| found.1.0 % 2 == 0).count() as u64;

    // Every match, without scores.
    let mut bits = Collectors::new((), DocBits::default());
    collect(&plan, segments.iter().copied(), &mut bits).unwrap();
    let documents = |bits: &DocBits| -> Vec<(u32, DocId)> {
        let mut ids: Vec<u32> = segments.iter().map(|segment| segment.id()).collect();
        ids.sort_unstable();
        ids.iter()
            .flat_map(|&id| bits.documents(id).map(move |doc| (id, doc)))
            .collect()
    };
    let all: Vec<(u32, DocId)> = slow.found.iter().map(|&(id, doc, _)| (id, doc)).collect();
    assert_eq!(documents(&bits.matches), all, "{what}");
    assert_eq!(bits.matches.count(), expected, "{what}");

    // Every match, with its score.
    let mut scored = Collectors::new(Everything::default(), ());
    collect(&plan, segments.iter().copied(), &mut scored).unwrap();
    scored.hits.found.sort();
    assert_eq!(scored.hits.found, slow.found, "{what}");

    // The best, all documents, their count and a facet, in one walk.
    let matches = (
        DocBits::default(),
        (MatchCount::<true>::default(), Evens::default()),
    );
    let mut both = Collectors::new(plan.top(k), matches);
    collect(&plan, segments.iter().copied(), &mut both).unwrap();
    assert_eq!(both.hits.into_sorted(), slow_top.into_sorted(), "{what}");
    let (bits, (count, evens)) = both.matches;
    assert_eq!(documents(&bits), all, "{what}");
    assert_eq!((count.0, evens.0), (expected, expected_evens), "{what}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(60, 1_000)))]

    #[test]
    fn collectors_agree(
        documents in batches(3, 40),
        build in build_plans(),
        queries in prop::collection::vec(
            (testkit::typed(prop::sample::select(vec!["a", "b", "c", "d", "ab"]).prop_map(str::to_owned)),
             any::<bool>(), 0usize..20), 1..6),
    ) {
        let index = build_index(&documents, build).unwrap();
        for (typed, any, k) in queries {
            check(&index, &typed, any, k);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn collectors_agree_over_many_blocks(
        seed in any::<u64>(),
        deleted in prop_oneof![Just(0usize), 1usize..4000],
        queries in prop::collection::vec(
            (testkit::typed((3u32..13).prop_map(|word| format!("w{word}"))), any::<bool>(),
             prop_oneof![Just(0usize), Just(10), 1usize..90]), 40),
    ) {
        let documents = many_documents(seed);
        let later = documents[..deleted].to_vec();
        let index = build_index(&[documents, later], BuildPlan::PLAIN).unwrap();
        for (typed, any, k) in queries {
            check(&index, &typed, any, k);
        }
        let query = parsed("w12 w9", true, &index);
        check_all_ways(&index, &query, Ranking::default(), 10, 3);
        let plan = Arc::new(Plan::new(&query, Ranking::default(), index.statistics()).unwrap());
        prop_assert!(on_handlers(&plan, &index, 10, true, 3, 1).1 > 0);
    }
}
