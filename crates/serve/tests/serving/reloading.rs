//! Replacement of a generation of the index without effect on queries.
use crate::corpus::{RUNTIME, alpha, at, commit};
use index::{OptimizeOptions, optimize};
use serve::api::messages::DetailsRequest;
use serve::{
    Cluster, Draining, FrontEnd, FrontEndOptions, Generations, HandlerOptions,
    InProcessIndexServer, IndexServer, PartError, Query, Reply, SearchOptions, Topology,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use vfs::{MemoryStorage, SharedStorage};

/// Topology with one partition for each chunk.
const IN_THREE: Topology = Topology {
    partitions: 3,
    handlers: 1,
    queue_length: 100,
};

/// Returns an index of a hundred documents in three partitions, its generations, and a front-end before them.
fn in_three(options: FrontEndOptions) -> (SharedStorage, Arc<Generations>, FrontEnd) {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    commit(&storage, 0..100);
    let generations = Generations::open(storage.clone()).unwrap();
    let cluster =
        Cluster::in_process(&generations, &IN_THREE, &[], &HandlerOptions::default()).unwrap();
    let front_end = FrontEnd::new(cluster, options);
    (storage, generations, front_end)
}

#[test]
fn no_query_fails_while_generations_change() {
    let options = FrontEndOptions {
        cache_bytes: 1 << 20,
        ..FrontEndOptions::default()
    };
    let (storage, _generations, front_end) = in_three(options);
    let (ended, answers) = (AtomicBool::new(false), [const { AtomicU64::new(0) }; 2]);
    std::thread::scope(|scope| {
        for answers in &answers {
            let (front_end, ended) = (&front_end, &ended);
            scope.spawn(move || {
                let mut before = 0;
                while !ended.load(Ordering::Relaxed) {
                    let answer =
                        RUNTIME.block_on(front_end.search("alpha", &SearchOptions::default()));
                    let answer = answer.unwrap();
                    assert!(answer.degraded.is_empty(), "{:?}", answer.degraded);
                    // Each answer is of a whole generation, and never of an older one than before.
                    assert_eq!(answer.total.value % 100, 0);
                    assert!(answer.total.value >= before);
                    assert_eq!(answer.hits.len(), 10);
                    assert!(answer.hits.iter().all(|hit| hit.summary.contains("<mark>")));
                    before = answer.total.value;
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for generation in 1..=5u64 {
            // Wait for an answer of each: this loop reloads faster than any operator, and a query that met two
            // changes would request a closed generation.
            for answers in &answers {
                let wanted = answers.load(Ordering::Relaxed) + 5;
                while answers.load(Ordering::Relaxed) < wanted {
                    std::thread::yield_now();
                }
            }
            commit(
                &storage,
                generation as usize * 100..(generation as usize + 1) * 100,
            );
            let before = front_end.known().generation;
            assert!(RUNTIME.block_on(front_end.reload()).unwrap() > before);
            // Without a newer generation a reload changes nothing.
            let again = RUNTIME.block_on(front_end.reload()).unwrap();
            assert_eq!(again, front_end.known().generation);
        }
        ended.store(true, Ordering::Relaxed);
    });
    let last = RUNTIME.block_on(front_end.search("alpha", &SearchOptions::default()));
    assert_eq!(last.unwrap().total.value, 600);
}

/// Files of a removed generation take space while they are open, so no server keeps one that no search can begin with,
/// however long there is no search.
#[test]
fn generations_before_the_last_two_are_closed_without_a_search() {
    let (storage, generations, front_end) = in_three(FrontEndOptions::default());
    let first = Arc::downgrade(&generations.newest());
    let answer = RUNTIME.block_on(front_end.search("alpha", &SearchOptions::default()));
    assert_eq!(answer.unwrap().total.value, 100);
    for generation in 1..=2 {
        assert!(first.upgrade().is_some(), "{generation}");
        commit(&storage, generation * 100..(generation + 1) * 100);
        RUNTIME.block_on(front_end.reload()).unwrap();
    }
    // A handler lets go of its last search a moment after its answer.
    let begun = Instant::now();
    while first.upgrade().is_some() {
        assert!(begun.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Generations follow each other faster than queries are answered: a query that finds its generation closed, at its
/// search or at its details, begins anew and lacks nothing.
#[test]
fn no_query_fails_in_a_storm_of_reloads() {
    let (storage, generations, front_end) = in_three(FrontEndOptions::default());
    let (ended, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    let options = SearchOptions {
                        k: 50,
                        explain: true,
                        ..SearchOptions::default()
                    };
                    let answer = RUNTIME.block_on(front_end.search("alpha", &options));
                    let answer = answer.unwrap();
                    assert!(answer.degraded.is_empty(), "{:?}", answer.degraded);
                    assert_eq!(answer.total.value % 10, 0);
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for number in 10..50usize {
            commit(&storage, number * 10..(number + 1) * 10);
            // Three partitions and the texts would each reload in turn.
            generations.reload().unwrap();
        }
        let wanted = answers.load(Ordering::Relaxed) + 3;
        while answers.load(Ordering::Relaxed) < wanted {
            std::thread::yield_now();
        }
        ended.store(true, Ordering::Relaxed);
    });
    let last = RUNTIME.block_on(front_end.search("alpha", &SearchOptions::default()));
    assert_eq!(last.unwrap().total.value, 500);
}

/// Two index servers cannot share a segment: they go on with the generation that they have.
#[test]
fn a_generation_laid_out_for_other_partitions_is_not_put_in_place() {
    let (storage, generations, front_end) = in_three(FrontEndOptions::default());
    let lay_out = |partitions: u32| {
        let options = OptimizeOptions {
            partitions: Some(partitions),
            ..OptimizeOptions::default()
        };
        optimize(storage.clone(), &options, &|_| {}).unwrap();
    };
    let found = || {
        let answer = RUNTIME.block_on(front_end.search("alpha", &SearchOptions::default()));
        let answer = answer.unwrap();
        assert!(answer.degraded.is_empty(), "{:?}", answer.degraded);
        answer.total.value
    };
    lay_out(1);
    let before = front_end.known().generation;
    let refused = RUNTIME
        .block_on(front_end.reload())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("are one segment"), "{refused}");
    assert_eq!((front_end.known().generation, found()), (before, 100));
    lay_out(3);
    commit(&storage, 100..120);
    let after = RUNTIME.block_on(front_end.reload()).unwrap();
    assert_eq!((after, found()), (before + 3, 120));
    // One index server accepts any layout.
    let whole = Topology {
        partitions: 1,
        ..IN_THREE
    };
    let cluster = Cluster::in_process(&generations, &whole, &[], &HandlerOptions::default());
    assert!(cluster.is_ok());
}

#[test]
fn the_generation_before_is_still_answered_from_and_older_ones_are_not() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    commit(&storage, 0..10);
    let generations = Generations::open(storage.clone()).unwrap();
    let first = generations.newest().generation();
    let options = HandlerOptions {
        handlers: 1,
        ..HandlerOptions::default()
    };
    let server =
        InProcessIndexServer::start(generations.clone(), 0..=2, &options, Draining::default());
    let server = server.unwrap();
    let details = || {
        let query = Query::new(1, "alpha".into(), alpha(), search::Ranking::default());
        let segment = generations.get(first).or(Some(generations.newest()));
        let segment = segment.unwrap().segments(0..3).next().unwrap().id();
        let request = DetailsRequest {
            hits: vec![at(segment, index::DocId(0))],
            explain: false,
            lacks: false,
            bytes_max: 1 << 20,
            generation: first,
            deadline: Instant::now() + Duration::from_secs(10),
        };
        let (reply, answer) = Reply::channel();
        server.details(&Arc::new(query), request, reply);
        RUNTIME.block_on(answer).unwrap()
    };
    assert!(details().is_ok());
    commit(&storage, 10..20);
    generations.reload().unwrap();
    assert!(details().is_ok());
    commit(&storage, 20..30);
    generations.reload().unwrap();
    let refused = details().unwrap_err();
    assert!(
        matches!(refused, PartError::GenerationGone { generation } if generation == first),
        "{refused}"
    );
    assert!(
        refused.to_string().contains("no longer has generation"),
        "{refused}"
    );
}
