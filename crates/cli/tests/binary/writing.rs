//! A server that writes: what it acknowledged is there after it was killed, and a damaged log is named.

use crate::serving::{Serving, get};
use crate::support::{Bench, document, json_lines, small_corpus};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

fn post(address: &str, path: &str, body: &str) -> Value {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("200"), "{answer}");
    serde_json::from_str(body).unwrap()
}

fn total(answer: &str) -> Value {
    serde_json::from_str::<Value>(answer).unwrap()["total"]["value"].clone()
}

const LONG: [&str; 3] = ["--writable", "--refresh", "3600"];

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let bench = Bench::indexed(&small_corpus());
    let directory = bench.directory();
    let log = || {
        let names = std::fs::read_dir(&directory).unwrap();
        let mut paths = names.map(|entry| entry.unwrap().path());
        paths.find(|path| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("log-")
        })
    };
    for round in 0..3 {
        let server = Serving::start_with(&bench, &LONG);
        let found = total(&server.get("/search?q=quokka").1);
        assert_eq!(found, json!(round * 20));
        for part in 0..10 {
            let documents: Vec<Value> = (0..2)
                .map(|n| {
                    document(
                        &format!("http://q.example/{round}-{part}-{n}"),
                        "Quokka",
                        "hops",
                    )
                })
                .collect();
            let answer = post(&server.admin, "/documents", &json_lines(&documents));
            assert_eq!(answer["accepted"], 2);
        }
        assert_eq!(total(&server.get("/search?q=quokka").1), json!(round * 20));
        assert!(log().is_some());
        // Another writer is refused, with the way out.
        let more = bench.file(
            "more.jsonl",
            json_lines(&[document("http://x.example/", "x", "x")]),
        );
        bench
            .run("add", &[more.to_str().unwrap()])
            .fails_saying(&["writer.lock", "send documents to it"]);
        // A snapshot beside the server has what is acknowledged.
        let copy = bench.directory().with_extension(format!("copy{round}"));
        let into = ["--into", copy.to_str().unwrap(), "--json"];
        let copied = bench.run("snapshot", &into).ends(0).json_lines().remove(0);
        assert_eq!(copied["logged_changes"], 20, "{copied}");
        bench
            .run("restore", &into)
            .fails_saying(&["does not overwrite"]);
        drop(server);
        let checked = bench.run::<&str>("check", &[]).ends(0);
        assert!(
            checked.stdout.contains("20 changes in the log"),
            "{}",
            checked.stdout
        );
    }
    let recovered = bench.run("recover", &["--json"]).ends(0);
    let summary = recovered.json_lines().remove(0);
    assert_eq!(
        (&summary["recovered"], &summary["lost"]),
        (&json!(20), &json!([]))
    );
    assert_eq!(bench.answer("quokka", &[])["total"]["value"], 60);
    assert!(log().is_none());
}

#[test]
fn acknowledged_changes_that_are_damaged_are_named() {
    let bench = Bench::indexed(&small_corpus());
    let server = Serving::start_with(&bench, &LONG);
    for n in 0..3 {
        let one = document(&format!("http://q.example/{n}"), "Quokka", "hops");
        post(&server.admin, "/documents", &json_lines(&[one]));
    }
    drop(server);
    let path = bench.directory().join("log-1");
    let mut bytes = std::fs::read(&path).unwrap();
    // Between groups of records there may be marks, as time passed.
    let sectors = (0..bytes.len()).step_by(512);
    let mut groups = sectors.filter(|&at| bytes[at..].starts_with(b"STL1\x01"));
    let second = groups.nth(1).unwrap();
    bytes[second + 45] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let told = &format!("byte {second}: change 2 of this log cannot be read");
    let checked = bench.run::<&str>("check", &[]).ends(1);
    assert!(checked.stdout.contains(told), "{}", checked.stdout);
    for (command, options) in [
        ("recover", &[][..]),
        ("delete", &["--url", "x"]),
        ("serve", &LONG),
    ] {
        bench
            .run(command, options)
            .fails_saying(&[told, "--accept-loss"]);
    }
    let recovered = bench.run("recover", &["--accept-loss"]).ends(0);
    assert!(
        recovered
            .stdout
            .contains("recovered  2 changes\nlost       "),
        "{}",
        recovered.stdout
    );
    assert_eq!(bench.answer("quokka", &[])["total"]["value"], 2);
    bench.run::<&str>("check", &[]).ends(0);
}

#[test]
fn servers_of_parts_show_what_one_process_writes() {
    let bench = Bench::indexed_in_chunks(&small_corpus(), 2);
    bench.run("optimize", &["--partitions", "2"]).ends(0);
    let server = Serving::start_with(&bench, &["--writable", "--index-servers", "2"]);
    let documents: Vec<Value> = (0..20)
        .map(|n| document(&format!("http://q.example/{n}"), "Quokka", "hops"))
        .collect();
    let answer = post(
        &server.admin,
        "/documents?refresh=wait",
        &json_lines(&documents),
    );
    assert_eq!(answer["accepted"], 20);
    assert_eq!(total(&server.get("/search?q=quokka").1), 20);
    assert!(
        get(&server.admin, "/metrics")
            .1
            .contains("shorttail_writer_refreshes_total 1")
    );
}

/// Lines of every shape that a file and a request may have.
const LINES: &str = r#"{"url":"http://q.example/own","title":"Own","body":"quokkas hop","n":1.10}
{"id":1,"headline":"Mapped","message":"quokka with a disk","tags":["a","b"]}
{"_id":"x2","_source":{"name":"Exported","text":"quokka of an export"}}
{"id":"3","n":12345678901234567890123}
{"index":{"_index":"i","_id":"4"}}
{"message":"quokka of a bulk request, and its disk"}
{"update":{"_id":"5"}}
{"doc":{"message":"quokka of an update"},"doc_as_upsert":true}
{"url":7,"title":["two","lines"],"body":true}
{"n":1}
{}
{"url":"u","message":"a","message":"b"}
{"index":{"_id":"6"}}
"#;

/// One reading of JSON: a line is one document wherever it comes from.
#[test]
fn a_line_is_the_same_document_in_a_file_and_in_a_request() {
    // Types of fields are those of the first commit, so both begin with the same documents.
    let first = json!({"url": "http://q.example/first", "message": "the first message of all"});
    let first = [first];
    let [by_file, by_request] = [Bench::indexed(&first), Bench::indexed(&first)];
    let lines = LINES.replace("{\"n\":1}\n", "");
    let source = by_file.file("lines.jsonl", lines);
    let added = by_file.run("add", &[source.as_os_str(), "--json".as_ref()]);
    let added = &added.ends(0).json_lines()[0];
    assert_eq!(
        (&added["documents"], &added["bad"]),
        (&json!(7), &json!(3)),
        "{added}"
    );
    let names = [
        "body = message",
        "body = text",
        "id = _id",
        "title = headline",
        "title = name",
    ];
    assert_eq!(added["fields"], json!(names));

    let servers = [&by_file, &by_request].map(|bench| Serving::start_with(bench, &LONG));
    let answer = post(&servers[1].admin, "/documents?refresh=now", LINES);
    assert_eq!(
        (&answer["accepted"], &answer["rejected_count"]),
        (&json!(7), &json!(4)),
        "{answer}"
    );
    assert_eq!(answer["names"], json!(names));
    let lines: Vec<&Value> = answer["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["line"])
        .collect();
    assert_eq!(lines, [10, 11, 12, 13]);

    for url in [
        "http://q.example/own",
        "id:1",
        "id:x2",
        "id:3",
        "id:4",
        "id:5",
        "7",
    ] {
        let target = format!(
            "/documents?url={}",
            url.replace(':', "%3A").replace('/', "%2F")
        );
        let [one, other] = servers
            .each_ref()
            .map(|server| get(&server.admin, &target).1);
        assert_eq!(one, other, "{url}");
        assert!(one.contains("\"document\""), "{url}: {one}");
    }
    for query in [
        "quokka",
        "message:disk",
        "message:quokka",
        "n:1.10",
        "headline:mapped",
        "title:mapped",
        "\"its disk\"",
        "lines",
    ] {
        let target = format!("/search?q={}", query.replace(' ', "+").replace('"', "%22"));
        let [one, other] = servers.each_ref().map(|server| {
            let answer: Value = serde_json::from_str(&server.get(&target).1).unwrap();
            (answer["total"]["value"].clone(), answer["hits"].clone())
        });
        assert_eq!(one, other, "{query}");
        assert_ne!(one.0, 0, "{query}");
    }
    // Names are kept, and what is stored beside them is nobody's to see.
    let mapped = get(&servers[1].admin, "/documents?url=id%3A1").1;
    assert!(
        mapped.contains("\"message\":\"quokka with a disk\"") && mapped.contains("\"headline\""),
        "{mapped}"
    );
    let shown = servers[1].get("/search?q=quokka&fields=headline,message").1;
    assert!(
        !mapped.contains("_names") && !shown.contains("_names") && shown.contains("headline"),
        "{shown}"
    );

    let named = post(
        &servers[1].admin,
        "/documents?refresh=now&title_field=n&body_field=a,b.c&id_field=ref",
        r#"{"ref":"r","n":"Named","a":"numbat","b":{"c":"echidna"}}"#,
    );
    assert_eq!(named["accepted"], 1, "{named}");
    assert_eq!(total(&servers[1].get("/search?q=numbat+echidna").1), 1);
    let deleted = "{\"delete\":{\"_id\":\"4\"}}\n{\"update\":{\"_id\":1}}\n{\"doc\":{\"message\":\"wombat\"}}\n";
    let changed = post(&servers[1].admin, "/documents?refresh=now", deleted);
    assert_eq!(changed["accepted"], 2, "{changed}");
    assert_eq!(total(&servers[1].get("/search?q=message:disk").1), 0);
    assert_eq!(total(&servers[1].get("/search?q=message:wombat").1), 1);
    assert_eq!(total(&servers[1].get("/search?q=wombat").1), 1);
}

#[test]
fn a_writer_starts_from_nothing() {
    let bench = Bench::new();
    let server = Serving::start_with(&bench, &["--writable"]);
    assert_eq!(total(&server.get("/search?q=galaxy").1), 0);
    let product = r#"{"url":"http://shop.example/1","title":"Galaxy S24","brand":"Samsung"}"#;
    let answer = post(&server.admin, "/documents?refresh=now", product);
    assert_eq!(answer["accepted"], 1, "{answer}");
    assert_eq!(total(&server.get("/search?q=galaxy").1), 1);
    assert_eq!(total(&server.get("/search?q=brand:Samsung").1), 1);
}
