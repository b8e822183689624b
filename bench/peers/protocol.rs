//! Protocol between the driver and an engine, for all programs in Rust; `Protocol.java` is its twin.
//!
//! ```text
//! index CORPUS DIR --threads N --ram-mb M [--force-merge]     one line of JSON, see `Indexed`
//! serve DIR MODE QUERYFILE [--threads N]                      "READY n", then line by line:
//!     pass     →  P ns ns …                                   every query once; a number a query
//!     saturate MS CLIENTS  →  S answers ms                    clients without a pause, after MS / 4 of warm-up
//!     results  →  R \t count \t score \t url  (a query each), END      of the latest pass
//!     quit
//! mode := (and | or | phrase | auto) (K | K "c" | "count")    K best; and exact count; count only
//! ```
//!
//! `auto` is what an engine does with words when nothing is said, where it has such a thing, and `or` elsewhere.
//!
//! The time of a query runs from its text to its hits: analysis, query, search. Fetching the URL
//! of the best hit is outside. The overhead is two readings of the clock. With --threads an engine may share a query
//! among that many threads, the caller's included or not, as its own means of doing so is.

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Operator between the words of a query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    And,
    Or,
    Phrase,
}

/// Mode of all queries of a run.
#[derive(Clone, Copy)]
pub(crate) struct Mode {
    pub(crate) operator: Operator,
    /// Hits to find; 0: the count alone.
    pub(crate) k: usize,
    /// Whether the exact count is wanted.
    pub(crate) counts: bool,
    /// Whether an engine may choose which documents are found.
    #[allow(dead_code)] // not every engine does
    pub(crate) is_auto: bool,
}

const AUTO: &str = "auto";

impl Mode {
    fn parse(name: &str) -> Option<Mode> {
        let (operator, rest) = [
            ("and", Operator::And),
            ("or", Operator::Or),
            ("phrase", Operator::Phrase),
            (AUTO, Operator::Or),
        ]
        .into_iter()
        .find_map(|(prefix, operator)| Some((operator, name.strip_prefix(prefix)?)))?;
        let (k, counts) = match (rest, rest.strip_suffix('c')) {
            ("count", _) => (0, true),
            (_, Some(k)) => (k.parse().ok()?, true),
            (k, None) => (k.parse().ok()?, false),
        };
        Some(Mode {
            operator,
            k,
            counts,
            is_auto: name.starts_with(AUTO),
        })
    }
}

/// Result of one query.
pub(crate) struct Found<H> {
    /// The exact count if it is wanted, else the number of returned hits.
    pub(crate) count: u64,
    /// Score and hit of the best.
    pub(crate) best: Option<(f32, H)>,
}

/// An open index of some engine.
pub(crate) trait Searcher {
    type Hit: Copy;
    /// The measured span.
    fn search(&mut self, query: &str, mode: Mode) -> Result<Found<Self::Hit>>;
    fn url(&self, hit: Self::Hit) -> Result<String>;
    /// Another client of the same open index, for another thread; `None` where the engine's peer has one only.
    fn another(&self) -> Option<Self>
    where
        Self: Sized;
}

/// Options of `index`.
#[allow(dead_code)] // not every engine lets itself be told all of it
pub(crate) struct IndexArguments {
    pub(crate) corpus: PathBuf,
    pub(crate) directory: PathBuf,
    pub(crate) threads: usize,
    /// Memory for the buffers of each thread, in MB.
    pub(crate) ram_mb: usize,
    /// Whether segments are merged into one, or left as the engine makes them.
    pub(crate) force_merge: bool,
}

/// Report of `index`.
pub(crate) struct Indexed {
    pub(crate) version: String,
    pub(crate) documents: u64,
    pub(crate) wall_s: f64,
    pub(crate) segments: usize,
    /// Bytes that searches read: terms, postings, positions, lengths, URLs.
    pub(crate) index_bytes: u64,
    /// Bytes of other stored data (the documents' text).
    pub(crate) store_bytes: u64,
}

/// The command and its options.
pub(crate) enum Asked {
    Index(IndexArguments),
    Serve(Serving),
}

/// Options of `serve`.
pub(crate) struct Serving {
    pub(crate) directory: PathBuf,
    /// Threads that may share a query.
    pub(crate) threads: usize,
    mode: Mode,
    queries: Vec<String>,
}

/// Reads the command line.
pub(crate) fn asked() -> Result<Asked> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["index", corpus, directory, ref options @ ..] => Ok(Asked::Index(IndexArguments {
            corpus: corpus.into(),
            directory: directory.into(),
            threads: number(options, "--threads")?,
            ram_mb: number(options, "--ram-mb")?,
            force_merge: options.contains(&"--force-merge"),
        })),
        ["serve", directory, mode, queries, ref options @ ..] => Ok(Asked::Serve(Serving {
            directory: directory.into(),
            threads: match options {
                [] => 1,
                options => number(options, "--threads")?,
            },
            mode: Mode::parse(mode).ok_or_else(|| format!("there is no mode `{mode}`"))?,
            queries: std::fs::read_to_string(queries)?
                .lines()
                .map(str::to_owned)
                .collect(),
        })),
        _ => Err(
            "usage: index CORPUS DIR --threads N --ram-mb M [--force-merge] | \
                  serve DIR MODE QUERYFILE [--threads N]"
                .into(),
        ),
    }
}

fn number(options: &[&str], name: &str) -> Result<usize> {
    let at = options.iter().position(|option| *option == name);
    let value = at.and_then(|at| options.get(at + 1));
    Ok(value.ok_or_else(|| format!("{name} is missing"))?.parse()?)
}

impl Indexed {
    pub(crate) fn print(&self) {
        println!(
            "{{\"version\":{:?},\"documents\":{},\"wall_s\":{:.3},\"segments\":{},\
             \"index_bytes\":{},\"store_bytes\":{}}}",
            self.version,
            self.documents,
            self.wall_s,
            self.segments,
            self.index_bytes,
            self.store_bytes
        );
    }
}

/// Returns the size in bytes of all files under a folder.
#[allow(dead_code)] // not every engine needs it
pub(crate) fn directory_bytes(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += match metadata.is_dir() {
            true => directory_bytes(&entry.path())?,
            false => metadata.len(),
        };
    }
    Ok(bytes)
}

/// Answers the driver until it says `quit`.
pub(crate) fn serve<S: Searcher + Send>(searcher: &mut S, serving: &Serving) -> Result<()> {
    let queries = &serving.queries;
    let mut times_ns: Vec<u128> = Vec::with_capacity(queries.len());
    let mut found: Vec<Found<S::Hit>> = Vec::with_capacity(queries.len());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "READY {}", queries.len())?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        match line?.trim() {
            "pass" => {
                times_ns.clear();
                found.clear();
                for query in queries {
                    let started = Instant::now();
                    let result = searcher.search(std::hint::black_box(query), serving.mode)?;
                    times_ns.push(started.elapsed().as_nanos());
                    found.push(result);
                }
                write!(out, "P")?;
                for time_ns in &times_ns {
                    write!(out, " {time_ns}")?;
                }
                writeln!(out)?;
            }
            "results" => {
                for found in &found {
                    match found.best {
                        Some((score, hit)) => {
                            let url = searcher.url(hit)?;
                            writeln!(out, "R\t{}\t{score}\t{url}", found.count)?;
                        }
                        None => writeln!(out, "R\t{}\t\t", found.count)?,
                    }
                }
                writeln!(out, "END")?;
            }
            line if line.starts_with("saturate ") => {
                let numbers: Vec<&str> = line.split_whitespace().skip(1).collect();
                let [ms, clients] = numbers[..] else {
                    return Err("saturate takes milliseconds and clients".into());
                };
                let measured = Duration::from_millis(ms.parse()?);
                let (answers, elapsed) = saturate(searcher, serving, measured, clients.parse()?)?;
                writeln!(out, "S {answers} {}", elapsed.as_secs_f64() * 1e3)?;
            }
            "quit" => break,
            other => return Err(format!("there is no command `{other}`").into()),
        }
        out.flush()?;
    }
    Ok(())
}

/// Has clients send queries without a pause, each from another place of the list. Returns the answers of all clients and
/// the measured time; a warm-up of a quarter of it comes before. One client where the engine has no other.
fn saturate<S: Searcher + Send>(
    searcher: &S,
    serving: &Serving,
    measured: Duration,
    clients: usize,
) -> Result<(u64, Duration)> {
    let searchers: Vec<S> = (0..clients).map_while(|_| searcher.another()).collect();
    if searchers.is_empty() {
        return Ok((0, measured));
    }
    let (answers, start) = (AtomicU64::new(0), Barrier::new(searchers.len()));
    let count = serving.queries.len();
    std::thread::scope(|scope| {
        let clients = searchers
            .into_iter()
            .enumerate()
            .map(|(client, mut searcher)| {
                let (answers, start, each) = (&answers, &start, clients);
                scope.spawn(move || -> std::result::Result<(), String> {
                    start.wait();
                    let began = Instant::now();
                    let mut at = client * count / each;
                    while began.elapsed() < measured + measured / 4 {
                        let query = &serving.queries[at % count];
                        let result = searcher.search(std::hint::black_box(query), serving.mode);
                        result.map_err(|error| error.to_string())?;
                        let elapsed = began.elapsed();
                        if elapsed > measured / 4 && elapsed <= measured + measured / 4 {
                            answers.fetch_add(1, Ordering::Relaxed);
                        }
                        at += 1;
                    }
                    Ok(())
                })
            });
        let clients: Vec<_> = clients.collect();
        for client in clients {
            client.join().map_err(|_| "a client panicked")??;
        }
        Ok::<(), Box<dyn Error>>(())
    })?;
    Ok((answers.into_inner(), measured))
}
