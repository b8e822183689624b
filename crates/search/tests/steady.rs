//! Tests that steady searches allocate only their answers.

use index::{Index, IndexError, Segment};
use search::{Operator, Plan, Ranking, parse};
use search::{count_partition, search_partition, top_of_partition};
use std::sync::Arc;
use testkit::{BuildPlan, MadeUp, build_index};

/// Queries for each algorithm without a condition.
const QUERIES: [&str; 8] = [
    "bada",
    "dada bada",
    "dada bada fada",
    "bada OR fada",
    "bada OR dada OR gada",
    "bada nowhere OR gada",
    "\"bada gada\"",
    "\"dada bada gada\"",
];

/// Returns an index of batches, each a segment.
fn made_up(segments_count: usize) -> Index {
    let documents: Vec<document::Document> = MadeUp::default().documents(24_000).collect();
    let batches: Vec<Vec<document::Document>> = documents
        .chunks(documents.len() / segments_count)
        .map(<[document::Document]>::to_vec)
        .collect();
    build_index(&batches, BuildPlan::PLAIN).unwrap()
}

/// Returns the allocations of a search after several like it.
fn allocations(mut search: impl FnMut() -> Result<(), IndexError>) -> u64 {
    for _ in 0..3 {
        search().unwrap();
    }
    allocation_counter::measure(|| search().unwrap()).count_total
}

#[test]
fn only_the_answer_is_allocated() {
    for segments_count in [1, 3] {
        let index = made_up(segments_count);
        let segments: Vec<Arc<Segment>> = index.segments(0..1).cloned().collect();
        assert_eq!(segments.len(), segments_count);
        for typed in QUERIES {
            let query = parse(typed, index.analyzer(), Operator::And).query;
            let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
            let what = format!("{typed}, {segments_count} segments");
            for k in [10, 100, 1000] {
                let answers = [
                    allocations(|| top_of_partition(&plan, &segments, k).map(drop)),
                    allocations(|| search_partition(&plan, &segments, k).map(drop)),
                ];
                assert!(
                    answers.iter().all(|&count| count <= 1),
                    "{what}, {k}: {answers:?}"
                );
            }
            let counting = allocations(|| count_partition(&plan, &segments).map(drop));
            assert_eq!(counting, 0, "{what}");
        }
    }
}
