//! Input that `index` skips: links out of a folder, special files, and bytes beyond a limit.

use crate::support::{Bench, Run, command, document, finished, json_lines, small_corpus, urls};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than any of these runs takes, on a machine that has other work too.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `index` with `arguments` into the bench's directory. It must end by itself.
#[track_caller]
fn index(bench: &Bench, arguments: &[&str]) -> Run {
    let directory = bench.directory();
    let into = ["--into", directory.to_str().unwrap()];
    let mut child = command([&["index"], arguments, &into].concat())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("still running: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    finished(child.wait_with_output().unwrap())
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A folder with two documents, one of them only by a link to a file outside.
fn folder_with_a_link(bench: &Bench) -> String {
    std::fs::create_dir(bench.path("notes")).unwrap();
    bench.file("notes/own.txt", "own words");
    bench.file("secret.txt", "secret words");
    symlink("../secret.txt", bench.path("notes/notes.txt")).unwrap();
    bench.path("notes").to_str().unwrap().to_owned()
}

#[test]
fn a_link_out_of_a_folder_is_named_and_not_served() {
    let bench = Bench::new();
    let folder = folder_with_a_link(&bench);
    let run = index(&bench, &[&folder]).ends(0);
    assert!(run.stdout.contains("documents  1\n"), "{run:#?}");
    assert!(run.stdout.contains("passed over 1\n"), "{run:#?}");
    for part in ["notes.txt: passed over: ", "secret.txt", "--follow-links"] {
        assert!(run.stderr.contains(part), "{part:?} is missing: {run:#?}");
    }
    assert_eq!(bench.answer("secret", &[])["total"]["value"], 0);

    let summary = index(&bench, &[&folder, "--follow-links", "--json"]).ends(0);
    let summary = summary.json_lines().pop().unwrap();
    assert_eq!(
        (&summary["documents"], &summary["passed_over"]),
        (&2.into(), &0.into())
    );
    let answer = bench.answer("secret", &[]);
    assert_eq!(urls(&answer).len(), 1);
    assert!(urls(&answer)[0].ends_with("/notes/notes.txt"), "{answer}");
}

#[test]
fn strict_is_about_documents_and_not_about_links() {
    let bench = Bench::new();
    let folder = folder_with_a_link(&bench);
    index(&bench, &[&folder, "--strict"]).ends(0);
}

#[test]
fn a_fifo_and_a_device_do_not_keep_the_run_waiting() {
    let bench = Bench::new();
    let good = bench.file("good.jsonl", json_lines(&small_corpus()));
    let (pipe, odd) = (bench.path("pipe.jsonl"), bench.path("odd"));
    fifo(&pipe);
    std::fs::create_dir(&odd).unwrap();
    fifo(&odd.join("pipe.txt"));
    let sources = [&pipe, &odd, &good].map(|path| path.to_str().unwrap());
    let run = index(&bench, &[&sources[..], &["/dev/zero"]].concat()).ends(0);
    assert!(run.stdout.contains("documents  6\n"), "{run:#?}");
    assert!(run.stdout.contains("passed over 3\n"), "{run:#?}");
    for part in [
        "pipe.jsonl: passed over: a FIFO",
        "odd/pipe.txt",
        "/dev/zero: passed over",
    ] {
        assert!(run.stderr.contains(part), "{part:?} is missing: {run:#?}");
    }
    // Alone, it makes no index.
    let alone = Bench::new();
    let pipe = alone.path("pipe.jsonl");
    fifo(&pipe);
    index(&alone, &[pipe.to_str().unwrap()]).fails_saying(&["nothing was committed"]);
}

#[test]
fn standard_input_may_be_a_fifo() {
    let bench = Bench::new();
    let (pipe, directory) = (bench.path("pipe"), bench.directory());
    fifo(&pipe);
    let lines = json_lines(&small_corpus());
    let writer = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::write(pipe, lines).unwrap())
    };
    let input = std::fs::File::open(&pipe).unwrap();
    let run = command(["index", "-", "--into", directory.to_str().unwrap()])
        .stdin(Stdio::from(input))
        .output()
        .unwrap();
    writer.join().unwrap();
    let run = finished(run).ends(0);
    assert!(run.stdout.contains("documents  6\n"), "{run:#?}");
}

#[cfg(target_os = "linux")]
#[test]
fn files_of_the_kernel_are_passed_over_and_the_run_ends() {
    let bench = Bench::new();
    let folder = folder_with_a_link(&bench);
    symlink("/proc/self", bench.path("notes/self")).unwrap();
    let run = index(&bench, &[&folder, "/proc", "--follow-links"]).ends(0);
    assert!(run.stdout.contains("documents  2\n"), "{run:#?}");
    assert!(run.stdout.contains("passed over 2\n"), "{run:#?}");
    assert!(run.stderr.contains("file system proc"), "{run:#?}");
}

#[test]
fn a_file_beyond_its_limit_keeps_what_was_read_before() {
    let bench = Bench::new();
    let many: Vec<_> = (0..100)
        .map(|n| document(&format!("http://a.example/{n}"), "Title", "the body of it"))
        .collect();
    let lines = json_lines(&many);
    let half = (lines.len() / 2).to_string();
    let long = bench.file("long.jsonl", lines);
    let short = bench.file("short.jsonl", json_lines(&small_corpus()));
    let sources = [long.to_str().unwrap(), short.to_str().unwrap()];
    let limit = ["--file-bytes-max", &half, "--json"];
    let run = index(&bench, &[&sources[..], &limit].concat()).ends(0);
    let summary = run.json_lines().pop().unwrap();
    let documents = summary["documents"].as_u64().unwrap();
    assert!((50..60).contains(&documents), "{summary}");
    assert_eq!(summary["bad"], 1, "{summary}");
    assert!(run.stderr.contains("long.jsonl:5"), "{run:#?}");
    assert!(run.stderr.contains("--file-size-max"), "{run:#?}");
    // The next file is read, whatever became of this one.
    assert_eq!(bench.answer("skating", &[])["total"]["value"], 1);

    let late = ["--file-seconds-max", "0"];
    let run = index(&bench, &[&sources[..], &late].concat());
    run.fails_saying(&["no good document"]);
    let strict = [&sources[..], &limit, &["--strict"]].concat();
    index(&bench, &strict).fails_saying(&["long.jsonl:5", "--file-size-max"]);
}

#[test]
fn a_long_read_says_where_it_is() {
    let bench = Bench::new();
    let directory = bench.directory();
    let mut child = command(["index", "-", "--into", directory.to_str().unwrap()])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let said = BufReader::new(child.stderr.take().unwrap());
    // Lines without a document, until it has been said where they are.
    let feeding = std::thread::spawn(move || while input.write_all(&[b'\n'; 1 << 16]).is_ok() {});
    let line = said.lines().next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    feeding.join().unwrap();
    assert!(line.starts_with("indexing: 0 documents"), "{line}");
    assert!(line.contains(", at - line "), "{line}");
}

#[test]
fn a_limit_on_the_length_of_files_is_an_error_and_not_an_end() {
    let bench = Bench::indexed(&small_corpus());
    let many: Vec<_> = (0..3000)
        .map(|n| {
            document(
                &format!("http://m.example/{n}"),
                "",
                &format!("word{n} ").repeat(20),
            )
        })
        .collect();
    let many = bench.file("many.jsonl", json_lines(&many));
    // In units of 512 bytes: enough for the manifest, and too little for the texts.
    let run = Command::new("sh")
        .args(["-c", "ulimit -f 64; exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_shorttail"))
        .arg("index")
        .args([
            many.as_os_str(),
            "--into".as_ref(),
            bench.directory().as_os_str(),
        ])
        .output()
        .unwrap();
    finished(run).fails_saying(&["cannot write"]);
    assert_eq!(bench.answer("skating", &[])["total"]["value"], 1);
}
