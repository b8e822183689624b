//! Writing over HTTP while the same server searches.

use crate::corpus::document;
use crate::http::{Response, Running, options, raw_to};
use document::Document;
use index::{BuildOptions, Texts, Writer};
use ingest::{LiveOptions, LiveWriter};
use serde_json::{Value, json};
use serve::{Cluster, Generations, HandlerOptions, Server, Topology, io_runtime};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use vfs::{MemoryStorage, SharedStorage};

/// A server that writes, refreshing only where asked.
pub(crate) fn writing(partitions: usize, texts: Texts) -> (SharedStorage, Running) {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let layout = BuildOptions {
        chunks: Some(4),
        partitions: Some(partitions as u32),
        texts: Some(texts),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), layout).unwrap();
    for number in 0..12 {
        writer.add(document(number, 1, 0b11)).unwrap();
    }
    writer.commit().unwrap();
    let live = LiveOptions {
        refresh: Duration::from_secs(3600),
        ..LiveOptions::default()
    };
    let writer = LiveWriter::open(storage.clone(), live).unwrap();
    let generations = Generations::open(storage.clone()).unwrap();
    let topology = Topology {
        partitions,
        handlers: 1,
        queue_length: 10,
    };
    let cluster = Cluster::in_process(&generations, &topology, &[], &HandlerOptions::default());
    let server =
        Server::bind_cluster(cluster.unwrap(), &options(1), io_runtime().unwrap()).unwrap();
    (storage, Running::of(server.with_writer(writer).unwrap()))
}

pub(crate) fn send(
    server: &Running,
    method: &str,
    target: &str,
    headers: &str,
    body: &[u8],
) -> Response {
    let admin = server.admin();
    let mut request = format!(
        "{method} {target} HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    request.extend_from_slice(body);
    raw_to(admin, &request)
}

#[track_caller]
pub(crate) fn sent(server: &Running, method: &str, target: &str, body: &str, status: u16) -> Value {
    let answered = send(server, method, target, "", body.as_bytes());
    assert_eq!(answered.status, status, "{}", answered.body);
    serde_json::from_str(&answered.body).unwrap()
}

pub(crate) fn total(server: &Running, query: &str) -> u64 {
    let answer = server.get(&format!("/search?q={query}"));
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    answer["total"]["value"].as_u64().unwrap()
}

pub(crate) fn line(document: &Document) -> String {
    let mut object = document.fields.clone();
    for (name, text) in [
        ("url", &document.url),
        ("title", &document.title),
        ("body", &document.body),
    ] {
        object.insert(name.into(), text.clone().into());
    }
    json::Value::Object(object).to_string()
}

#[test]
fn documents_are_put_patched_deleted_and_searched() {
    for partitions in [1, 2] {
        let (storage, server) = writing(partitions, Texts::Stored);
        let batch: String = (20..30)
            .map(|n| line(&document(n, 2, 0b100)) + "\n")
            .collect();
        let answer = sent(&server, "POST", "/documents", &batch, 200);
        assert_eq!(
            answer,
            json!({ "accepted": 10, "rejected": [], "rejected_count": 0 })
        );
        assert_eq!(total(&server, "gamma"), 0);
        assert_eq!(
            sent(&server, "POST", "/refresh", "", 200),
            json!({ "generation": 2 })
        );
        assert_eq!((total(&server, "gamma"), total(&server, "alpha")), (10, 12));
        let url = "https://site2.example/20";
        let patch =
            json!({ "url": url, "title": "Renamed omega", "rank": null, "lang": "fr" }).to_string();
        let answer = sent(&server, "PATCH", "/documents?refresh=now", &patch, 200);
        assert_eq!(
            (&answer["accepted"], &answer["generation"]),
            (&json!(1), &json!(3))
        );
        assert_eq!((total(&server, "gamma"), total(&server, "omega")), (10, 1));
        assert_eq!(total(&server, "omega+lang:fr"), 1);
        let found = sent(&server, "GET", &format!("/documents?url={url}"), "", 200);
        assert_eq!(found["version"], answer["documents"][0]["version"]);
        assert_eq!(found["document"]["title"], "Renamed omega");
        assert_eq!(found["document"].get("rank"), None);
        let gone = sent(
            &server,
            "DELETE",
            &format!("/documents?url={url}&refresh=now"),
            "",
            200,
        );
        assert_eq!(gone["accepted"], 1);
        assert_eq!(total(&server, "omega"), 0);
        assert_eq!(
            sent(&server, "GET", &format!("/documents?url={url}"), "", 404)["error"]["reason"],
            "there is no such document"
        );
        // The page of a document that was deleted is gone too.
        assert_eq!(server.get(&format!("/document?url={url}")).status, 404);
        let would = sent(
            &server,
            "POST",
            "/delete-by-query?q=gamma&dry_run=1",
            "",
            200,
        );
        assert_eq!(would["would_delete"], 9);
        let unclear = sent(&server, "POST", "/delete-by-query?q=nofield:3", "", 400);
        assert!(
            unclear["error"]["reason"]
                .as_str()
                .unwrap()
                .contains("not clear")
        );
        // What is not searchable yet is found too.
        sent(
            &server,
            "POST",
            "/documents",
            &line(&document(40, 3, 0b100)),
            200,
        );
        let deleted = sent(
            &server,
            "POST",
            "/delete-by-query?q=gamma&refresh=now",
            "",
            200,
        );
        assert_eq!(deleted, json!({ "deleted": 10 }));
        assert_eq!((total(&server, "gamma"), total(&server, "alpha")), (0, 12));
        let metrics = send(&server, "GET", "/metrics", "", b"").body;
        assert!(
            metrics.contains("shorttail_writer_changes_total 23"),
            "{metrics}"
        );
        drop(server);
        assert!(index::check(storage, 10).unwrap().1.is_empty());
    }
}

#[test]
fn bodies_come_as_arrays_and_compressed() {
    let (_storage, server) = writing(1, Texts::Stored);
    let objects: Vec<String> = (20..25).map(|n| line(&document(n, 2, 0b100))).collect();
    let array = format!("[{}]", objects.join(",\n"));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(array.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let answered = send(
        &server,
        "POST",
        "/documents?refresh=now",
        "Content-Encoding: gzip\r\n",
        &gzip,
    );
    assert_eq!(answered.status, 200, "{}", answered.body);
    assert_eq!(total(&server, "gamma"), 5);
    let answered = send(
        &server,
        "POST",
        "/documents",
        "Content-Encoding: br\r\n",
        &gzip,
    );
    assert_eq!(answered.status, 400);
    assert!(
        answered.body.contains("gzip, zstd or none"),
        "{}",
        answered.body
    );
    let answered = send(
        &server,
        "POST",
        "/documents",
        "Content-Encoding: gzip\r\n",
        &gzip[..40],
    );
    assert_eq!(answered.status, 400);
    // None of it was accepted.
    assert_eq!(sent(&server, "POST", "/refresh", "", 200)["generation"], 2);
}

#[test]
fn what_is_refused_is_named_and_the_rest_accepted() {
    let (_storage, server) = writing(1, Texts::Stored);
    let good = line(&document(20, 2, 0b100));
    let body = format!("{good}\n{{\"title\":\"x\"}}\nnothing\n");
    let answer = sent(&server, "POST", "/documents?versions=1", &body, 200);
    assert_eq!(
        (&answer["accepted"], &answer["rejected_count"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        (
            &answer["rejected"][0]["line"],
            &answer["rejected"][1]["line"]
        ),
        (&json!(2), &json!(3))
    );
    assert_eq!(answer["documents"][0]["url"], "https://site2.example/20");
    let version = answer["documents"][0]["version"].as_str().unwrap();
    for (method, target, body, status) in [
        ("POST", "/documents", "", 400),
        ("POST", "/documents", "{\"title\":\"x\"}", 400),
        ("POST", "/documents?body_field=a,", &*good, 400),
        ("POST", "/documents", "{}\n{}", 400),
        ("POST", "/documents?color=1", &*good, 400),
        ("POST", "/documents?refresh=soon", &*good, 400),
        ("POST", "/documents?if_version=7", &*good, 400),
        ("POST", "/documents?if_version=none", &*good, 409),
        (
            "POST",
            &*format!("/documents?if_version={version}"),
            &*format!("{good}\n{good}"),
            400,
        ),
        (
            "POST",
            &*format!("/documents?if_version={version}"),
            &*good,
            200,
        ),
        (
            "PATCH",
            "/documents",
            "{\"url\":\"http://none/\",\"a\":1}",
            404,
        ),
        ("PATCH", "/documents", "{\"title\":\"t\"}", 400),
        ("DELETE", "/documents", "", 400),
        ("DELETE", "/documents", "http://none/", 200),
        ("GET", "/documents", "", 400),
        ("POST", "/delete-by-query", "", 400),
        ("POST", "/refresh?x=1", "", 400),
        ("PUT", "/documents", &*good, 405),
    ] {
        let answered = send(&server, method, target, "", body.as_bytes());
        assert_eq!(
            answered.status, status,
            "{method} {target} {body}: {}",
            answered.body
        );
    }
    let foreign = send(
        &server,
        "POST",
        "/documents",
        "Origin: http://evil.example\r\n",
        good.as_bytes(),
    );
    assert_eq!(foreign.status, 403);
    let public = server.raw(
        b"POST /documents HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
    );
    assert_eq!(public.status, 404);
    assert!(public.body.contains("admin address"), "{}", public.body);
}

#[test]
fn without_texts_documents_can_be_replaced_but_not_compared() {
    let (_storage, server) = writing(1, Texts::None);
    let good = line(&document(3, 1, 0b100));
    assert_eq!(
        sent(&server, "POST", "/documents?refresh=now", &good, 200)["accepted"],
        1
    );
    assert_eq!((total(&server, "gamma"), total(&server, "alpha")), (1, 11));
    for (method, target) in [
        ("PATCH", "/documents"),
        ("POST", "/documents?if_version=none"),
        ("GET", "/documents?url=x"),
    ] {
        let refused = sent(
            &server,
            method,
            target,
            if method == "GET" { "" } else { &good },
            400,
        );
        assert!(
            refused["error"]["reason"]
                .as_str()
                .unwrap()
                .contains("--texts none")
        );
    }
}

#[test]
fn a_server_that_does_not_write_says_how() {
    let server = Running::start(crate::corpus::index([document(1, 1, 1)], 1), &options(1));
    let refused = sent(&server, "POST", "/documents", "{}", 404);
    assert!(
        refused["error"]["reason"]
            .as_str()
            .unwrap()
            .contains("--writable")
    );
}
