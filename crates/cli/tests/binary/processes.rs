//! Metrics, preloading and logs of server processes.

use crate::support::{Bench, command, shorttail, small_corpus};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr};

/// A process that listens, until this is dropped.
struct Process {
    child: Child,
    listens: String,
    /// Address of its metrics; of a front-end, its admin address.
    metrics: String,
}

impl Process {
    fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Process {
        let mut child = command(arguments)
            .args(["--listen", "127.0.0.1:0"])
            .envs(environment.iter().copied())
            .spawn()
            .unwrap();
        let mut metrics = String::new();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let listens = lines.map_while(Result::ok).find_map(|line| {
            for said in ["metrics at http://", "admin on http://"] {
                if let Some(address) = line.strip_prefix(said) {
                    metrics = address.trim_end_matches("/metrics").to_owned();
                }
            }
            let (_, address) = line.split_once("listening on ")?;
            Some(address.trim_start_matches("http://").to_owned())
        });
        Process {
            child,
            listens: listens.expect("a process that listens"),
            metrics,
        }
    }

    fn of_index(bench: &Bench, role: &str, options: &[&str]) -> Process {
        let directory = bench.directory();
        let arguments = [&[role, directory.to_str().unwrap()], options].concat();
        Process::start(&arguments, &[])
    }

    /// Stops the process. Returns its standard error.
    fn end(mut self) -> String {
        let stderr: Option<ChildStderr> = self.child.stderr.take();
        let _ = self.child.kill();
        let mut written = String::new();
        stderr.unwrap().read_to_string(&mut written).unwrap();
        written
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn every_server_of_a_cluster_can_be_watched() {
    let bench = Bench::indexed(&small_corpus());
    let metrics = ["--metrics", "127.0.0.1:0"];
    let touch = [&metrics[..], &["--preload", "touch"]].concat();
    let index_server = Process::of_index(&bench, "index-server", &touch);
    let document_server = Process::of_index(&bench, "document-server", &touch);
    let mut file = String::new();
    for (kind, server) in [
        ("index-server", &index_server),
        ("document-server", &document_server),
    ] {
        let address = &server.listens;
        let last = get(&server.metrics, "/metrics")
            .lines()
            .find_map(|line| line.strip_prefix("shorttail_chunks ")?.parse::<u32>().ok())
            .unwrap()
            - 1;
        file.push_str(&format!(
            "[[{kind}]]\naddress = \"{address}\"\nchunks = \"0-{last}\"\n"
        ));
    }
    let file = bench.file("cluster.toml", file);
    let front_end = Process::start(&["front-end", "--cluster", file.to_str().unwrap()], &[]);
    let answer = get(&front_end.listens, "/search?q=ice");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    for (server, phase) in [
        (&front_end.metrics, "call"),
        (&index_server.metrics, "search"),
        (&document_server.metrics, "summaries"),
    ] {
        let health = get(server, "/healthz");
        assert!(health.starts_with("HTTP/1.1 200"), "{health}");
        let text = get(server, "/metrics");
        let timed = text.lines().any(|line| {
            line.starts_with("shorttail_partition_seconds_count{")
                && line.contains(&format!("phase=\"{phase}\""))
                && line.ends_with(" 1")
        });
        assert!(timed, "{phase} is not in {text}");
        let run = shorttail(["top", server, "--once", "--json"]).ends(0);
        let view = &run.json_lines()[0];
        assert_eq!(view["partitions"].as_array().unwrap().len(), 1, "{view}");
        assert_eq!(view["malformed_count"], 0, "{view}");
        assert!(view["documents"].as_f64().unwrap() > 0.0, "{view}");
    }
    for server in [index_server, document_server] {
        let written = server.end();
        let report = written.lines().next().unwrap_or_default();
        assert!(
            report.starts_with("generation 1: preload touch: "),
            "{written}"
        );
        assert!(
            !report.contains(": 0.0 MB of 0.0 MB in 0 files"),
            "{written}"
        );
    }
}

#[test]
fn what_goes_wrong_is_logged_by_number_and_without_words() {
    let bench = Bench::indexed(&small_corpus());
    let directory = bench.directory();
    let log = [("SHORTTAIL_LOG", "warn,serve=debug")];
    let server = Process::start(&["serve", directory.to_str().unwrap()], &log);
    let late = get(&server.listens, "/search?q=secret&timeout=1ms");
    assert!(late.starts_with("HTTP/1.1 504"), "{late}");
    let wrong = get(&server.listens, "/search?q=secret&k=many");
    assert!(wrong.starts_with("HTTP/1.1 400"), "{wrong}");
    let written = server.end();
    let lines = |part: &str| written.lines().filter(|line| line.contains(part)).count();
    assert_eq!(lines("no answer in time query=1 "), 1, "{written}");
    assert_eq!(lines("refused: not understood parameter=k"), 1, "{written}");
    assert!(!written.contains("secret"), "{written}");
}
