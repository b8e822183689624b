//! Index servers and document servers of many indexes, each asked for by name over gRPC.

use crate::catalog::{build, documents, found, without_times};
use crate::corpus::index;
use crate::http::{Running, options};
use crate::processes::Served;
use crate::writing::{send, sent};
use serde_json::{Value, json};
use serve::{
    CatalogOptions, Chunks, Cluster, ClusterFile, ConnectedServers, Draining, FolderServers,
    FrontEnd, FrontEndOptions, HandlerOptions, SearchOptions, ServeError, Server, io_runtime,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vfs::{MemoryFolder, StorageFolder};

const REFRESH: Option<Duration> = Some(Duration::from_millis(20));

fn handlers() -> HandlerOptions {
    HandlerOptions {
        handlers: 1,
        ..HandlerOptions::default()
    }
}

/// Starts an index server of the indexes of a folder.
fn searches(folder: &Arc<MemoryFolder>, chunks: Option<Chunks>) -> Served {
    let draining = Draining::default();
    let folder = CatalogOptions::new(folder.clone());
    let servers =
        FolderServers::of_searches(folder, chunks, &handlers(), REFRESH, draining.clone());
    Served::start(servers.unwrap().into_parts().0, draining)
}

/// Starts a document server of the indexes of a folder.
fn texts(folder: &Arc<MemoryFolder>) -> Served {
    let draining = Draining::default();
    let folder = CatalogOptions::new(folder.clone());
    let servers = FolderServers::of_texts(folder, None, &handlers(), REFRESH, draining.clone());
    Served::start(servers.unwrap().into_parts().0, draining)
}

fn connect(file: &ClusterFile) -> Result<ConnectedServers, ServeError> {
    let runtime = io_runtime().unwrap();
    ConnectedServers::connect(file, "test", &runtime, false, |silent| panic!("{silent}"))
}

/// Starts a front-end before index servers of these chunks and a document server.
fn front_end(searches: &[(Chunks, &Served)], texts: &Served) -> Running {
    let runtime = io_runtime().unwrap();
    let file = file(searches, texts);
    let warn = |silent: &str| panic!("{silent}");
    match ConnectedServers::connect(&file, "test", &runtime, true, warn).unwrap() {
        ConnectedServers::Many(indexes) => {
            Running::of(Server::bind_servers(indexes, &options(1), runtime).unwrap())
        }
        ConnectedServers::One(_) => panic!("they have names"),
    }
}

fn file(searches: &[(Chunks, &Served)], texts: &Served) -> ClusterFile {
    let chunks_count = searches.iter().map(|(chunks, _)| chunks.end() + 1);
    let chunks_count = chunks_count.max().unwrap();
    let one = |(chunks, server): &(Chunks, &Served)| (chunks.clone(), vec![server.address.clone()]);
    ClusterFile {
        chunks_count,
        index_servers: searches.iter().map(one).collect(),
        document_servers: vec![(0..=chunks_count - 1, vec![texts.address.clone()])],
    }
}

/// All chunks of any index, as a cluster file without chunks has them.
const ANY: Chunks = 0..=65_535;

/// Waits until a condition holds.
#[track_caller]
fn wait_for(mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < until, "it never holds");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn answer(server: &Running, target: &str) -> Value {
    let answer = server.get(target);
    assert_eq!(answer.status, 200, "{target}: {}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

#[test]
fn an_index_answers_at_its_name_as_a_server_of_it_alone() {
    let folder = Arc::new(MemoryFolder::default());
    let (few, many) = (documents(1, 7), documents(2, 30));
    build(&*folder, "few", &few);
    build(&*folder, "Bücher.2", &many);
    let texts = texts(&folder);
    let whole = searches(&folder, None);
    let (low, high) = (
        searches(&folder, Some(0..=0)),
        searches(&folder, Some(1..=2)),
    );
    let servers = [
        front_end(&[(ANY, &whole)], &texts),
        front_end(&[(0..=0, &low), (1..=2, &high)], &texts),
    ];
    for (path, documents) in [("few", few), ("B%C3%BCcher.2", many)] {
        let alone = Running::start(index(documents, 3), &options(1));
        for server in &servers {
            for target in [
                "/search?q=alpha&k=5&start=2&per_site=3",
                "/search?q=alpha+beta+-gamma&facet=site&explain=1",
                "/search?q=alpha+omega&words=auto",
                "/search?q=alpha&sort=price&fields=1",
                "/search?q=omega",
            ] {
                let expected = alone.get(target);
                let answer = server.get(&format!("/{path}{target}"));
                assert_eq!(answer.status, 200, "{target}: {}", answer.body);
                assert_eq!(without_times(&answer), without_times(&expected), "{target}");
            }
            for target in [
                "/",
                "/search",
                "/search?q=alpha&k=x",
                "/document?url=https://site2.example/3&q=alpha",
                "/document?url=nowhere&format=json",
                "/style.css",
                "/nowhere",
            ] {
                let expected = alone.get(target);
                let answer = server.get(&format!("/{path}{target}"));
                let (status, body) = (answer.status, answer.body);
                assert_eq!((status, body), (expected.status, expected.body), "{target}");
            }
        }
    }
    let metrics = send(&servers[0], "GET", "/metrics", "", b"").body;
    for sample in [
        "shorttail_documents{index=\"few\"} 7",
        "shorttail_queries_total{index=\"few\",client=\"json\"} 5",
        "shorttail_partitions 1",
    ] {
        assert!(metrics.contains(sample), "{sample}: {metrics}");
    }
}

#[test]
fn indexes_come_and_go_at_the_servers() {
    let folder = Arc::new(MemoryFolder::default());
    let (searches, texts) = (searches(&folder, None), texts(&folder));
    let server = front_end(&[(ANY, &searches)], &texts);
    assert_eq!(answer(&server, "/indexes"), json!({ "indexes": [] }));
    for target in [
        "/news/search?q=alpha",
        "/news",
        "/news/",
        "/.news/",
        "/a%20b/",
    ] {
        assert_eq!(server.get(target).status, 404, "{target}");
    }
    build(&*folder, "news", &documents(1, 3));
    assert_eq!(
        answer(&server, "/indexes"),
        json!({ "indexes": [{ "name": "news", "open": false }] })
    );
    assert!(
        server
            .get("/")
            .body
            .contains("<a href=\"./news/\">news</a>")
    );
    assert_eq!(found(&server, "news", "alpha"), 3);
    let known = json!({
        "name": "news", "open": true, "documents": 3, "generation": 1, "chunks": 3, "writing": false
    });
    assert_eq!(
        answer(&server, "/indexes"),
        json!({ "indexes": [known.clone()] })
    );
    assert_eq!(sent(&server, "GET", "/news", "", 200), known);
    // A commit of another process.
    build(&*folder, "news", &documents(1, 5));
    wait_for(|| found(&server, "news", "alpha") == 5);
    assert_eq!(
        sent(&server, "POST", "/news/reload", "", 200)["generation"],
        2
    );
    // Nothing is written through it.
    for (method, target) in [("PUT", "/mail"), ("DELETE", "/news")] {
        let refused = send(&server, method, target, "", b"");
        assert_eq!(refused.status, 404, "{}", refused.body);
        assert!(
            refused.body.contains("serve --writable"),
            "{}",
            refused.body
        );
    }
    folder.remove("news").unwrap();
    wait_for(|| server.get("/news/search?q=alpha").status == 404);
    assert_eq!(answer(&server, "/indexes"), json!({ "indexes": [] }));
    // Another one of its name, of other documents and as many chunks.
    build(&*folder, "news", &documents(2, 4));
    wait_for(|| server.get("/news/search?q=alpha").status == 200);
    assert_eq!(found(&server, "news", "site:site2.example"), 4);
    // It is replaced between two looks: the answers are those of one of the two, or say that they lack all.
    folder.remove("news").unwrap();
    build(&*folder, "news", &documents(3, 6));
    wait_for(|| {
        let answer = server.get("/news/search?q=alpha");
        let total = match answer.status {
            200 => without_times(&answer)["total"]["value"].clone(),
            status => json!(status),
        };
        assert!(
            [json!(4), json!(6), json!(503), json!(404)].contains(&total),
            "{total}"
        );
        total == 6
    });
}

#[test]
fn an_index_that_a_server_lacks_is_incomplete() {
    let (first, second) = (
        Arc::new(MemoryFolder::default()),
        Arc::new(MemoryFolder::default()),
    );
    build(&*first, "both", &documents(1, 30));
    build(&*first, "one", &documents(2, 30));
    build(&*second, "other", &documents(2, 3));
    let texts = texts(&first);
    let (low, high) = (
        searches(&first, Some(0..=1)),
        searches(&second, Some(2..=2)),
    );
    let server = front_end(&[(0..=1, &low), (2..=2, &high)], &texts);
    let listed = answer(&server, "/indexes")["indexes"].clone();
    let names: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["both", "one", "other"]);
    let lacking = answer(&server, "/one/search?q=alpha");
    let total = lacking["total"]["value"].as_u64().unwrap();
    assert!(total > 0 && total < 30, "{total}");
    let degraded = &lacking["degraded"][0];
    assert_eq!(
        (&degraded["lacks"], &degraded["chunks"]),
        (&json!("search"), &json!("2")),
        "{lacking}"
    );
    assert!(
        degraded["message"].to_string().contains("no index"),
        "{degraded}"
    );
    assert_eq!(server.get("/one/search?q=alpha&partial=0").status, 503);
    let lacking = answer(&server, "/other/search?q=alpha");
    assert_eq!(lacking["degraded"][0]["chunks"], "0-1", "{lacking}");
    // More chunks than the cluster file deals out.
    let few = front_end(&[(0..=1, &low)], &texts);
    let lacking = answer(&few, "/both/search?q=alpha");
    assert_eq!(lacking["degraded"][0]["chunks"], "2", "{lacking}");
}

#[test]
fn a_request_without_a_name_is_for_the_only_index() {
    let folder = Arc::new(MemoryFolder::default());
    build(&*folder, "news", &documents(1, 3));
    let (searches, texts) = (searches(&folder, None), texts(&folder));
    // A front-end of before connects so.
    let file = file(&[(0..=2, &searches)], &texts);
    let runtime = io_runtime().unwrap();
    let nameless = || Cluster::connect(&file, "before", &runtime, |silent| panic!("{silent}"));
    let front_end = FrontEnd::new(nameless().unwrap(), FrontEndOptions::default());
    let search = || runtime.block_on(front_end.search("alpha", &SearchOptions::default()));
    let answer = search().unwrap();
    assert_eq!((answer.total.value, answer.coverage), (3, 1.0));
    assert!(answer.hits[0].summary.contains("<mark>"));
    assert!(
        runtime
            .block_on(front_end.document("https://site1.example/1"))
            .unwrap()
            .is_some()
    );
    assert_eq!(runtime.block_on(front_end.reload()).unwrap(), 1);
    // Which of two is meant, it does not say.
    build(&*folder, "mail", &documents(2, 3));
    let refused = nameless().map(|_| ()).unwrap_err().to_string();
    assert!(
        refused.contains("2 indexes, and none is named"),
        "{refused}"
    );
    let refused = search().unwrap_err().to_string();
    assert!(refused.contains("none is named"), "{refused}");
}

#[test]
fn servers_of_one_index_and_of_many_are_not_mixed() {
    let folder = Arc::new(MemoryFolder::default());
    build(&*folder, "news", &documents(1, 3));
    let alone = index(documents(1, 3), 3);
    let (searches, texts) = (
        searches(&folder, None),
        Served::document_server(&alone, 0..=2),
    );
    let told = match connect(&file(&[(0..=2, &searches)], &texts)) {
        Err(error) => error.to_string(),
        // The one that answered first has one index, and the folder another.
        Ok(_) => panic!("they are mixed"),
    };
    assert!(
        told.contains("folder of indexes") || told.contains("serves index"),
        "{told}"
    );
    let searches = Served::index_server(&alone, 0..=2);
    let any = ClusterFile {
        chunks_count: 65_536,
        ..file(&[(ANY, &searches)], &texts)
    };
    let told = connect(&any).map(|_| ()).unwrap_err().to_string();
    assert!(told.contains("which chunks"), "{told}");
}
