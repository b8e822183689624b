//! Queries whose generation is closed while they are answered.
use crate::corpus::{RUNTIME, commit};
use engine::{HitContents, Returned};
use fields::FacetCounts;
use serve::api::messages::{
    CountFacetsRequest, CountMatchesRequest, DetailsRequest, HitDetails, PartitionHits,
    SearchRequest,
};
use serve::{
    Chunks, Cluster, Draining, FrontEnd, FrontEndOptions, Generations, HandlerOptions,
    InProcessIndexServer, IndexServer, Query, Reply, SearchError, SearchOptions,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use vfs::{MemoryStorage, SharedStorage};

/// Call before which the generations change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A search of a named generation: the second partition after the first, and optimization searches.
    Search,
    Details,
    Counts,
}

/// Commits and reloads between the calls of queries.
struct Storm {
    storage: SharedStorage,
    generations: Arc<Generations>,
    before: Before,
    /// Number of strikes left; each brings two generations between two calls.
    left: AtomicUsize,
    next_document: AtomicUsize,
}

impl Storm {
    /// Closes the generation that the next call names.
    fn strike(&self, before: Before) {
        let take = |left: usize| left.checked_sub(1);
        let strikes = before == self.before
            && self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .is_ok();
        for _ in 0..if strikes { 2 } else { 0 } {
            let number = self.next_document.fetch_add(10, Ordering::Relaxed);
            commit(&self.storage, number..number + 10);
            self.generations.reload().unwrap();
        }
    }
}

struct Stormy {
    storm: Arc<Storm>,
    inner: InProcessIndexServer,
}

impl IndexServer for Stormy {
    fn search(&self, query: &Arc<Query>, request: SearchRequest, reply: Reply<PartitionHits>) {
        if request.generation != 0 {
            self.storm.strike(Before::Search);
        }
        self.inner.search(query, request, reply);
    }

    fn details(&self, query: &Arc<Query>, request: DetailsRequest, reply: Reply<Vec<HitDetails>>) {
        self.storm.strike(Before::Details);
        self.inner.details(query, request, reply);
    }

    fn count_matches(
        &self,
        query: &Arc<Query>,
        request: CountMatchesRequest,
        reply: Reply<Vec<u64>>,
    ) {
        self.storm.strike(Before::Counts);
        self.inner.count_matches(query, request, reply);
    }

    fn count_facets(
        &self,
        query: &Arc<Query>,
        request: CountFacetsRequest,
        reply: Reply<Vec<FacetCounts>>,
    ) {
        self.storm.strike(Before::Counts);
        self.inner.count_facets(query, request, reply);
    }

    to_inner!(near_words);
}

server_of_inner!(Stormy);

/// Returns a front-end, and the storm of `strikes` that its queries meet.
fn in_a_storm(before: Before, strikes: usize) -> (FrontEnd, Arc<Storm>) {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    commit(&storage, 0..100);
    let generations = Generations::open(storage.clone()).unwrap();
    let storm = Arc::new(Storm {
        storage,
        generations: generations.clone(),
        before,
        left: AtomicUsize::new(strikes),
        next_document: AtomicUsize::new(100),
    });
    let server = |chunk: u32| -> (Chunks, Arc<dyn IndexServer>) {
        let options = HandlerOptions {
            handlers: 1,
            ..HandlerOptions::default()
        };
        let draining = Draining::default();
        let chunks = chunk..=chunk;
        let inner =
            InProcessIndexServer::start(generations.clone(), chunks.clone(), &options, draining);
        let storm = Arc::clone(&storm);
        let inner = inner.unwrap();
        (chunks, Arc::new(Stormy { storm, inner }))
    };
    let servers = (0..3).map(server).collect();
    let cluster = Cluster::of_index_servers(&generations, servers).unwrap();
    (FrontEnd::new(cluster, FrontEndOptions::default()), storm)
}

/// Two hits of each of five sites fill a page no earlier than after repeated searches.
const PAGE: SearchOptions = SearchOptions {
    k: 10,
    start: 0,
    depth_max: None,
    per_site: 2,
    collapse: String::new(),
    counts_hidden: true,
    operator: search::Operator::And,
    ranking: search::Ranking::TfIdf,
    explain: false,
    returned: Returned {
        counted: true,
        hits: HitContents::Details {
            fields: false,
            summaries: true,
        },
    },
    timeout: Some(Duration::from_secs(10)),
    partial: true,
    trace: false,
    as_you_type: false,
    suggest: false,
    correct: false,
    rules: true,
    filters: Vec::new(),
    filter_trees: Vec::new(),
    facets: Vec::new(),
    sort: String::new(),
    after: None,
};

#[test]
fn a_query_meets_any_number_of_reloads_and_lacks_nothing() {
    for before in [Before::Search, Before::Details, Before::Counts] {
        let (front_end, storm) = in_a_storm(before, 12);
        let options = match before {
            // The hits of so short a page do not tell whether its sites have more.
            Before::Counts => SearchOptions {
                k: 3,
                per_site: 10,
                ..PAGE
            },
            _ => PAGE,
        };
        let answer = RUNTIME
            .block_on(front_end.search("alpha", &options))
            .unwrap();
        assert!(answer.degraded.is_empty(), "{before:?}: {answer:?}");
        assert_eq!(answer.hits.len(), options.k, "{before:?}");
        let met = 12 - storm.left.load(Ordering::Relaxed);
        assert!(met > 0, "{before:?}: no reload came between the calls");
        assert_eq!(answer.total.value % 10, 0);
    }
}

/// Generations that never stop changing end a query at its deadline, with the reason.
#[test]
fn a_storm_without_end_ends_at_the_deadline() {
    let (front_end, _) = in_a_storm(Before::Details, usize::MAX);
    let options = SearchOptions {
        timeout: Some(Duration::from_millis(100)),
        // Other details are the same at the next generation.
        explain: true,
        ..PAGE
    };
    match RUNTIME.block_on(front_end.search("alpha", &options)) {
        Ok(answer) => assert!(!answer.degraded.is_empty(), "{answer:?}"),
        Err(error) => assert!(
            matches!(
                error,
                SearchError::GenerationGone { .. } | SearchError::TimedOut { .. }
            ),
            "{error}"
        ),
    }
}

/// A server that stays at an old generation delays a query by the time that it may lag, not to the deadline: then the
/// query does without the parts that have closed that generation, and names them.
#[test]
fn a_server_that_is_never_reloaded_delays_a_query_once() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    commit(&storage, 0..100);
    let lagging = Generations::open(storage.clone()).unwrap();
    let generations = Generations::open(storage.clone()).unwrap();
    for number in 10..12 {
        commit(&storage, number * 10..(number + 1) * 10);
        generations.reload().unwrap();
    }
    let server = |chunk: u32| -> (Chunks, Arc<dyn IndexServer>) {
        let options = HandlerOptions {
            handlers: 1,
            ..HandlerOptions::default()
        };
        let generations = if chunk == 0 { &lagging } else { &generations };
        let (generations, chunks) = (Arc::clone(generations), chunk..=chunk);
        let draining = Draining::default();
        let server = InProcessIndexServer::start(generations, chunks.clone(), &options, draining);
        (chunks, Arc::new(server.unwrap()))
    };
    let cluster = Cluster::of_index_servers(&generations, (0..3).map(server).collect()).unwrap();
    let front_end = FrontEnd::new(cluster, FrontEndOptions::default());
    let begun = Instant::now();
    let answer = RUNTIME.block_on(front_end.search("alpha", &PAGE)).unwrap();
    let lost: Vec<&str> = answer.degraded.iter().map(|one| &*one.chunks).collect();
    assert_eq!(lost, ["1", "2"]);
    assert!(
        begun.elapsed() < PAGE.timeout.unwrap() / 2,
        "{:?}",
        begun.elapsed()
    );
}
