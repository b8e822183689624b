//! Limits on the cost of one request, and on the effect of a dishonest server on a front-end.

use crate::corpus::{RUNTIME, Searched, alpha, at, document, index, index_server};
use index::DocId;
use serve::api::messages::{DetailsRequest, PartitionHits, SearchRequest};
use serve::{
    Cluster, FrontEnd, FrontEndOptions, Generations, HandlerOptions, InProcessIndexServer,
    IndexServer, PartError, Query, Reply, SearchError, SearchOptions, Topology,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const DOCUMENTS: usize = 60;

fn searched(options: FrontEndOptions) -> Searched {
    let index = index((0..DOCUMENTS).map(|n| document(n, (n % 5) as u8, 0b11)), 2);
    let generations = Generations::fixed(index);
    let cluster = Cluster::in_process(
        &generations,
        &Topology::default(),
        &[],
        &HandlerOptions::default(),
    )
    .unwrap();
    Searched(FrontEnd::new(cluster, options))
}

fn many(explain: bool) -> SearchOptions {
    SearchOptions {
        k: DOCUMENTS,
        per_site: 0,
        explain,
        ..SearchOptions::default()
    }
}

#[test]
fn an_answer_over_its_bytes_is_refused_with_a_remedy() {
    let front_end = searched(FrontEndOptions {
        answer_bytes_max: 2_000,
        ..FrontEndOptions::default()
    });
    for explain in [false, true] {
        let refused = front_end.search("alpha", &many(explain)).unwrap_err();
        let SearchError::BadRequest { parameter, reason } = &refused else {
            panic!("{refused}");
        };
        assert_eq!(*parameter, if explain { "explain" } else { "k" });
        assert!(reason.contains("larger than 2000 bytes"), "{reason}");
        let few = SearchOptions {
            k: 1,
            ..many(explain)
        };
        assert_eq!(front_end.search("alpha", &few).unwrap().hits.len(), 1);
    }
    let usual = searched(FrontEndOptions::default());
    assert_eq!(
        usual.search("alpha", &many(true)).unwrap().hits.len(),
        DOCUMENTS
    );
}

#[test]
fn explanations_and_traces_can_be_switched_off() {
    let front_end = searched(FrontEndOptions {
        explain: false,
        trace: false,
        ..FrontEndOptions::default()
    });
    let traced = SearchOptions {
        trace: true,
        ..SearchOptions::default()
    };
    for (options, name) in [(many(true), "explain"), (traced, "trace")] {
        match front_end.search("alpha", &options) {
            Err(SearchError::BadRequest { parameter, .. }) => assert_eq!(parameter, name),
            other => panic!("{other:?}"),
        }
    }
    assert!(front_end.search("alpha", &many(false)).is_ok());
}

#[test]
fn details_and_explanations_past_their_deadline_are_not_given() {
    let index = index((0..DOCUMENTS).map(|n| document(n, 0, 0b11)), 1);
    let server = index_server(&index, 0..=0);
    let segment = index.segments(0..1).next().unwrap().id();
    let query = Query::new(1, "alpha".into(), alpha(), search::Ranking::default());
    let query = Arc::new(query);
    let ask = |count: u32, explain, deadline| {
        let request = DetailsRequest {
            hits: (0..count).map(|doc| at(segment, DocId(doc))).collect(),
            explain,
            lacks: false,
            bytes_max: 1 << 20,
            generation: 0,
            deadline,
        };
        let (reply, answer) = Reply::channel();
        server.details(&query, request, reply);
        RUNTIME.block_on(answer).unwrap()
    };
    let (soon, over) = (Instant::now() + Duration::from_secs(10), Instant::now());
    for (count, explain) in [(3, false), (50, false), (3, true), (50, true)] {
        let details = ask(count, explain, soon).unwrap();
        assert_eq!(details.len(), count as usize);
        assert!(
            details
                .iter()
                .all(|hit| hit.explanation.is_some() == explain)
        );
        let expired = ask(count, explain, over);
        assert!(matches!(expired, Err(PartError::Expired)), "{expired:?}");
    }
}

/// Index server that always claims to have more hits.
struct AlwaysCut {
    inner: InProcessIndexServer,
    searches: AtomicUsize,
    /// Segment of its hits.
    segment: u32,
    /// Hash of its hits.
    url_hash: u64,
    /// Whether it returns the number of hits requested.
    is_plausible: bool,
}

impl IndexServer for AlwaysCut {
    fn search(&self, _: &Arc<Query>, request: SearchRequest, reply: Reply<PartitionHits>) {
        self.searches.fetch_add(1, Ordering::Relaxed);
        let hit = search::ScoredHit {
            score: 1.0,
            url_hash: self.url_hash,
            site_hash: 1,
            segment: self.segment,
            doc: DocId(0),
        };
        let count = if self.is_plausible { request.k } else { 2 };
        reply.send(Ok(PartitionHits {
            hits: vec![hit; count],
            is_cut: true,
            matches_count: u64::MAX / 2,
            count_is_exact: true,
            documents_searched: 60,
            documents_count: 60,
            generation: 1,
            ..PartitionHits::default()
        }));
    }

    to_inner!(details);

    to_inner!(counts);
}

server_of_inner!(AlwaysCut);

#[test]
fn a_server_that_always_has_more_is_asked_a_few_times_and_never_believed() {
    let index = index((0..DOCUMENTS).map(|n| document(n, 0, 0b11)), 1);
    for is_plausible in [false, true] {
        let segment = index.segments(0..1).next().unwrap();
        let server = Arc::new(AlwaysCut {
            inner: index_server(&index, 0..=0),
            searches: AtomicUsize::new(0),
            segment: segment.id(),
            url_hash: segment.url_hash(DocId(0)),
            is_plausible,
        });
        let front_end = Searched::before(&index, vec![(0..=0, server.clone())]);
        let options = SearchOptions {
            per_site: 2,
            ..SearchOptions::default()
        };
        let answered = front_end.search("alpha", &options);
        let searches = server.searches.load(Ordering::Relaxed);
        match is_plausible {
            // All hits are of one site: the search for others ends with the window of the limit.
            true => {
                let answer = answered.unwrap();
                assert!(answer.degraded.is_empty(), "{:?}", answer.degraded);
                assert!(searches <= 4, "{searches}");
            }
            false => {
                assert!(matches!(answered, Err(SearchError::Unavailable { .. })));
                assert!(searches <= 4, "{searches}");
            }
        }
    }
}
