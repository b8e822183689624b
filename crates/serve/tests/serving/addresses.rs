//! Hits addressed by the hash of their document: any replica gives details of the document that was found, or none.

use crate::corpus::{RUNTIME, alpha, at, document};
use crate::processes::Served;
use index::{BuildOptions, DocId, Index, Merging, Writer};
use serve::api::messages::{DetailsRequest, HitAddress, HitDetails, PartitionHits, SearchRequest};
use serve::{
    Cluster, ClusterFile, Draining, FrontEnd, FrontEndOptions, Generations, HandlerOptions,
    InProcessIndexServer, IndexServer, PartError, Query, Reply, RpcServices, SearchOptions,
    io_runtime,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use vfs::{MemoryStorage, SharedStorage};

/// Commits documents as a segment of their own, each with a word more in its title.
fn commit(storage: &SharedStorage, numbers: std::ops::Range<usize>, word: &str) {
    let options = BuildOptions {
        chunks: Some(1),
        merging: Merging::Beside(None),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for number in numbers {
        let mut document = document(number, (number % 5) as u8, 0b11);
        document.title = format!("{word} {number}");
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
}

fn start(generations: &Arc<Generations>) -> InProcessIndexServer {
    let options = HandlerOptions {
        handlers: 1,
        ..HandlerOptions::default()
    };
    let generations = Arc::clone(generations);
    InProcessIndexServer::start(generations, 0..=0, &options, Draining::default()).unwrap()
}

/// Returns the addresses of the documents of the first segment of an index.
fn addresses(index: &Index, docs: impl Iterator<Item = u32>) -> Vec<HitAddress> {
    let segment = index.segments(0..1).next().unwrap();
    let address = |doc| HitAddress {
        url_hash: Some(segment.url_hash(DocId(doc))),
        ..at(segment.id(), DocId(doc))
    };
    docs.map(address).collect()
}

fn details(
    server: &InProcessIndexServer,
    hits: &[HitAddress],
    generation: u64,
    (explain, lacks): (bool, bool),
) -> Result<Vec<HitDetails>, PartError> {
    let query = Query::new(1, "alpha".into(), alpha(), search::Ranking::default());
    let request = DetailsRequest {
        hits: hits.to_vec(),
        explain,
        lacks,
        bytes_max: 1 << 20,
        generation,
        deadline: Instant::now() + Duration::from_secs(10),
    };
    let (reply, answer) = Reply::channel();
    server.details(&Arc::new(query), request, reply);
    RUNTIME.block_on(answer).unwrap()
}

#[test]
fn a_closed_generation_is_replaced_by_one_with_the_same_documents() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    commit(&storage, 0..40, "first");
    let generations = Generations::open(storage.clone()).unwrap();
    let server = start(&generations);
    let found = generations.newest();
    // Few are read at once, many by a handler.
    let (few, many) = (
        addresses(&found, 3..9),
        addresses(&found, (0..40).rev().step_by(2)),
    );
    let expected = [&few, &many].map(|hits| details(&server, hits, 1, (false, false)).unwrap());
    assert!(expected[0].iter().all(|hit| hit.site_documents_count == 8));
    let reload = || generations.reload().unwrap().generation();
    for (from, generation) in [(40, 2), (50, 3)] {
        commit(&storage, from..from + 10, "later");
        assert_eq!(reload(), generation);
    }
    for (hits, expected) in [&few, &many].into_iter().zip(&expected) {
        let read = details(&server, hits, 1, (false, false)).unwrap();
        let texts = |hits: &[HitDetails]| -> Vec<_> {
            hits.iter().map(|hit| hit.details.clone()).collect()
        };
        assert_eq!(texts(&read), texts(expected));
        // Sites may have another number of documents by now.
        assert!(read.iter().all(|hit| hit.site_documents_count == 0));
        // Scores and telling words are those of the generation that was searched.
        for of_plan in [(true, false), (false, true)] {
            let refused = details(&server, hits, 1, of_plan).unwrap_err();
            assert!(refused.is_generation_gone(), "{refused}");
        }
    }
    // A front-end of before sends no hashes.
    let places: Vec<_> = few.iter().map(|hit| at(hit.segment, hit.doc)).collect();
    let refused = details(&server, &places, 1, (false, false)).unwrap_err();
    assert!(refused.is_generation_gone(), "{refused}");
    // A document that was changed is not shown as it is now; the generation before has it as it was.
    let changed: Vec<_> = found
        .segments(0..1)
        .next()
        .unwrap()
        .details(DocId(4))
        .into_iter()
        .collect();
    let number: usize = changed[0]
        .title
        .trim_start_matches("first ")
        .parse()
        .unwrap();
    commit(&storage, number..number + 1, "changed");
    reload();
    assert_eq!(
        details(&server, &few, 1, (false, false)).unwrap()[1]
            .details
            .title,
        changed[0].title
    );
    commit(&storage, 60..70, "later");
    reload();
    let refused = details(&server, &few, 1, (false, false)).unwrap_err();
    assert!(refused.is_generation_gone(), "{refused}");
    let others: Vec<_> = few
        .iter()
        .filter(|hit| hit.doc != DocId(4))
        .copied()
        .collect();
    assert_eq!(
        details(&server, &others, 1, (false, false)).unwrap().len(),
        5
    );
    // Another document at the place is never shown.
    let swapped = HitAddress {
        url_hash: few[0].url_hash,
        ..few[2]
    };
    for generation in [0, 1, generations.newest().generation()] {
        let refused = details(&server, &[swapped], generation, (false, false)).unwrap_err();
        assert!(
            refused.is_generation_gone() || matches!(refused, PartError::NotServed { .. }),
            "{refused}"
        );
    }
}

/// A replica that fails at one kind of request, as if it had been killed before it.
struct Failing {
    inner: InProcessIndexServer,
    at_search: bool,
    searches: AtomicUsize,
    details: AtomicUsize,
}

impl Failing {
    fn new(generations: &Arc<Generations>, at_search: bool) -> Arc<Failing> {
        Arc::new(Failing {
            inner: start(generations),
            at_search,
            searches: AtomicUsize::new(0),
            details: AtomicUsize::new(0),
        })
    }
}

impl IndexServer for Failing {
    fn search(&self, query: &Arc<Query>, request: SearchRequest, reply: Reply<PartitionHits>) {
        if !self.at_search {
            self.searches.fetch_add(1, Ordering::Relaxed);
            self.inner.search(query, request, reply);
        }
    }

    fn details(&self, query: &Arc<Query>, request: DetailsRequest, reply: Reply<Vec<HitDetails>>) {
        if self.at_search {
            self.details.fetch_add(1, Ordering::Relaxed);
            self.inner.details(query, request, reply);
        }
    }

    to_inner!(counts);
}

server_of_inner!(Failing);

#[test]
fn a_page_is_whole_though_the_replica_that_searched_is_gone() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    commit(&storage, 0..40, "first");
    // One replica lags behind the other, which no longer has its generation.
    let (behind, ahead) = (
        Generations::open(storage.clone()).unwrap(),
        Generations::open(storage.clone()).unwrap(),
    );
    for from in [40, 50] {
        commit(&storage, from..from + 10, "later");
        ahead.reload().unwrap();
    }
    let (searched, other) = (Failing::new(&behind, false), Failing::new(&ahead, true));
    let served = |server: &Arc<Failing>| {
        let services = RpcServices::of_index_server(server.clone());
        Served::start(services, Draining::default())
    };
    let (first, second) = (served(&searched), served(&other));
    let texts = Served::document_server(&behind.newest(), 0..=0);
    let file = ClusterFile {
        chunks_count: 1,
        index_servers: vec![(0..=0, vec![first.address.clone(), second.address.clone()])],
        document_servers: vec![(0..=0, vec![texts.address.clone()])],
    };
    let runtime = io_runtime().unwrap();
    let cluster = Cluster::connect(&file, "one", &runtime, |silent| panic!("{silent}"));
    let front_end = FrontEnd::new(cluster.unwrap(), FrontEndOptions::default());
    let options = SearchOptions {
        per_site: 0,
        ..SearchOptions::default()
    };
    for queries in 1..=10 {
        let answer = runtime
            .block_on(front_end.search("alpha", &options))
            .unwrap();
        assert!(answer.degraded.is_empty(), "{:?}", answer.degraded);
        assert_eq!((answer.total.value, answer.hits.len()), (40, 10));
        let is_whole =
            |hit: &wire::Hit| hit.title.starts_with("first") && hit.summary.contains("<mark>");
        assert!(answer.hits.iter().all(is_whole));
        // No query began anew.
        assert_eq!(searched.searches.load(Ordering::Relaxed), queries);
        assert_eq!(other.details.load(Ordering::Relaxed), queries);
    }
}
