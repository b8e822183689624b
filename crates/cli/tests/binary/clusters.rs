//! Clusters of processes: same answers as one process, restarts, and an end with their supervisor.

use crate::serving::{Serving, get, without_times};
use crate::support::{Bench, command, finished, small_corpus};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A server without HTTP, ended when dropped.
pub(crate) struct Part(pub(crate) Child, pub(crate) String);

impl Part {
    pub(crate) fn start(arguments: &[&str]) -> Part {
        let mut child = command(arguments).stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on ");
        let address = address.expect("it says where it listens").to_owned();
        Part(child, address)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn found(serving: &Serving) -> Value {
    let (status, body) = serving.get("/search?q=ice&k=3");
    assert!(status.contains("200"), "{status} {body}");
    without_times(serde_json::from_str(&body).unwrap())
}

/// The ids of the children of a process.
#[cfg(target_os = "linux")]
fn children_of(parent: u32) -> Vec<u32> {
    let stat = |id: u32| std::fs::read_to_string(format!("/proc/{id}/stat")).ok();
    let is_child = |id: &u32| {
        // After the name in brackets: state, then the parent.
        let stat = stat(*id).unwrap_or_default();
        let rest = stat
            .rsplit_once(')')
            .map(|(_, rest)| rest.to_owned())
            .unwrap_or_default();
        let mut fields = rest.split_whitespace();
        fields.next() != Some("Z") && fields.next() == Some(&parent.to_string())
    };
    let processes = std::fs::read_dir("/proc").unwrap();
    let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(is_child).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn processes_answer_come_back_and_end() {
    let bench = Bench::indexed_in_chunks(&small_corpus(), 2);
    let expected = without_times(bench.answer("ice", &["-k", "3"]));
    let mut serving = Serving::start_with(&bench, &["--index-servers", "2", "--handlers", "1"]);
    assert_eq!(found(&serving), expected);
    let metrics = serving.told(3);
    assert!(metrics[0].contains("index server of chunks 0-0: metrics at http://"));
    assert!(metrics[2].contains("document server: metrics at http://"));
    for line in &metrics {
        let (_, url) = line.split_once("http://").unwrap();
        let address = url.trim_end().trim_end_matches("/metrics");
        let (status, body) = get(address, "/metrics");
        assert!(status.contains("200"), "{status}");
        assert!(body.contains("shorttail_partition_seconds"), "{body}");
    }

    let children = children_of(serving.id());
    assert_eq!(children.len(), 3, "two index servers and a document server");
    for child in &children {
        let killed = std::process::Command::new("kill")
            .args(["-KILL", &child.to_string()])
            .status();
        assert!(killed.unwrap().success());
    }
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let (status, body) = serving.get("/search?q=ice&k=3&partial=0");
        if status.contains("200") {
            assert_eq!(
                without_times(serde_json::from_str(&body).unwrap()),
                expected
            );
            break;
        }
        assert!(
            status.contains("503") || status.contains("504"),
            "{status} {body}"
        );
        assert!(
            Instant::now() < until,
            "they did not come back: {status} {body}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }

    // However the supervisor ends, its processes do too.
    let children = children_of(serving.id());
    assert_eq!(children.len(), 3);
    drop(serving);
    let until = Instant::now() + Duration::from_secs(20);
    while children.iter().any(|id| is_running(*id)) {
        assert!(
            Instant::now() < until,
            "{children:?} outlive their supervisor"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(target_os = "linux")]
fn is_running(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

#[test]
fn a_cluster_started_by_hand() {
    let bench = Bench::indexed_in_chunks(&small_corpus(), 2);
    let directory = bench.directory();
    let directory = directory.to_str().unwrap();
    let local = ["--listen", "127.0.0.1:0"];
    let index_server = |chunks| {
        let arguments = [
            "index-server",
            directory,
            "--chunks",
            chunks,
            "--handlers",
            "1",
        ];
        Part::start(&[&arguments[..], &local].concat())
    };
    let (low, high) = (index_server("0"), index_server("1"));
    let texts = Part::start(&[&["document-server", directory], &local[..]].concat());
    let server = |kind: &str, part: &Part, chunks: &str| {
        format!(
            "[[{kind}]]\naddress = \"{}\"\nchunks = \"{chunks}\"\n",
            part.1
        )
    };
    let file = bench.file(
        "cluster.toml",
        [
            server("index-server", &low, "0"),
            server("index-server", &high, "1"),
            server("document-server", &texts, "0-1"),
        ]
        .concat(),
    );
    let file = file.to_str().unwrap();
    let serving = Serving::of(command(
        [&["front-end", "--cluster", file], &local[..]].concat(),
    ));
    assert_eq!(
        found(&serving),
        without_times(bench.answer("ice", &["-k", "3"]))
    );

    let swapped = bench.file(
        "swapped.toml",
        [
            server("index-server", &low, "1"),
            server("index-server", &high, "0"),
            server("document-server", &texts, "0-1"),
        ]
        .concat(),
    );
    let swapped = swapped.to_str().unwrap();
    let mut refused = command([&["front-end", "--cluster", swapped], &local[..]].concat());
    finished(refused.output().unwrap()).fails_saying(&["serves chunks", "--chunks"]);
}

#[test]
fn chunks_without_a_server_are_named() {
    let bench = Bench::new();
    let file = bench.file(
        "cluster.toml",
        "chunks = 4\n[[index-server]]\naddress = \"127.0.0.1:1\"\nchunks = \"0-2\"\n\
         [[document-server]]\naddress = \"127.0.0.1:1\"\nchunks = \"0-3\"\n",
    );
    let file = file.to_str().unwrap();
    let mut refused = command(["front-end", "--cluster", file, "--listen", "127.0.0.1:0"]);
    finished(refused.output().unwrap())
        .fails_saying(&["cluster.toml", "chunk 3 has no [[index-server]]"]);
}

#[test]
fn chunks_that_the_index_lacks_are_refused() {
    let bench = Bench::indexed_in_chunks(&small_corpus(), 2);
    for kind in ["index-server", "document-server"] {
        let run = bench.run(kind, &["--chunks", "0-7", "--listen", "127.0.0.1:0"]);
        run.fails_saying(&["--chunks", "chunk 7"]);
    }
}
