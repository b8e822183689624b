//! `shorttail sync`: an index kept equal to folders.

use super::create_target;
use super::index::{json_summary, text_summary};
use super::reading::ReadingArguments;
use crate::indexing::{IndexRun, Indexed, MEMORY, Selection, Verdict};
use crate::languages::AnalyzerChoice;
use anyhow::{Context, bail};
use console::failure::note;
use console::figures::{count, counted};
use console::interrupt::Interrupt;
use console::opened::cores_count;
use console::terminal::print;
use corpus::{Progress, Source, path_of_file_url};
use document::Document;
use index::{BuildOptions, DocId, Index, IndexError, StoredDocument};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use units::{Time, TimeUnit, Times};
use vfs::SharedStorage;

const EXAMPLES: &str = "\
New and changed files are indexed, documents of files that are gone are deleted, the rest is left as
it is. Documents of other folders and sources stay. A file that is there and cannot be read keeps
the document that it had. An empty folder is an error, since it may be one that is not mounted.

EXAMPLES:
    shorttail sync my-index handbook/ notes/
        Make the index equal to two folders; from cron, every night
    shorttail sync my-index handbook/ --watch --every 10s
        Look again every ten seconds, until Ctrl-C";

/// Times between two looks.
const EVERY: Times = Times::ANY.plain(TimeUnit::Seconds).within(
    Time::new(1.0, TimeUnit::Seconds),
    Time::new(24.0, TimeUnit::Hours),
);

/// Make an index equal to folders: new, changed and deleted files
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SyncArguments {
    /// The directory of the index, new or existing
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// Folders of files: texts, pages, office documents, PDF, tables, JSON, manual pages
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// The index is named by its option, and may hold other files
    #[arg(long, hide = true)]
    named: bool,
    /// Go on: look again and again, until Ctrl-C or SIGTERM
    #[arg(long)]
    watch: bool,
    /// Time between two looks
    #[arg(long, value_name = "TIME", default_value = "5s", requires = "watch", value_parser = EVERY.durations())]
    every: Duration,
    /// Upper limit on memory; at least 16MiB
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = MEMORY.bytes())]
    memory: u64,
    #[command(flatten)]
    reading: ReadingArguments,
    /// Print each summary as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: SyncArguments) -> anyhow::Result<ExitCode> {
    let folders = arguments.folders.iter().map(|path| folder(path));
    let folders = folders.collect::<anyhow::Result<Vec<PathBuf>>>()?;
    let storage = create_target(&arguments.directory, arguments.named)?;
    let interrupt = Interrupt::listen()?;
    let mut is_first = true;
    let mut told = HashSet::new();
    loop {
        let (synced, unchanged) = sync(&arguments, &folders, &storage, &interrupt, &mut told)?;
        if synced.is_some() || is_first {
            print(&summary(&arguments, synced.as_ref(), unchanged))?;
        }
        is_first = false;
        if !arguments.watch || !interrupt.sleep(arguments.every) {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Returns the real path of a folder.
fn folder(path: &Path) -> anyhow::Result<PathBuf> {
    let real = std::fs::canonicalize(path).with_context(|| path.display().to_string())?;
    if !real.is_dir() {
        bail!(
            "{}: not a folder; `shorttail index` and `shorttail add` read files of records",
            path.display()
        );
    }
    Ok(real)
}

/// Looks at the folders once. Returns the commit, if any, and the number of files that had not changed. `told` is what
/// earlier looks noticed, and said.
fn sync(
    arguments: &SyncArguments,
    folders: &[PathBuf],
    storage: &SharedStorage,
    interrupt: &Interrupt,
    told: &mut HashSet<String>,
) -> anyhow::Result<(Option<Indexed>, u64)> {
    let index = match Index::open(storage.clone()) {
        Ok(index) => Some(index),
        Err(IndexError::NoIndex { .. }) => None,
        Err(damaged) => return Err(damaged.into()),
    };
    let mut changes = Changes {
        index,
        folders,
        interrupt,
        told: std::mem::take(told),
        telling: HashSet::new(),
        seen: HashSet::new(),
        taken: 0,
        unchanged: 0,
    };
    let run = IndexRun {
        sources: folders.iter().cloned().map(Source::Folder).collect(),
        reading: arguments.reading.options(),
        storage: storage.clone(),
        options: BuildOptions {
            threads: cores_count(),
            memory_bytes: arguments.memory,
            ..BuildOptions::default()
        },
        analyzer: AnalyzerChoice::Detected,
    };
    let indexed = run.index_selected(&mut changes)?;
    // What is noticed no more, and then again, is said again.
    *told = changes.telling;
    Ok((indexed, changes.unchanged))
}

/// Selection of what differs between folders and an index.
struct Changes<'a> {
    index: Option<Index>,
    folders: &'a [PathBuf],
    interrupt: &'a Interrupt,
    /// What the look before noticed.
    told: HashSet<String>,
    /// What this one notices.
    telling: HashSet<String>,
    /// URLs of the documents read.
    seen: HashSet<String>,
    taken: u64,
    unchanged: u64,
}

impl Selection for Changes<'_> {
    fn verdict(&mut self, _elapsed_s: f64) -> Verdict {
        match self.interrupt.is_asked() {
            true => Verdict::Abandon,
            false => Verdict::ReadOn,
        }
    }

    fn takes(&mut self, document: &Document) -> anyhow::Result<bool> {
        self.seen.insert(document.url.clone());
        let stored = match &self.index {
            Some(index) => index.document(&document.url)?,
            None => None,
        };
        let is_same = stored.is_some_and(|stored| is_same(document, &stored));
        match is_same {
            true => self.unchanged += 1,
            false => self.taken += 1,
        }
        Ok(!is_same)
    }

    fn tell(&mut self, noticed: &str) {
        if self.telling.insert(noticed.to_owned()) && !self.told.contains(noticed) {
            note(noticed);
        }
    }

    fn deletes(&mut self, progress: &Progress) -> anyhow::Result<Option<Vec<String>>> {
        let Some(index) = &self.index else {
            return Ok(Some(Vec::new()));
        };
        // Where nothing was bad or passed over, every archive and every table that is there was read.
        let is_whole = progress.bad == 0 && progress.passed_over == 0;
        // Archives and tables that were read whole, without a bad document in any.
        let containers: HashSet<&str> = match progress.bad {
            0 => self.seen.iter().filter_map(|url| container(url)).collect(),
            _ => HashSet::new(),
        };
        let mut gone = Vec::new();
        for segment in console::opened::all_segments(index) {
            let mut details = segment.details_reader();
            for doc in (0..segment.documents_count()).map(DocId) {
                if !segment.is_deleted(doc) {
                    let url = details.url(doc)?;
                    let is_gone = |url: &str| {
                        is_gone(url, self.folders)
                            || container(url).is_some_and(|archive| {
                                containers.contains(archive)
                                    || is_whole && is_below(archive, self.folders)
                            })
                    };
                    if !self.seen.contains(url) && is_gone(url) {
                        gone.push(url.to_owned());
                    }
                }
            }
        }
        Ok((self.taken > 0 || !gone.is_empty()).then_some(gone))
    }
}

/// Returns whether a document as read is the one that is stored. Without stored texts it never is.
fn is_same(document: &Document, stored: &StoredDocument) -> bool {
    document.id() == stored.id
        && document.title == stored.title
        && document.body == stored.body
        && document.fields == stored.fields
}

/// Returns the URL of the archive, log or file of records that a document is in.
fn container(url: &str) -> Option<&str> {
    let is_file = url.starts_with("file:");
    let record = url.split_once('#').filter(|_| is_file);
    let within = record.or_else(|| url.split_once("!/"));
    within.map(|(file, _)| file)
}

/// Returns whether a URL is that of a file below one of the folders.
fn is_below(url: &str, folders: &[PathBuf]) -> bool {
    let path = path_of_file_url(url);
    path.is_some_and(|path| folders.iter().any(|folder| path.starts_with(folder)))
}

/// Returns whether a URL is that of a file below one of the folders that is no longer there.
fn is_gone(url: &str, folders: &[PathBuf]) -> bool {
    let file = container(url).unwrap_or(url);
    let path = path_of_file_url(file);
    is_below(file, folders) && path.is_some_and(|path| matches!(path.try_exists(), Ok(false)))
}

fn summary(arguments: &SyncArguments, synced: Option<&Indexed>, unchanged: u64) -> String {
    match (synced, arguments.json) {
        (Some(indexed), true) => {
            let mut summary = json_summary(indexed);
            summary["unchanged"] = unchanged.into();
            format!("{summary}\n")
        }
        (None, true) => format!("{}\n", serde_json::json!({ "unchanged": unchanged })),
        (Some(indexed), false) => format!(
            "{:<10} {}\n{}",
            "unchanged",
            count(unchanged),
            text_summary(indexed, &arguments.directory)
        ),
        (None, false) => format!(
            "nothing to do: {}, none changed\n",
            counted(unchanged, "file")
        ),
    }
}
