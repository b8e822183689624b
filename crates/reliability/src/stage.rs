//! Test environment: a synthetic collection, indexed in a temporary folder, and servers on it.

use crate::client::{get, search_path, without_phases};
use crate::process::{Process, program};
use anyhow::{Context, bail};
use document::Document;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use testkit::MadeUp;

/// Time after which front-ends know of a change; they poll their servers four times a second.
pub(crate) const NOTICED: Duration = Duration::from_millis(800);

/// An index on disk, deleted when dropped.
#[derive(Debug)]
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) chunks_count: u32,
    pub(crate) documents_count: usize,
}

impl Stage {
    /// Generates documents and indexes them.
    pub(crate) async fn set(documents_count: usize, chunks_count: u32) -> anyhow::Result<Stage> {
        let made_up = MadeUp::default();
        Stage::of(
            made_up.documents(documents_count),
            documents_count,
            chunks_count,
        )
        .await
    }

    /// Indexes documents.
    pub(crate) async fn of(
        documents: impl Iterator<Item = Document>,
        documents_count: usize,
        chunks_count: u32,
    ) -> anyhow::Result<Stage> {
        Stage::of_index(documents, documents_count, chunks_count, &[]).await
    }

    /// Indexes documents with further options of `shorttail index`.
    pub(crate) async fn of_index(
        documents: impl Iterator<Item = Document>,
        documents_count: usize,
        chunks_count: u32,
        more: &[&str],
    ) -> anyhow::Result<Stage> {
        let stage = Stage {
            folder: TempDir::with_prefix("shorttail-reliability-")?,
            chunks_count,
            documents_count,
        };
        stage.write(documents, more).await?;
        Ok(stage)
    }

    /// Adds documents.
    pub(crate) async fn add(
        &self,
        documents: impl Iterator<Item = Document>,
    ) -> anyhow::Result<()> {
        self.write(documents, &[]).await
    }

    async fn write(
        &self,
        documents: impl Iterator<Item = Document>,
        more: &[&str],
    ) -> anyhow::Result<()> {
        let lines = self.folder.path().join("documents.jsonl");
        let mut file = BufWriter::new(std::fs::File::create(&lines)?);
        for document in documents {
            let mut line = document.fields;
            line.extend([
                ("url".to_owned(), document.url.into()),
                ("title".to_owned(), document.title.into()),
                ("body".to_owned(), document.body.into()),
            ]);
            writeln!(file, "{}", json::Value::Object(line))?;
        }
        file.into_inner()?.sync_data().ok();
        let count = self.chunks_count.to_string();
        let indexed = tokio::process::Command::new(program()?)
            .arg("index")
            .arg(self.index())
            .arg(&lines)
            .args(more)
            .args(["--chunks", &count, "--partitions", &count, "--json"])
            .kill_on_drop(true)
            .output()
            .await?;
        if !indexed.status.success() {
            bail!(
                "indexing failed: {}",
                String::from_utf8_lossy(&indexed.stderr)
            );
        }
        Ok(())
    }

    /// Returns the folder of the index.
    pub(crate) fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// Starts one process with all roles.
    pub(crate) async fn serve(&self, more: &[&str]) -> anyhow::Result<Process> {
        let index = self.index();
        let index = index.to_string_lossy();
        Process::start(&[&["serve", &index], more].concat()).await
    }

    /// Runs a subcommand on the index to its end. Returns whether it succeeded, and its output.
    pub(crate) async fn command(
        &self,
        subcommand: &str,
        more: &[&str],
    ) -> anyhow::Result<(bool, String)> {
        let done = tokio::process::Command::new(program()?)
            .arg(subcommand)
            .arg(self.index())
            .args(more)
            .kill_on_drop(true)
            .output()
            .await?;
        let told = [done.stdout, done.stderr].concat();
        Ok((
            done.status.success(),
            String::from_utf8_lossy(&told).into_owned(),
        ))
    }

    /// Copies the index to a folder of its own.
    pub(crate) fn copy(&self, name: &str) -> anyhow::Result<PathBuf> {
        let to = self.folder.path().join(name);
        std::fs::create_dir(&to)?;
        for file in std::fs::read_dir(self.index())? {
            let file = file?;
            std::fs::copy(file.path(), to.join(file.file_name()))?;
        }
        Ok(to)
    }

    /// Starts a server of some chunks; `role` is `index-server` or `document-server`.
    pub(crate) async fn server(&self, role: &str, chunks: &str) -> anyhow::Result<Process> {
        self.server_of(&self.index(), role, chunks, false).await
    }

    /// Starts a server of some chunks on a copy of the index, with a metrics address of its own where requested.
    pub(crate) async fn server_of(
        &self,
        index: &Path,
        role: &str,
        chunks: &str,
        with_metrics: bool,
    ) -> anyhow::Result<Process> {
        let mut arguments = vec![role, index.to_str().context("an odd path")?];
        arguments.extend(["--chunks", chunks]);
        if role == "index-server" {
            arguments.extend(["--handlers", "2"]);
        }
        if with_metrics {
            arguments.extend(["--metrics", "127.0.0.1:0"]);
        }
        Process::start(&arguments).await
    }

    /// Starts a front-end for the given servers, each with its chunks and address.
    pub(crate) async fn front_end(
        &self,
        index_servers: &[(String, SocketAddr)],
        document_servers: &[(String, SocketAddr)],
        more: &[&str],
    ) -> anyhow::Result<Process> {
        let mut toml = format!("chunks = {}\n", self.chunks_count);
        for (kind, servers) in [
            ("index-server", index_servers),
            ("document-server", document_servers),
        ] {
            for (chunks, address) in servers {
                // Writing to a String cannot fail.
                let _ = write!(
                    toml,
                    "\n[[{kind}]]\naddress = \"{address}\"\nchunks = \"{chunks}\"\n"
                );
            }
        }
        let file = self.folder.path().join("cluster.toml");
        std::fs::write(&file, toml)?;
        let file = file.to_str().context("an odd path")?;
        Process::start(&[&["front-end", "--cluster", file], more].concat()).await
    }

    /// Splits the chunks into `count` parts, as equal as possible.
    pub(crate) fn parts(&self, count: u32) -> Vec<String> {
        let cut = |part: u32| part * self.chunks_count / count;
        (0..count)
            .map(|part| format!("{}-{}", cut(part), cut(part + 1) - 1))
            .collect()
    }

    /// Returns the range of all chunks.
    pub(crate) fn all_chunks(&self) -> String {
        format!("0-{}", self.chunks_count - 1)
    }
}

/// Returns the bytes of all files in a folder.
pub(crate) fn bytes_in(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        // A file may be removed meanwhile.
        bytes += entry?.metadata().map_or(0, |metadata| metadata.len());
    }
    Ok(bytes)
}

/// A path and its right answer.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) path: String,
    pub(crate) status: u16,
    /// The right body, without the times of phases.
    pub(crate) expected: Vec<u8>,
}

/// Asks the one-process server for the right answers of `paths`.
pub(crate) async fn questions(
    one_process: SocketAddr,
    paths: impl IntoIterator<Item = String>,
) -> anyhow::Result<Vec<Question>> {
    let mut questions = Vec::new();
    for path in paths {
        let answered = get(one_process, &path).await?;
        questions.push(Question {
            path,
            status: answered.status,
            expected: without_phases(&answered.body),
        });
    }
    Ok(questions)
}

/// Returns ordinary queries of the collection, with a few parameters in turn.
pub(crate) fn ordinary_paths(count: usize) -> Vec<String> {
    const PARAMETERS: [&str; 4] = [
        "&per_site=2",
        "&any=1&per_site=2",
        "&k=5",
        "&start=3&k=7&per_site=2",
    ];
    let made_up = MadeUp::default();
    let queries = made_up.queries(count);
    queries
        .zip(PARAMETERS.iter().cycle())
        .map(|(query, parameters)| search_path(&query, parameters))
        .collect()
}

/// Returns the most frequent words of the synthetic collection, most frequent first.
pub(crate) fn frequent_words(count: usize) -> Vec<String> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for document in MadeUp::default().documents(500) {
        for word in document.body.split(' ') {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
    }
    let counts = counts.into_iter().map(|(word, count)| (count, word));
    let mut words: Vec<(u64, String)> = counts.collect();
    words.sort_unstable_by(|one, other| other.cmp(one));
    words
        .into_iter()
        .map(|(_, word)| word)
        .take(count)
        .collect()
}

/// Returns queries that are slow to search: `phrases_count` loose phrases of frequent words in each. One takes some
/// dozen milliseconds in the largest collection here.
pub(crate) fn slow_queries(count: usize, phrases_count: usize) -> Vec<String> {
    /// Number of words; nearly any two of them occur together in hundreds of documents.
    const WORDS: usize = 24;
    let words = frequent_words(WORDS);
    let pairs = (0..WORDS).flat_map(|first| (first + 1..WORDS).map(move |second| (first, second)));
    let phrases: Vec<String> = pairs
        .map(|(first, second)| format!("\"{} {}\"~64", words[first], words[second]))
        .collect();
    // A step that shares no factor with the number of pairs visits all of them.
    let phrase = |number: usize| phrases[number * 37 % phrases.len()].as_str();
    let query = |from: usize| {
        let some: Vec<&str> = (from..from + phrases_count).map(phrase).collect();
        some.join(" ")
    };
    (0..count)
        .map(|number| query(number * phrases_count))
        .collect()
}

/// Returns the slow queries in each position of a clause: on its own, excluded, required, and as an alternative of an
/// alternative.
pub(crate) fn heavy_queries(count: usize, phrases_count: usize) -> Vec<String> {
    let words = frequent_words(4);
    let [first, second, ..] = words.as_slice() else {
        return Vec::new();
    };
    let placed = |(number, slow): (usize, String)| match number % 4 {
        0 => slow,
        1 => format!("{first} -({slow})"),
        2 => format!("{first} +({slow} {}*)", &second[..1]),
        _ => format!("({first} AND ({slow})) OR ({second} AND ({slow}))"),
    };
    slow_queries(count, phrases_count)
        .into_iter()
        .enumerate()
        .map(placed)
        .collect()
}
