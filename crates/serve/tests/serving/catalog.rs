//! A server of many indexes: each answers at its name as a server of it alone does, and they come and go.

use crate::corpus::{document, index};
use crate::http::{Response, Running, options};
use crate::writing::{line, send, sent};
use index::{BuildOptions, Writer};
use ingest::LiveOptions;
use serde_json::{Value, json};
use serve::{CatalogOptions, HandlerOptions, ServeOptions, Server, io_runtime};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use vfs::{MemoryFolder, RealFolder, StorageFolder};

/// Returns a server of the indexes of a folder, which may be written to.
pub(crate) fn serving(folder: Arc<dyn StorageFolder>, is_writable: bool) -> Running {
    let catalog = CatalogOptions {
        writing: is_writable.then(|| LiveOptions {
            refresh: Duration::from_secs(3600),
            ..LiveOptions::default()
        }),
        ..CatalogOptions::new(folder)
    };
    let options = ServeOptions {
        refresh: Some(Duration::from_millis(50)),
        ..options(1)
    };
    let runtime = io_runtime().unwrap();
    let server = Server::bind_catalog(catalog, &options, &HandlerOptions::default(), runtime);
    Running::of(server.unwrap())
}

/// Builds an index of a folder of the documents that [`index`] builds one of.
pub(crate) fn build(folder: &dyn StorageFolder, name: &str, documents: &[document::Document]) {
    let options = BuildOptions {
        chunks: Some(3),
        partitions: Some(3),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(folder.create(name).unwrap(), options).unwrap();
    for document in documents {
        writer.add(document.clone()).unwrap();
    }
    writer.commit().unwrap();
}

pub(crate) fn documents(site: u8, count: usize) -> Vec<document::Document> {
    (0..count).map(|n| document(n, site, 0b11)).collect()
}

/// Returns an answer without its times, which differ.
pub(crate) fn without_times(response: &Response) -> Value {
    let mut answer: Value = serde_json::from_str(&response.body).unwrap();
    answer.as_object_mut().unwrap().remove("phases_us");
    answer
}

pub(crate) fn found(server: &Running, name: &str, query: &str) -> u64 {
    let answer = server.get(&format!("/{name}/search?q={query}&correct=0"));
    assert_eq!(answer.status, 200, "{}", answer.body);
    without_times(&answer)["total"]["value"].as_u64().unwrap()
}

#[test]
fn an_index_answers_at_its_name_as_a_server_of_it_alone() {
    let folder = Arc::new(MemoryFolder::default());
    let (few, many) = (documents(1, 7), documents(2, 30));
    build(&*folder, "few", &few);
    build(&*folder, "Bücher.2", &many);
    let server = serving(folder, false);
    for (path, documents) in [("few", few), ("B%C3%BCcher.2", many)] {
        let alone = Running::start(index(documents, 3), &options(1));
        for target in [
            "/search?q=alpha&k=5&start=2&per_site=3",
            "/search?q=alpha+beta+-gamma&facet=site&explain=1",
            "/search?q=omega",
        ] {
            let (expected, answer) = (alone.get(target), server.get(&format!("/{path}{target}")));
            assert_eq!(answer.status, 200);
            assert_eq!(without_times(&answer), without_times(&expected), "{target}");
        }
        for target in [
            "/",
            "/search",
            "/search?q=alpha&k=x",
            "/?q=alpha&k=x",
            "/document?url=https://site2.example/3&q=alpha",
            "/document?url=nowhere&format=json",
            "/style.css",
            "/page.js",
            "/metrics",
            "/documents",
            "/nowhere",
        ] {
            let (expected, answer) = (alone.get(target), server.get(&format!("/{path}{target}")));
            // Errors have numbers of queries, which differ.
            let (status, body) = (answer.status, answer.body);
            assert_eq!((status, body), (expected.status, expected.body), "{target}");
        }
    }
}

#[test]
fn what_is_no_index_is_told() {
    let folder = Arc::new(MemoryFolder::default());
    build(&*folder, "news", &documents(1, 3));
    // A directory without an index is none.
    folder.create("empty").unwrap();
    let server = serving(folder, false);
    let listed: Value = serde_json::from_str(&server.get("/indexes").body).unwrap();
    assert_eq!(
        listed,
        json!({ "indexes": [{ "name": "news", "open": false }] })
    );
    assert_eq!(found(&server, "news", "alpha"), 3);
    let listed: Value = serde_json::from_str(&server.get("/indexes").body).unwrap();
    let known = json!({
        "name": "news", "open": true, "documents": 3, "generation": 1, "chunks": 3, "writing": false
    });
    assert_eq!(listed, json!({ "indexes": [known] }));
    let home = server.get("/");
    assert!(
        home.body.contains("<a href=\"./news/\">news</a>"),
        "{}",
        home.body
    );
    let moved = server.get("/news?q=alpha&k=3");
    assert_eq!(moved.status, 308);
    assert!(
        moved.head.contains("location: news/?q=alpha&k=3"),
        "{}",
        moved.head
    );
    for target in [
        "/empty/search?q=a",
        "/other/search?q=a",
        "/other",
        "/..%2Fnews/search?q=a",
        "/%00/search?q=a",
        "/%ff/search?q=a",
        "//search?q=a",
        "/search?q=a",
        "/document?url=a",
        "/.hidden/",
    ] {
        let answer = server.get(target);
        assert_eq!(answer.status, 404, "{target}: {}", answer.body);
        assert!(
            answer.body.contains("/indexes"),
            "{target}: {}",
            answer.body
        );
    }
    for target in ["/news", "/news/?q=alpha", "/indexes"] {
        let posted = server.raw(
            format!("POST {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").as_bytes(),
        );
        assert_eq!(posted.status, 405, "{target}");
    }
    assert_eq!(server.get("/healthz").body, "ok\n");
    assert_eq!(server.get("/metrics").status, 404);
    for head in [
        &home.head,
        &moved.head,
        &server.get("/news/search?q=alpha").head,
    ] {
        assert!(head.contains("content-security-policy"), "{head}");
    }
}

#[test]
fn indexes_are_created_written_and_dropped() {
    let folder = Arc::new(MemoryFolder::default());
    let server = serving(folder.clone(), true);
    assert_eq!(server.get("/mail/search?q=a").status, 404);
    let settings = r#"{"chunks": 3, "fields": {"rank": "i64"}}"#;
    let made = sent(&server, "PUT", "/mail", settings, 201);
    assert_eq!(
        (&made["name"], &made["documents"], &made["chunks"]),
        (&json!("mail"), &json!(0), &json!(3))
    );
    assert_eq!(sent(&server, "PUT", "/news", "", 201)["chunks"], 2);
    assert!(
        sent(&server, "PUT", "/mail", "", 409)
            .to_string()
            .contains("DELETE /mail")
    );
    let batch = |site| {
        documents(site, 5)
            .iter()
            .map(|one| line(one) + "\n")
            .collect::<String>()
    };
    for (name, site) in [("mail", 1), ("news", 2)] {
        let target = format!("/{name}/documents?refresh=now");
        assert_eq!(
            sent(&server, "POST", &target, &batch(site), 200)["accepted"],
            5
        );
        assert_eq!(
            (
                found(&server, name, "alpha"),
                found(&server, name, "site:site1.example")
            ),
            (5, if site == 1 { 5 } else { 0 })
        );
    }
    let read = sent(
        &server,
        "GET",
        "/mail/documents?url=https://site1.example/3",
        "",
        200,
    );
    assert_eq!(read["document"]["url"], "https://site1.example/3");
    assert_eq!(sent(&server, "GET", "/mail", "", 200)["writing"], true);
    let metrics = send(&server, "GET", "/metrics", "", b"").body;
    for sample in [
        "shorttail_documents{index=\"mail\"} 5",
        "shorttail_documents{index=\"news\"} 5",
        "shorttail_writer_changes_total{index=\"news\"} 5",
        "shorttail_handlers{partition=\"all\"} 2",
        "shorttail_queries_total{index=\"mail\",client=\"json\"} 2",
    ] {
        assert!(metrics.contains(sample), "{sample}: {metrics}");
    }
    assert_eq!(metrics.matches("# TYPE shorttail_documents ").count(), 1);
    assert_eq!(sent(&server, "POST", "/reload", "", 200)["reloaded"], 2);
    assert_eq!(
        sent(&server, "DELETE", "/mail", "", 200),
        json!({ "dropped": "mail" })
    );
    assert_eq!(server.get("/mail/search?q=alpha").status, 404);
    assert_eq!(
        send(&server, "POST", "/mail/documents", "", b"{}").status,
        404
    );
    sent(&server, "DELETE", "/mail", "", 404);
    assert_eq!(folder.list().unwrap(), ["news"]);
    // Nothing of the former one is left.
    sent(&server, "PUT", "/mail", "", 201);
    assert_eq!(found(&server, "mail", "alpha"), 0);
    for (name, status) in [
        ("search", 404),
        ("indexes", 405),
        ("-a", 400),
        ("a%2Fb", 400),
        ("a%20b", 400),
        (&*"a".repeat(300), 400),
        ("style.css", 400),
    ] {
        let answer = send(&server, "PUT", &format!("/{name}"), "", b"");
        assert!(
            answer.status == status || answer.status == 400,
            "{name}: {} {}",
            answer.status,
            answer.body
        );
    }
    for (settings, part) in [
        (r#"{"chunks": 0}"#, "chunks"),
        (r#"{"chunks": 2, "partitions": 5}"#, "partitions"),
        (r#"{"shards": 2}"#, "shards"),
        ("[", "JSON"),
    ] {
        let refused = sent(&server, "PUT", "/other", settings, 400).to_string();
        assert!(refused.contains(part), "{refused}");
    }
    assert_eq!(folder.list().unwrap(), ["mail", "news"]);
}

#[test]
fn a_server_that_does_not_write_changes_no_index() {
    let folder = Arc::new(MemoryFolder::default());
    build(&*folder, "news", &documents(1, 3));
    let server = serving(folder.clone(), false);
    for (method, target) in [
        ("PUT", "/mail"),
        ("DELETE", "/news"),
        ("POST", "/news/documents"),
    ] {
        let answer = send(&server, method, target, "", b"{}");
        let is_told = answer.body.contains("--writable");
        assert!(
            answer.status == 404 && is_told || method == "PUT" && answer.status == 400,
            "{}",
            answer.body
        );
    }
    assert_eq!(folder.list().unwrap(), ["news"]);
}

#[test]
fn what_other_processes_commit_is_found_and_what_they_hold_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let folder = Arc::new(RealFolder::open(directory.path()).unwrap());
    build(&*folder, "news", &documents(1, 3));
    let server = serving(folder.clone(), true);
    assert_eq!(found(&server, "news", "alpha"), 3);
    let mut writer = Writer::open(folder.create("news").unwrap(), BuildOptions::default()).unwrap();
    // Another writer has the index: nothing is written here, and it is not dropped.
    assert_eq!(
        send(&server, "POST", "/news/documents", "", b"{\"url\": \"a\"}").status,
        409
    );
    assert_eq!(send(&server, "DELETE", "/news", "", b"").status, 409);
    writer.add(document(9, 1, 0b1)).unwrap();
    writer.commit().unwrap();
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while found(&server, "news", "alpha") < 4 {
        assert!(
            std::time::Instant::now() < until,
            "the new generation is not served"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    // A directory with more than an index stays.
    std::fs::write(directory.path().join("news/notes.txt"), "x").unwrap();
    let kept = send(&server, "DELETE", "/news", "", b"");
    assert!(
        kept.status == 409 && kept.body.contains("notes.txt"),
        "{}",
        kept.body
    );
    std::fs::remove_file(directory.path().join("news/notes.txt")).unwrap();
    // Written to after all that, and dropped.
    let answer = send(
        &server,
        "POST",
        "/news/documents?refresh=now",
        "",
        b"{\"url\": \"a\", \"body\": \"alpha\"}",
    );
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(found(&server, "news", "alpha"), 5);
    assert_eq!(send(&server, "DELETE", "/news", "", b"").status, 200);
    assert!(!directory.path().join("news").exists());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_damaged_index_harms_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let folder = Arc::new(RealFolder::open(directory.path()).unwrap());
    build(&*folder, "good", &documents(1, 3));
    build(&*folder, "bad", &documents(2, 3));
    let manifest = directory.path().join("bad/MANIFEST-1");
    std::fs::remove_file(&manifest).unwrap();
    std::fs::write(&manifest, "no manifest").unwrap();
    let server = serving(folder, true);
    assert_eq!(found(&server, "good", "alpha"), 3);
    let answer = server.get("/bad/search?q=alpha");
    assert_eq!(answer.status, 500);
    assert!(!answer.body.contains("MANIFEST"), "{}", answer.body);
    assert_eq!(found(&server, "good", "alpha"), 3);
}

/// Ways of a thread with indexes of its own, which come and go beside those of the others: each answer is what its own
/// changes make it.
fn live_with(server: &Running, seed: u64, steps: usize) {
    let mut random = seed;
    let mut next = move |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    // Documents of each index that there is.
    let mut indexes: BTreeMap<String, BTreeMap<u64, u8>> = BTreeMap::new();
    for _ in 0..steps {
        let name = format!("of{seed}-{}", next(4));
        let admin = |method: &str, target: &str, body: &str| {
            send(server, method, target, "", body.as_bytes()).status
        };
        match (next(8), indexes.get_mut(&name)) {
            (0, Some(_)) => {
                assert_eq!(admin("DELETE", &format!("/{name}"), ""), 200);
                indexes.remove(&name);
            }
            (1..4, Some(held)) => {
                let changes: Vec<_> = (0..1 + next(4))
                    .map(|_| (next(12), next(64) as u8))
                    .collect();
                let mut body = String::new();
                for (number, words) in changes {
                    body += &(line(&document(number as usize, 1, words)) + "\n");
                    held.insert(number, words);
                }
                let target = format!("/{name}/documents?refresh=now");
                assert_eq!(admin("POST", &target, &body), 200);
            }
            (4, Some(held)) if !held.is_empty() => {
                let number = *held.keys().next().unwrap();
                let target =
                    format!("/{name}/documents?url=https://site1.example/{number}&refresh=now");
                assert_eq!(admin("DELETE", &target, ""), 200);
                held.remove(&number);
            }
            (_, Some(held)) => {
                for (bit, word) in crate::corpus::WORDS.iter().enumerate() {
                    let expected = held.values().filter(|words| *words >> bit & 1 == 1).count();
                    assert_eq!(
                        found(server, &name, word),
                        expected as u64,
                        "{name}: {word}"
                    );
                }
            }
            (_, None) => {
                assert_eq!(server.get(&format!("/{name}/search?q=alpha")).status, 404);
                assert_eq!(admin("PUT", &format!("/{name}"), ""), 201);
                indexes.insert(name, BTreeMap::new());
            }
        }
    }
}

#[test]
fn indexes_that_come_and_go_side_by_side_answer_for_themselves() {
    let folder = Arc::new(MemoryFolder::default());
    build(&*folder, "steady", &documents(1, 3));
    let server = serving(folder, true);
    std::thread::scope(|scope| {
        for seed in 1..5 {
            let server = &server;
            scope.spawn(move || live_with(server, seed, 40));
        }
        for _ in 0..40 {
            assert_eq!(found(&server, "steady", "alpha"), 3);
        }
    });
}

#[test]
fn options_that_need_one_index_are_refused() {
    let catalog = CatalogOptions::new(Arc::new(MemoryFolder::default()));
    let refused = Server::bind_catalog(
        catalog,
        &options(2),
        &HandlerOptions::default(),
        io_runtime().unwrap(),
    );
    let message = refused.err().unwrap().to_string();
    assert!(message.contains("--partitions"), "{message}");
}
