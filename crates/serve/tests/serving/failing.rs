//! Is a partition that fails ever missing from an answer without a word?
use crate::corpus::{document, index};
use index::{DocId, IndexError};
use search::Plan;
use serve::transport::{HitDetails, PartitionHits};
use serve::{
    FrontEnd, InProcessIndexServer, IndexServer, Reply, SearchError, SearchOptions, ServerError,
    Topology,
};
use std::sync::{Arc, Mutex};

/// What a failing index server does with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// Answers with damage.
    Damaged,
    /// Answers that it has too much to do.
    Overloaded,
    /// Drops the request, as one that panicked or was cut off would.
    Silent,
    /// Finds hits, then fails at their details.
    AtDetails,
    /// Keeps every reply until the next request, then answers the newest first.
    Late,
}

/// A request that waits for its answer.
type Kept = (Arc<Plan>, usize, Reply<PartitionHits>);

struct Failing {
    failure: Failure,
    inner: InProcessIndexServer,
    kept: Mutex<Vec<Kept>>,
}

impl Failing {
    fn error(&self) -> ServerError {
        match self.failure {
            Failure::Overloaded => ServerError::Overloaded { waiting: 7 },
            _ => ServerError::Index(IndexError::Damaged {
                path: "chunk-1/postings.bin".into(),
                offset: 40_960,
                what: "checksum differs".into(),
            }),
        }
    }
}

impl IndexServer for Failing {
    fn search(&self, plan: &Arc<Plan>, k: usize, reply: Reply<PartitionHits>) {
        match self.failure {
            Failure::Silent => drop(reply),
            Failure::AtDetails => self.inner.search(plan, k, reply),
            Failure::Late => {
                let mut kept = self.kept.lock().unwrap();
                kept.push((plan.clone(), k, reply));
                if kept.len() == 2 {
                    while let Some((plan, k, reply)) = kept.pop() {
                        self.inner.search(&plan, k, reply);
                    }
                }
            }
            _ => reply.send(Err(self.error())),
        }
    }

    fn details(
        &self,
        plan: &Arc<Plan>,
        hits: Vec<(u32, DocId)>,
        explain: bool,
        reply: Reply<Vec<HitDetails>>,
    ) {
        match self.failure {
            Failure::AtDetails => reply.send(Err(self.error())),
            _ => self.inner.details(plan, hits, explain, reply),
        }
    }

    fn count_sites(
        &self,
        plan: &Arc<Plan>,
        sites: &Arc<[String]>,
        limit: u64,
        reply: Reply<Vec<u64>>,
    ) {
        self.inner.count_sites(plan, sites, limit, reply);
    }
}

/// A front-end whose second partition of two fails.
fn front_end(failure: Failure) -> FrontEnd {
    let index = index((0..60).map(|n| document(n, (n % 5) as u8, 0b11)), 4);
    let topology = Topology {
        partitions: 2,
        handlers: 1,
        queue_length: 8,
    };
    let start = |chunks| InProcessIndexServer::start(&index, chunks, &topology).unwrap();
    let failing = Failing {
        failure,
        inner: start(2..4),
        kept: Mutex::default(),
    };
    FrontEnd::with_index_servers(
        index.clone(),
        vec![Arc::new(start(0..2)), Arc::new(failing)],
    )
    .unwrap()
}

fn fail(failure: Failure) -> SearchError {
    front_end(failure)
        .search("alpha", &SearchOptions::default())
        .unwrap_err()
}

#[test]
fn a_failing_partition_fails_the_search() {
    let damaged = fail(Failure::Damaged);
    assert!(matches!(damaged, SearchError::Index(_)), "{damaged}");
    let message = damaged.to_string();
    assert!(
        message.contains("chunk-1/postings.bin") && message.contains("40960"),
        "{message}"
    );

    let overloaded = fail(Failure::Overloaded);
    assert!(matches!(
        overloaded,
        SearchError::Overloaded {
            partition: 1,
            waiting: 7
        }
    ));

    let silent = fail(Failure::Silent);
    assert!(
        matches!(silent, SearchError::Unavailable { .. }),
        "{silent}"
    );
    assert!(silent.to_string().contains("partition 1"), "{silent}");

    assert!(matches!(fail(Failure::AtDetails), SearchError::Index(_)));
}

#[test]
fn answers_in_any_order_go_to_who_asked() {
    let late = front_end(Failure::Late);
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
    // Nobody may wait, so a request is taken only by a handler that waits for it at that moment;
    // as many searches at once cannot all be.
    let topology = Topology {
        partitions: 1,
        handlers: 1,
        queue_length: 0,
    };
    let front_end = FrontEnd::start(index, &topology).unwrap();
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
