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
