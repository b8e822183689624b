//! Equality, byte by byte, of an answer through gRPC and that of one process.
use crate::corpus::{Searched, WORDS, document, index, refined};
use engine::Returned;
use index::Index;
use proptest::prelude::*;
use serve::{
    Chunks, Cluster, ClusterFile, Draining, FrontEnd, FrontEndOptions, Generations, HandlerOptions,
    InProcessDocumentServer, InProcessIndexServer, RpcServer, RpcServices, SearchOptions,
    ServeError, Topology, io_runtime,
};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// Server on a free port of loopback, which ends when dropped.
pub(crate) struct Served {
    pub(crate) address: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Served {
    pub(crate) fn start(services: RpcServices, draining: Draining) -> Served {
        let server = RpcServer::bind("127.0.0.1:0", services, draining).unwrap();
        let address = server.address().to_string();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            server.run_until(async {
                let _ = stopped.await;
            })
        });
        Served {
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub(crate) fn index_server(index: &Arc<Index>, chunks: Chunks) -> Served {
        let draining = Draining::default();
        let generations = Generations::fixed(index.clone());
        let options = HandlerOptions {
            handlers: 1,
            ..HandlerOptions::default()
        };
        let server = InProcessIndexServer::start(generations, chunks, &options, draining.clone());
        let services = RpcServices::of_index_server(Arc::new(server.unwrap()));
        Served::start(services, draining)
    }

    pub(crate) fn document_server(index: &Arc<Index>, chunks: Chunks) -> Served {
        let draining = Draining::default();
        let generations = Generations::fixed(index.clone());
        let server = InProcessDocumentServer::start(
            generations,
            chunks,
            1,
            &Default::default(),
            draining.clone(),
        );
        let services = RpcServices::of_document_server(Arc::new(server.unwrap()));
        Served::start(services, draining)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        if let (Some(ended), false) = (ended, std::thread::panicking()) {
            ended.unwrap().unwrap();
        }
    }
}

pub(crate) fn file(
    chunks_count: u32,
    index: Vec<(Chunks, &Served)>,
    texts: Vec<(Chunks, &Served)>,
) -> ClusterFile {
    let parts = |servers: Vec<(Chunks, &Served)>| {
        let one = |(chunks, server): (Chunks, &Served)| (chunks, vec![server.address.clone()]);
        servers.into_iter().map(one).collect()
    };
    ClusterFile {
        chunks_count,
        index_servers: parts(index),
        document_servers: parts(texts),
    }
}

/// Starts servers of three chunks in two ways: in this process, and behind gRPC. Those that run are kept in `running`.
pub(crate) fn both_ways(
    index: &Arc<Index>,
    runtime: &Runtime,
    running: &mut Vec<Served>,
) -> [FrontEnd; 2] {
    let topology = Topology {
        partitions: 3,
        handlers: 1,
        ..Topology::default()
    };
    let in_process = FrontEnd::start(index.clone(), &topology).unwrap();
    let servers = [0..=0, 1..=2].map(|chunks| Served::index_server(index, chunks));
    let texts = Served::document_server(index, 0..=2);
    let searches = vec![(0..=0, &servers[0]), (1..=2, &servers[1])];
    let file = file(3, searches, vec![(0..=2, &texts)]);
    let apart = connect(&file, "one", runtime).unwrap();
    running.extend(servers.into_iter().chain([texts]));
    [in_process, apart]
}

/// Ends servers, all at once.
pub(crate) fn end(running: Vec<Served>) {
    std::thread::scope(|scope| {
        for served in running {
            scope.spawn(move || drop(served));
        }
    });
}

pub(crate) fn connect(
    file: &ClusterFile,
    name: &str,
    runtime: &Runtime,
) -> Result<FrontEnd, ServeError> {
    let cluster = Cluster::connect(file, name, runtime, |silent| panic!("{silent}"))?;
    Ok(FrontEnd::new(cluster, FrontEndOptions::default()))
}

fn options() -> impl Strategy<Value = SearchOptions> {
    let operator = prop::sample::select(&search::Operator::NAMED[..]);
    let numbers = (0usize..12, 0usize..6, 0u32..4);
    let model = prop::sample::select(&search::Ranking::MODELS[..]);
    (numbers, operator, model, any::<[bool; 2]>(), refined()).prop_map(
        |((k, start, per_site), operator, model, [explain, counted], (filters, facets, sort))| {
            SearchOptions {
                filters,
                facets,
                sort,
                k,
                start,
                per_site,
                operator: operator.1,
                ranking: model.ranking(),
                explain,
                returned: Returned {
                    counted,
                    ..Returned::default()
                },
                ..SearchOptions::default()
            }
        },
    )
}

#[test]
fn answers_are_those_of_one_process() {
    let crowd = (0..80).map(|n| document(1_000 + n, 9, (n % 64) as u8));
    let documents = (0..120).map(|n| document(n, (n % 7) as u8, (n * 5 % 64) as u8));
    let index = index(documents.chain(crowd), 5);
    let (first, second) = (
        Served::index_server(&index, 0..=1),
        Served::index_server(&index, 2..=4),
    );
    let (texts, further) = (
        Served::document_server(&index, 0..=3),
        Served::document_server(&index, 4..=4),
    );
    let file = file(
        5,
        vec![(0..=1, &first), (2..=4, &second)],
        vec![(0..=3, &texts), (4..=4, &further)],
    );
    let runtime = io_runtime().unwrap();
    let apart = connect(&file, "one", &runtime).unwrap();
    let together = Searched::start(
        index,
        &Topology {
            partitions: 2,
            ..Topology::default()
        },
    );
    let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 0..4);
    let query = (words, 0u8..4).prop_map(|(words, kind)| match kind {
        0 => format!("\"{}\"", words.join(" ")),
        1 => format!("{} -zeta site:site9.example", words.join(" ")),
        2 => words.join(" OR "),
        _ => words.join(" "),
    });
    proptest!(ProptestConfig::with_cases(200), |(query in query, options in options())| {
        let mut one = together.search(&query, &options).unwrap();
        let mut other = runtime.block_on(apart.search(&query, &options)).unwrap();
        one.phases_us = Default::default();
        other.phases_us = Default::default();
        prop_assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&other).unwrap());
        prop_assert_eq!(one.coverage, 1.0);
        prop_assert!(one.degraded.is_empty());
        let paged = |after: &str| SearchOptions { start: 0, after: Some(after.to_owned()), ..options.clone() };
        let mut after = Some("*".to_owned());
        for _ in 0..3 {
            let Some(place) = after else { break };
            let one = together.search(&query, &paged(&place)).unwrap();
            let other = runtime.block_on(apart.search(&query, &paged(&place))).unwrap();
            prop_assert_eq!(&one.hits, &other.hits);
            prop_assert_eq!(&one.after, &other.after);
            after = one.after;
        }
    });
    let traced = SearchOptions {
        filters: vec!["price:0.2".into()],
        trace: true,
        ..SearchOptions::default()
    };
    let answer = runtime.block_on(apart.search("alpha", &traced)).unwrap();
    let runs = answer.trace.iter().flatten().flat_map(|span| &span.filters);
    let runs: Vec<&String> = runs.collect();
    let is_told = |run: &&String| run.starts_with("price:0.2 in segment ");
    assert!(!runs.is_empty() && runs.iter().all(is_told), "{runs:?}");
    let url = "https://site3.example/10";
    let stored = |front_end: &FrontEnd| runtime.block_on(front_end.document(url)).unwrap();
    assert_eq!(stored(&apart), stored(&together.0));
    assert_eq!(apart.known(), together.0.known());
    assert!(matches!(
        runtime.block_on(apart.search(
            "alpha",
            &SearchOptions {
                k: 5_000,
                ..Default::default()
            }
        )),
        Err(serve::SearchError::BadRequest { .. })
    ));
}

#[test]
fn a_cluster_that_is_not_what_its_file_says_is_refused() {
    let index = index((0..20).map(|n| document(n, 1, 1)), 4);
    let (low, high) = (
        Served::index_server(&index, 0..=1),
        Served::index_server(&index, 2..=3),
    );
    let texts = Served::document_server(&index, 0..=3);
    let runtime = io_runtime().unwrap();
    let refused = |file: &ClusterFile, name: &str| {
        let error = connect(file, name, &runtime)
            .err()
            .expect("it was not refused");
        error.to_string()
    };
    let right = file(
        4,
        vec![(0..=1, &low), (2..=3, &high)],
        vec![(0..=3, &texts)],
    );
    let _running = connect(&right, "first", &runtime).unwrap();

    let swapped = file(
        4,
        vec![(0..=1, &high), (2..=3, &low)],
        vec![(0..=3, &texts)],
    );
    let told = refused(&swapped, "second");
    assert!(
        told.contains("serves chunks 2-3") && told.contains("says 0-1"),
        "{told}"
    );

    let cut = file(
        4,
        vec![(0..=1, &low), (2..=2, &high), (3..=3, &high)],
        vec![(0..=3, &texts)],
    );
    let told = refused(&cut, "third");
    assert!(told.contains("chunk"), "{told}");

    let elsewhere = crate::corpus::index((0..20).map(|n| document(n, 1, 1)), 4);
    let stranger = Served::document_server(&elsewhere, 0..=3);
    let mixed = file(
        4,
        vec![(0..=1, &low), (2..=3, &high)],
        vec![(0..=3, &stranger)],
    );
    let told = refused(&mixed, "fourth");
    assert!(told.contains("same index"), "{told}");
}

#[test]
fn front_ends_that_disagree_are_told_the_chunk() {
    let index = index((0..20).map(|n| document(n, 1, 1)), 4);
    let servers = [0..=1, 2..=3, 2..=2, 3..=3].map(|chunks| Served::index_server(&index, chunks));
    let texts = Served::document_server(&index, 0..=3);
    let runtime = io_runtime().unwrap();
    let [low, high, second, third] = &servers;
    let two = file(4, vec![(0..=1, low), (2..=3, high)], vec![(0..=3, &texts)]);
    let _running = connect(&two, "first", &runtime).unwrap();
    let three = file(
        4,
        vec![(0..=1, low), (2..=2, second), (3..=3, third)],
        vec![(0..=3, &texts)],
    );
    let told = connect(&three, "second", &runtime)
        .err()
        .unwrap()
        .to_string();
    assert!(
        told.contains("front-end first has chunk 2 in chunks 2-3"),
        "{told}"
    );
}

#[test]
fn any_grpc_client_learns_of_health_and_of_the_end() {
    use tonic_health::pb::health_check_response::ServingStatus;
    use tonic_health::pb::health_client::HealthClient;
    use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
    let index = index((0..6).map(|n| document(n, 0, 0b1)), 1);
    let mut served = Served::index_server(&index, 0..=0);
    let runtime = io_runtime().unwrap();
    runtime.block_on(async {
        let address = format!("http://{}", served.address);
        let endpoint = tonic::transport::Endpoint::from_shared(address).unwrap();
        let mut client = HealthClient::new(endpoint.connect().await.unwrap());
        let of = |service: &str| HealthCheckRequest {
            service: service.to_owned(),
        };
        let serving = HealthCheckResponse {
            status: ServingStatus::Serving.into(),
        };
        for service in ["", "shorttail.v1.IndexServer"] {
            let checked = client.check(of(service)).await.unwrap();
            assert_eq!(checked.into_inner(), serving, "{service:?}");
        }
        let other = client.check(of("shorttail.v1.DocumentServer")).await;
        assert_eq!(other.unwrap_err().code(), tonic::Code::NotFound);
        let watched = client.watch(of("shorttail.v1.IndexServer")).await;
        let mut watched = watched.unwrap().into_inner();
        assert_eq!(watched.message().await.unwrap(), Some(serving));
        drop(served.stop.take());
        let not_serving = HealthCheckResponse {
            status: ServingStatus::NotServing.into(),
        };
        assert_eq!(watched.message().await.unwrap(), Some(not_serving));
        // The stream ends with the notice, and does not keep the process until it is cut off.
        let begun = std::time::Instant::now();
        assert_eq!(watched.message().await.unwrap(), None);
        drop((watched, client));
        served.thread.take().unwrap().join().unwrap().unwrap();
        assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    });
}
