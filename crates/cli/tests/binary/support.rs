//! Test bench: runs of the program, folders, documents and golden files.

use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Exit code and output of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Checks that the run ended with `code`.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Run {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Checks that the run failed with one line that contains all of `parts`.
    #[track_caller]
    pub(crate) fn fails_saying(self, parts: &[&str]) -> Run {
        let run = self.ends(1);
        let last = run.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with("error: "), "{run:#?}");
        for part in parts {
            assert!(last.contains(part), "{part:?} is missing: {run:#?}");
        }
        run
    }

    /// Every line of the output as JSON.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let lines = self.stdout.lines().map(serde_json::from_str);
        lines
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// The program, not yet started.
pub(crate) fn command<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shorttail"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // The output must not depend on the width of a terminal or on user settings.
    command
        .env_remove("SHORTTAIL_KERNELS")
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE");
    command
}

/// Runs the program to its end. It never panics and is never killed.
#[track_caller]
pub(crate) fn shorttail<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Run {
    finished(command(arguments).output().unwrap())
}

/// Runs the program to its end, with bytes on its standard input.
#[track_caller]
pub(crate) fn shorttail_reading<A: AsRef<OsStr>>(
    arguments: impl IntoIterator<Item = A>,
    input: &[u8],
) -> Run {
    let mut child = command(arguments).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    finished(child.wait_with_output().unwrap())
}

#[track_caller]
pub(crate) fn finished(output: std::process::Output) -> Run {
    let run = Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(!run.stderr.contains("panicked"), "{run:#?}");
    assert_ne!(run.code, -1, "killed: {run:#?}");
    run
}

/// Program that is ended with the test.
pub(crate) struct Ended(pub(crate) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Folder of a test, with documents and an index.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    /// Returns an empty folder.
    pub(crate) fn new() -> Bench {
        Bench {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Returns a folder with an index of `documents` in one chunk.
    #[track_caller]
    pub(crate) fn indexed(documents: &[Value]) -> Bench {
        Bench::indexed_in_chunks(documents, 1)
    }

    /// Returns a folder with an index of `documents` in `chunks` chunks, each a partition of its own.
    #[track_caller]
    pub(crate) fn indexed_in_chunks(documents: &[Value], chunks: u32) -> Bench {
        let bench = Bench::new();
        let corpus = bench.file("corpus.jsonl", json_lines(documents));
        let chunks = chunks.to_string();
        let layout = ["--chunks", &chunks, "--partitions", &chunks];
        bench.index(&corpus, &layout).ends(0);
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The directory of the index.
    pub(crate) fn directory(&self) -> PathBuf {
        self.path("index")
    }

    /// A file with `content`.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Runs `index` into the directory, with one thread.
    #[track_caller]
    pub(crate) fn index(&self, source: &Path, options: &[&str]) -> Run {
        let directory = self.directory();
        let fixed = [OsStr::new("index"), directory.as_ref(), source.as_os_str()];
        shorttail(fixed.into_iter().chain(options.iter().map(OsStr::new)))
    }

    /// Runs a subcommand that takes the directory.
    #[track_caller]
    pub(crate) fn run<A: AsRef<OsStr>>(&self, subcommand: &str, arguments: &[A]) -> Run {
        let directory = self.directory();
        let fixed = [OsStr::new(subcommand), directory.as_ref()];
        shorttail(fixed.into_iter().chain(arguments.iter().map(AsRef::as_ref)))
    }

    /// The answer of `search --json`.
    #[track_caller]
    pub(crate) fn answer(&self, query: &str, options: &[&str]) -> Value {
        let run = self
            .run("search", &[&["--json"], options, &["--", query]].concat())
            .ends(0);
        let mut lines = run.json_lines();
        assert_eq!(lines.len(), 1, "{run:#?}");
        lines.remove(0)
    }
}

/// Documents as JSON lines.
pub(crate) fn json_lines(documents: &[Value]) -> String {
    documents
        .iter()
        .map(|document| format!("{document}\n"))
        .collect()
}

/// A document.
pub(crate) fn document(url: &str, title: &str, body: &str) -> Value {
    json!({"url": url, "title": title, "body": body})
}

/// A few documents on three sites.
pub(crate) fn small_corpus() -> Vec<Value> {
    let mut documents = vec![
        document(
            "http://a.example/1",
            "Ice cream",
            "How to make ice cream of milk & sugar at home.",
        ),
        document(
            "http://a.example/2",
            "Milk",
            "Milk keeps for a week. Ice keeps it longer.",
        ),
        document("http://a.example/3", "More ice", "Ice, ice and more ice."),
        document(
            "http://b.example/1",
            "Sugar",
            "Sugar is sweet; cream is not.",
        ),
        document(
            "http://b.example/2",
            "Skating",
            "Thin ice is no place for skating.",
        ),
        document(
            "http://c.example/1",
            "Tea <b>time</b>",
            "Tea with milk, or without.",
        ),
    ];
    documents[3]["id"] = json!("sugar-page");
    documents
}

/// The URLs of an answer's hits.
pub(crate) fn urls(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["url"].as_str().unwrap())
        .collect()
}

/// Compares with a golden file; `UPDATE_GOLDEN=1` rewrites it.
#[track_caller]
pub(crate) fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        actual, expected,
        "{name}: run with UPDATE_GOLDEN=1 and review the difference"
    );
}
