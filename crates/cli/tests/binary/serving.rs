//! Equal answers of `serve` and `search`, and the end of a server on a signal.

use crate::support::{Bench, command, finished, json_lines, shorttail, small_corpus};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command};

/// A server of a bench's index, ended when it is dropped.
pub(crate) struct Serving {
    child: Child,
    pub(crate) address: String,
    /// Admin address; empty if it has none.
    pub(crate) admin: String,
}

impl Serving {
    pub(crate) fn start(bench: &Bench) -> Serving {
        Serving::start_with(bench, &[])
    }

    pub(crate) fn start_with(bench: &Bench, options: &[&str]) -> Serving {
        let directory = bench.directory();
        let directory = directory.to_str().unwrap();
        let arguments = ["serve", directory, "--listen", "127.0.0.1:0"];
        Serving::of(command([&arguments, options].concat()))
    }

    /// Starts a server by this command.
    pub(crate) fn of(mut command: Command) -> Serving {
        let mut child = command.spawn().unwrap();
        let (mut admin, mut address) = (String::new(), String::new());
        let stdout = BufReader::new(child.stdout.as_mut().unwrap());
        let mut said = Vec::new();
        for line in stdout.lines().map_while(Result::ok) {
            if let Some(at) = line.strip_prefix("admin on http://") {
                at.clone_into(&mut admin);
            }
            if let Some(at) = line.strip_prefix("listening on http://") {
                at.clone_into(&mut address);
                break;
            }
            said.push(line);
        }
        assert!(!address.is_empty(), "{said:?}");
        Serving {
            child,
            address,
            admin,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) {
        self.child.wait().unwrap();
    }

    /// The status line and the body of an answer.
    pub(crate) fn get(&self, path: &str) -> (String, String) {
        get(&self.address, path)
    }

    /// Reads the first lines of its standard error.
    pub(crate) fn told(&mut self, lines_count: usize) -> Vec<String> {
        let stderr = self.child.stderr.take().expect("it is told once");
        let lines = BufReader::new(stderr).lines().take(lines_count);
        lines.map(Result::unwrap).collect()
    }
}

/// The status line and the body of an answer from an address.
pub(crate) fn get(address: &str, path: &str) -> (String, String) {
    ask(address, "GET", path)
}

/// The same of a request to change something, without a body.
pub(crate) fn post(address: &str, path: &str) -> (String, String) {
    ask(address, "POST", path)
}

fn ask(address: &str, method: &str, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn without_times(mut answer: Value) -> Value {
    answer["phases_us"] = Value::Null;
    answer
}

#[test]
fn the_page_and_the_api() {
    let bench = Bench::indexed(&small_corpus());
    let serving = Serving::start(&bench);
    let (status, page) = serving.get("/?q=ice");
    assert!(
        status.contains("200") && page.contains("http://b.example/2"),
        "{status} {page}"
    );
    let (status, body) = serving.get("/search?q=ice&k=3");
    assert!(status.contains("200"), "{status}");
    let served: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        without_times(served),
        without_times(bench.answer("ice", &["-k", "3"]))
    );
    assert!(serving.get("/healthz").0.contains("200"));
    assert!(serving.get("/metrics").0.contains("404"));
    for path in ["/healthz", "/metrics"] {
        assert!(get(&serving.admin, path).0.contains("200"), "{path}");
    }
}

#[test]
fn an_index_without_texts_answers_without_summaries() {
    let with_texts = Bench::indexed(&small_corpus());
    let bench = Bench::new();
    let corpus = bench.file("corpus.jsonl", json_lines(&small_corpus()));
    let options = ["--texts", "none", "--chunks", "1", "--json"];
    let run = bench.index(&corpus, &options).ends(0);
    assert_eq!(run.json_lines()[0]["store_bytes"], 0);
    bench.run::<&str>("check", &[]).ends(0);
    let without_summaries = |mut answer: Value| {
        for hit in answer["hits"].as_array_mut().unwrap() {
            hit["summary"] = Value::Null;
        }
        without_times(answer)
    };
    let serving = Serving::start(&bench);
    let (status, body) = serving.get("/search?q=ice&k=3");
    assert!(status.contains("200"), "{status}");
    let served: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(served["hits"].as_array().unwrap().len(), 3);
    for hit in served["hits"].as_array().unwrap() {
        assert_eq!(hit["summary"], "");
    }
    assert_eq!(
        without_summaries(served),
        without_summaries(with_texts.answer("ice", &["-k", "3"]))
    );
    let (status, page) = serving.get("/?q=ice");
    assert!(
        status.contains("200") && page.contains("http://b.example/2"),
        "{status} {page}"
    );
    let (status, page) = serving.get("/document?url=http://b.example/2");
    assert!(
        status.contains("404") && page.contains("does not keep their texts"),
        "{status} {page}"
    );
}

#[test]
fn it_ends_in_order_when_told_to() {
    let bench = Bench::indexed(&small_corpus());
    for signal in ["TERM", "INT"] {
        let mut serving = Serving::start(&bench);
        let kill = format!("kill -{signal} {}", serving.child.id());
        assert!(
            Command::new("sh")
                .args(["-c", &kill])
                .status()
                .unwrap()
                .success()
        );
        assert!(serving.child.wait().unwrap().success(), "{signal}");
    }
}

#[test]
fn addresses_that_cannot_be_listened_on() {
    let bench = Bench::indexed(&small_corpus());
    let serving = Serving::start(&bench);
    let taken = bench.run("serve", &["--listen", &serving.address]);
    taken.fails_saying(&[&serving.address, "cannot listen"]);
    bench
        .run("serve", &["--listen", "nonsense"])
        .fails_saying(&["nonsense"]);
    let admin = ["--listen", "127.0.0.1:0", "--admin", &serving.admin];
    bench
        .run("serve", &admin)
        .fails_saying(&["--admin", &serving.admin]);
    let open = ["--listen", "127.0.0.1:0", "--admin", "0.0.0.0:0"];
    bench
        .run("serve", &open)
        .fails_saying(&["--admin-token-file"]);
    let short = bench.file("token", "too short\n");
    let short = ["--admin-token-file", short.to_str().unwrap()];
    bench
        .run("serve", &[&open[..], &short].concat())
        .fails_saying(&["9 bytes", "16"]);
    let run = bench.run("serve", &["--listen", "127.0.0.1:0", "--partitions", "9"]);
    run.fails_saying(&["--partitions"]);
    let mut check = command(["check".as_ref(), bench.directory().as_os_str()]);
    finished(check.output().unwrap()).ends(0);
}

#[test]
fn administration_may_be_off_or_demand_a_token() {
    let bench = Bench::indexed(&small_corpus());
    let off = Serving::start_with(&bench, &["--admin", "off"]);
    assert_eq!(off.admin, "");
    let file = bench.file("token", "a-token-of-some-length\n");
    let file = file.to_str().unwrap();
    let serving = Serving::start_with(&bench, &["--admin-token-file", file]);
    assert!(get(&serving.admin, "/metrics").0.contains("401"));
    shorttail(["top", &serving.admin, "--once"]).fails_saying(&["401", "--admin-token-file FILE"]);
    shorttail(["top", &serving.admin, "--once"]).fails_saying(&["401"]);
    shorttail([
        "top",
        &serving.admin,
        "--once",
        "--every",
        "0.2",
        "--admin-token-file",
        file,
    ])
    .ends(0);
}
