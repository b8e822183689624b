//! Time of a search per posting scored, from plan to hits.
//!
//! The benchmark uses the made-up collection with one chunk. A throughput of 100 Melem/s is 10 ns for
//! each posting. The profile of the search counts its scored postings, so skipped blocks do not improve
//! the result.
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use index::{Index, Segment};
use search::{Operator, Plan, Query, Ranking, bag_of_words, exhaustive, profile};
use search::{search_partition, top_of_partition};
use std::hint::black_box;
use std::sync::Arc;
use testkit::{BuildPlan, MadeUp, build_index};
use text::Analyzer;

const DOCUMENTS: usize = 30_000;

fn made_up() -> (Index, Vec<Arc<Segment>>) {
    let documents = MadeUp::default().documents(DOCUMENTS).collect();
    let index = build_index(&[documents], BuildPlan::PLAIN).expect("a made-up index");
    let segments = index.segments(0..1).cloned().collect();
    (index, segments)
}

fn words(text: &str, operator: Operator) -> Query {
    bag_of_words(text, Analyzer::Plain, operator)
}

fn bench_scoring(criterion: &mut Criterion) {
    let (index, segments) = made_up();
    let plan = |query: &Query| {
        Plan::new(query, Ranking::default(), index.statistics()).expect("an open index")
    };
    let queries = [
        ("one dense word", words("dada", Operator::And)),
        ("all of two words", words("dada rada", Operator::And)),
        ("any of two words", words("dada rada", Operator::Or)),
    ];
    for (name, query) in &queries {
        let mut group = criterion.benchmark_group(*name);
        // The slow twin scores every posting one by one.
        let every = || {
            let plan = plan(query);
            let mut top = plan.top(10);
            let count = exhaustive::search_segment(&plan, &segments[0], &mut top);
            (count.expect("no damage"), top.into_sorted().len())
        };
        let exact = || search_partition(&plan(query), &segments, 10);
        let best = || top_of_partition(&plan(query), &segments, 10);
        let twin = || Ok(every());
        group.throughput(scored(profile(&plan(query), &segments, twin)));
        group.bench_function(BenchmarkId::new("exhaustive", "exact count"), |bencher| {
            bencher.iter(|| black_box(every()));
        });
        group.throughput(scored(profile(&plan(query), &segments, exact)));
        group.bench_function(BenchmarkId::new("search", "exact count"), |bencher| {
            bencher.iter(|| black_box(exact()));
        });
        group.throughput(scored(profile(&plan(query), &segments, best)));
        group.bench_function(BenchmarkId::new("search", "ten best"), |bencher| {
            bencher.iter(|| black_box(best()));
        });
    }
}

/// Returns the number of postings that a search scored.
fn scored<R>(profiled: Result<(R, search::Profile), index::IndexError>) -> Throughput {
    let (_, profile) = profiled.expect("no damage");
    Throughput::Elements(profile.scored_count)
}

criterion_group!(benches, bench_scoring);
criterion_main!(benches);
