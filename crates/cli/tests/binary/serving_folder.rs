//! `serve` of a folder of indexes: what the command line builds is served, what is created is searched by the command line.

use crate::serving::{Serving, get, without_times};
use crate::support::{Bench, command, document, json_lines, shorttail, small_corpus};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

pub(crate) fn asked(address: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}

/// Starts a server of the folder of a bench, which holds the directory `index`.
fn serving(bench: &Bench, options: &[&str]) -> Serving {
    let folder = bench.path("");
    let folder = folder.to_str().unwrap();
    let arguments = ["serve", folder, "--listen", "127.0.0.1:0"];
    Serving::of(command([&arguments, options].concat()))
}

#[test]
fn each_index_of_a_folder_answers_as_search_does() {
    let bench = Bench::indexed(&small_corpus());
    let server = serving(&bench, &[]);
    for query in ["lynx", "fox OR lynx", "nothing-such"] {
        let served = server.get(&format!("/index/search?q={}", query.replace(' ', "+")));
        assert!(served.0.contains("200"), "{served:?}");
        let served: Value = serde_json::from_str(&served.1).unwrap();
        let found = bench.answer(query, &["-k", "10"]);
        assert_eq!(served["total"], found["total"], "{query}");
        assert_eq!(served["hits"], found["hits"], "{query}");
    }
    let listed = server.get("/indexes").1;
    assert!(listed.contains("\"index\""), "{listed}");
    // The corpus beside the index is no index.
    assert!(!listed.contains("corpus"), "{listed}");
}

#[test]
fn an_index_made_by_a_server_is_one_for_all_commands() {
    let bench = Bench::new();
    let folder = bench.path("made");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.to_str().unwrap();
    let start = || {
        Serving::of(command([
            "serve",
            path,
            "--listen",
            "127.0.0.1:0",
            "--writable",
        ]))
    };
    let server = start();
    let (status, made) = asked(
        &server.admin,
        "PUT",
        "/mail",
        r#"{"analyzer": "english", "chunks": 1}"#,
    );
    assert_eq!((status, &made["documents"]), (201, &json!(0)));
    let body = json_lines(&[
        document("http://a.example/1", "Lynxes", "hunting at night"),
        document("http://a.example/2", "Foxes", "hunting at dawn"),
    ]);
    let (status, written) = asked(&server.admin, "POST", "/mail/documents?refresh=now", &body);
    assert_eq!((status, &written["accepted"]), (200, &json!(2)));
    let served = get(&server.address, "/mail/search?q=hunt").1;
    let served: Value = serde_json::from_str(&served).unwrap();
    assert_eq!(served["total"]["value"], 2);
    // The server has the lock while its writer is open.
    let index = folder.join("mail");
    let more = bench.file(
        "more.jsonl",
        json_lines(&[document("http://a.example/3", "Owls", "hunt")]),
    );
    let add = || shorttail(["add", index.to_str().unwrap(), more.to_str().unwrap()]);
    add().fails_saying(&["writer.lock"]);
    drop(server);
    add().ends(0);
    shorttail(["check", index.to_str().unwrap()]).ends(0);
    let found = shorttail(["search", index.to_str().unwrap(), "--json", "hunt"]);
    let mut lines = found.ends(0).json_lines();
    let found = lines.remove(0);
    assert_eq!(found["total"]["value"], 3);
    let server = start();
    let served = get(&server.address, "/mail/search?q=hunt").1;
    let served: Value = serde_json::from_str(&served).unwrap();
    assert_eq!(without_times(served)["hits"], without_times(found)["hits"]);
    assert_eq!(asked(&server.admin, "DELETE", "/mail", "").0, 200);
    assert!(!index.exists());
}

#[test]
fn what_was_acknowledged_is_found_after_a_kill() {
    let bench = Bench::new();
    let folder = bench.path("made");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.to_str().unwrap();
    let arguments = [
        "serve",
        path,
        "--listen",
        "127.0.0.1:0",
        "--writable",
        "--refresh",
        "1h",
    ];
    let start = || Serving::of(command(arguments));
    let total = |server: &Serving, index: &str| {
        let answer = get(&server.address, &format!("/{index}/search?q=hunt")).1;
        serde_json::from_str::<Value>(&answer).unwrap()["total"]["value"].clone()
    };
    let server = start();
    for index in ["mail", "news"] {
        assert_eq!(asked(&server.admin, "PUT", &format!("/{index}"), "").0, 201);
    }
    let body = json_lines(&[document(
        "http://a.example/1",
        "Lynxes",
        "they hunt at night",
    )]);
    let (status, written) = asked(&server.admin, "POST", "/mail/documents", &body);
    assert_eq!((status, &written["accepted"]), (200, &json!(1)));
    assert_eq!(total(&server, "mail"), 0);
    // Killed: nothing is committed.
    drop(server);
    let server = start();
    assert_eq!(
        (total(&server, "mail"), total(&server, "news")),
        (json!(1), json!(0))
    );
}

#[test]
fn what_is_no_folder_of_indexes_is_refused() {
    let bench = Bench::new();
    let empty = bench.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let empty = empty.to_str().unwrap();
    // Without --writable nothing could ever be there.
    shorttail(["serve", empty]).fails_saying(&["no index here"]);
    // A directory with files is not taken for an empty folder.
    bench.file("notes.txt", "x");
    let notes = bench.path("");
    shorttail(["serve", notes.to_str().unwrap(), "--writable"]).fails_saying(&["no index here"]);
    shorttail(["serve", "/nowhere/at/all", "--writable"]).fails_saying(&["no such directory"]);
    let bench = Bench::indexed(&small_corpus());
    let folder = bench.path("");
    let folder = folder.to_str().unwrap();
    shorttail(["serve", folder, "--index-servers", "2"]).fails_saying(&["--index-servers"]);
    shorttail(["serve", folder, "--partitions", "2"]).fails_saying(&["--partitions"]);
}
