//! Report of a failed partition in every answer that lacks it.
use crate::corpus::{Searched, document, index, index_server};
use engine::{HitContents, Returned};
use index::IndexError;
use serve::api::messages::{DetailsRequest, HitDetails, PartitionHits, SearchRequest};
use serve::{
    InProcessIndexServer, IndexServer, PartError, Query, Reply, SearchError, SearchOptions,
    Topology,
};
use std::sync::{Arc, Mutex};

/// Failure mode of an index server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Reports damage.
    Damaged,
    /// Reports a full queue.
    Overloaded,
    /// Drops the request, like a server that panicked or was cut off.
    Silent,
    /// Never answers.
    Stopped,
    /// Returns hits, then fails at their details.
    AtDetails,
    /// Holds every reply until the next request, then answers the newest first.
    Late,
}

/// Request that waits for its answer.
type Kept = (Arc<Query>, SearchRequest, Reply<PartitionHits>);

pub(crate) struct Failing {
    pub(crate) failure: Failure,
    pub(crate) inner: InProcessIndexServer,
    kept: Mutex<Vec<Kept>>,
}

impl Failing {
    pub(crate) fn new(failure: Failure, inner: InProcessIndexServer) -> Failing {
        Failing {
            failure,
            inner,
            kept: Mutex::default(),
        }
    }

    fn error(&self) -> PartError {
        match self.failure {
            Failure::Overloaded => PartError::Overloaded { waiting: 7 },
            _ => PartError::Index(IndexError::Damaged {
                path: "chunk-1/postings.bin".into(),
                offset: 40_960,
                what: "checksum differs".into(),
            }),
        }
    }
}

impl IndexServer for Failing {
    fn search(&self, query: &Arc<Query>, request: SearchRequest, reply: Reply<PartitionHits>) {
        let mut kept = self.kept.lock().unwrap();
        match self.failure {
            Failure::Silent => drop(reply),
            Failure::Stopped => kept.push((query.clone(), request, reply)),
            Failure::AtDetails => self.inner.search(query, request, reply),
            Failure::Late => {
                kept.push((query.clone(), request, reply));
                if kept.len() == 2 {
                    while let Some((query, request, reply)) = kept.pop() {
                        self.inner.search(&query, request, reply);
                    }
                }
            }
            Failure::Damaged | Failure::Overloaded => reply.send(Err(self.error())),
        }
    }

    fn details(&self, query: &Arc<Query>, request: DetailsRequest, reply: Reply<Vec<HitDetails>>) {
        match self.failure {
            Failure::AtDetails => reply.send(Err(self.error())),
            _ => self.inner.details(query, request, reply),
        }
    }

    to_inner!(counts);
}

server_of_inner!(Failing);

/// Returns a front-end with two partitions, of which the second fails.
fn half_failing(failure: Failure) -> Searched {
    let index = index((0..60).map(|n| document(n, (n % 5) as u8, 0b11)), 4);
    let failing = Failing::new(failure, index_server(&index, 2..=3));
    let whole = index_server(&index, 0..=1);
    Searched::before(
        &index,
        vec![(0..=1, Arc::new(whole)), (2..=3, Arc::new(failing))],
    )
}

/// Returns a front-end whose only partition fails.
fn wholly_failing(failure: Failure) -> Searched {
    let index = index((0..60).map(|n| document(n, (n % 5) as u8, 0b11)), 4);
    let failing = Failing::new(failure, index_server(&index, 0..=3));
    Searched::before(&index, vec![(0..=3, Arc::new(failing))])
}

const WHOLE: SearchOptions = options(false);

const PARTIAL: SearchOptions = options(true);

const fn options(partial: bool) -> SearchOptions {
    SearchOptions {
        k: 10,
        start: 0,
        depth_max: None,
        per_site: 0,
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
        timeout: Some(std::time::Duration::from_millis(300)),
        partial,
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
    }
}

#[test]
fn a_lost_partition_is_told() {
    for (failure, reason) in [
        (Failure::Damaged, "damaged"),
        (Failure::Silent, "unreachable"),
        (Failure::Stopped, "deadline"),
    ] {
        let half = half_failing(failure);
        let answer = half.search("alpha", &PARTIAL).unwrap();
        assert!(
            answer.coverage > 0.2 && answer.coverage < 0.8,
            "{}",
            answer.coverage
        );
        assert!(!answer.total.exact);
        assert_eq!(answer.hits.len(), 10);
        assert_eq!(answer.timed_out, failure == Failure::Stopped);
        let [lost] = &answer.degraded[..] else {
            panic!("{:?}", answer.degraded)
        };
        assert_eq!(
            (lost.lacks.as_str(), lost.chunks.as_str()),
            ("search", "2-3")
        );
        assert_eq!(lost.reason, reason, "{}", lost.message);
        let searched = answer.coverage * 60.0;
        assert_eq!(lost.documents_count as f64, (60.0 - searched).round());

        let refused = half.search("alpha", &WHOLE).unwrap_err();
        let SearchError::Partial { timed_out, .. } = refused else {
            panic!("{refused}")
        };
        assert_eq!(timed_out, failure == Failure::Stopped);
        assert!(refused.to_string().contains("chunks 2-3"), "{refused}");
    }
}

#[test]
fn damage_is_told_with_its_place() {
    let answer = half_failing(Failure::Damaged)
        .search("alpha", &PARTIAL)
        .unwrap();
    let message = &answer.degraded[0].message;
    assert!(
        message.contains("chunk-1/postings.bin") && message.contains("40960"),
        "{message}"
    );
}

#[test]
fn all_lost_is_never_an_answer() {
    for options in [PARTIAL, WHOLE] {
        let fail = |failure| {
            wholly_failing(failure)
                .search("alpha", &options)
                .unwrap_err()
        };
        assert!(matches!(fail(Failure::Damaged), SearchError::Index(_)));
        assert!(matches!(
            fail(Failure::Silent),
            SearchError::Unavailable { .. }
        ));
        assert!(matches!(
            fail(Failure::Stopped),
            SearchError::TimedOut { .. }
        ));
        assert!(matches!(fail(Failure::AtDetails), SearchError::Index(_)));
    }
}

#[test]
fn a_full_queue_is_no_partial_answer() {
    let overloaded = half_failing(Failure::Overloaded);
    for options in [PARTIAL, WHOLE] {
        let refused = overloaded.search("alpha", &options).unwrap_err();
        assert!(
            matches!(&refused, SearchError::Overloaded { waiting: 7, part } if part.contains("2-3")),
            "{refused}"
        );
    }
}

#[test]
fn lost_details_are_told() {
    let half = half_failing(Failure::AtDetails);
    let answer = half.search("alpha", &PARTIAL).unwrap();
    assert_eq!(answer.coverage, 1.0);
    assert!(!answer.hits.is_empty() && answer.hits.len() < 10);
    let [lost] = &answer.degraded[..] else {
        panic!("{:?}", answer.degraded)
    };
    assert_eq!(
        (lost.lacks.as_str(), lost.chunks.as_str()),
        ("details", "2-3")
    );
    assert!(half.search("alpha", &WHOLE).is_err());
}

#[test]
fn answers_in_any_order_go_to_who_asked() {
    let late = half_failing(Failure::Late);
    let options = SearchOptions {
        per_site: 0,
        k: 50,
        ..Default::default()
    };
    std::thread::scope(|scope| {
        let alpha = scope.spawn(|| late.search("alpha", &options).unwrap());
        let beta = scope.spawn(|| late.search("beta -alpha", &options).unwrap());
        assert_eq!(alpha.join().unwrap().total.value, 60);
        assert_eq!(beta.join().unwrap().total.value, 0);
    });
}

#[test]
fn a_full_queue_refuses_at_once() {
    let index = index((0..10).map(|n| document(n, 1, 1)), 1);
    // One request may wait beside the one in work; some of many concurrent ones are refused.
    let topology = Topology {
        partitions: 1,
        handlers: 1,
        queue_length: 1,
    };
    let front_end = Searched::start(index, &topology);
    std::thread::scope(|scope| {
        let searches: Vec<_> = (0..32)
            .map(|_| scope.spawn(|| front_end.search("alpha", &SearchOptions::default())))
            .collect();
        for search in searches {
            match search.join().unwrap() {
                Ok(answer) => assert_eq!(answer.total.value, 10),
                Err(error) => assert!(matches!(error, SearchError::Overloaded { .. }), "{error}"),
            }
        }
    });
}
