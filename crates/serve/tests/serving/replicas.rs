//! Failover from a failed replica without effect on queries.
use crate::corpus::{document, index};
use crate::processes::Served;
use serve::{Cluster, ClusterFile, FrontEnd, FrontEndOptions, SearchOptions, io_runtime};
use std::net::TcpListener;

#[test]
fn one_replica_is_enough() {
    let index = index((0..60).map(|n| document(n, (n % 5) as u8, 0b11)), 4);
    let mut servers: Vec<Served> = (0..2)
        .map(|_| Served::index_server(&index, 0..=3))
        .collect();
    let mut texts: Vec<Served> = (0..2)
        .map(|_| Served::document_server(&index, 0..=3))
        .collect();
    let addresses = |servers: &[Served]| servers.iter().map(|one| one.address.clone()).collect();
    let file = ClusterFile {
        chunks_count: 4,
        index_servers: vec![(0..=3, addresses(&servers))],
        document_servers: vec![(0..=3, addresses(&texts))],
    };
    let runtime = io_runtime().unwrap();
    let cluster = Cluster::connect(&file, "one", &runtime, |silent| panic!("{silent}")).unwrap();
    let front_end = FrontEnd::new(cluster, FrontEndOptions::default());
    let search = || {
        let answer = runtime.block_on(front_end.search("alpha", &SearchOptions::default()));
        let answer = answer.unwrap();
        assert!(answer.degraded.is_empty(), "{:?}", answer.degraded);
        assert_eq!(answer.hits.len(), 10);
        assert!(answer.hits.iter().all(|hit| hit.summary.contains("<mark>")));
    };
    (0..20).for_each(|_| search());
    // Each replica goes once: whichever is called first, the other must answer.
    drop(servers.remove(0));
    (0..20).for_each(|_| search());
    drop(texts.remove(1));
    (0..20).for_each(|_| search());
}

#[test]
fn a_server_that_never_was_is_told_at_the_start() {
    let index = index((0..60).map(|n| document(n, 1, 1)), 2);
    let server = Served::index_server(&index, 0..=1);
    let texts = Served::document_server(&index, 0..=1);
    // The port was bound and released, so no server listens there.
    let nobody = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let file = ClusterFile {
        chunks_count: 2,
        index_servers: vec![(0..=1, vec![nobody.to_string(), server.address.clone()])],
        document_servers: vec![(0..=1, vec![texts.address.clone()])],
    };
    let runtime = io_runtime().unwrap();
    let mut told = Vec::new();
    let cluster = Cluster::connect(&file, "one", &runtime, |silent| {
        told.push(silent.to_owned())
    });
    let front_end = FrontEnd::new(cluster.unwrap(), FrontEndOptions::default());
    assert!(
        told.len() == 1 && told[0].contains(&nobody.to_string()),
        "{told:?}"
    );
    for _ in 0..10 {
        let answer = runtime.block_on(front_end.search("alpha", &SearchOptions::default()));
        assert_eq!(answer.unwrap().total.value, 60);
    }
}
