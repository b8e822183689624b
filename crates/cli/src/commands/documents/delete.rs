//! `shorttail delete`: documents deleted by their URLs or by a query.

use anyhow::{Context, bail};
use console::figures::{count, counted};
use console::opened::{cores_count, existing_index};
use console::terminal::{print, printable};
use corpus::open_decompressed;
use document::url_hash;
use engine::{Engine, Operator};
use index::{BuildOptions, CommitSummary, DocId, Index, Writer};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vfs::SharedStorage;

/// URLs that a dry run names.
const NAMED_MAX: usize = 10;

const EXAMPLES: &str = "\
Answers are then those of an index that never had the documents: counts, scores and order. Their
space is free after `shorttail optimize`. A URL without a document is counted as not found and is no
error.

EXAMPLES:
    shorttail delete my-index --url https://example.com/old
    shorttail delete my-index --from urls.txt
        Delete the documents of a file of URLs, one a line (- for standard input)
    shorttail delete my-index --query 'site:example.com draft' --dry-run
        Show how many documents a query matches, and the first of them";

/// Delete documents of an index, by URL or by query
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["url", "from", "query"]))]
pub(crate) struct DeleteArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// URL of a document; may be repeated
    #[arg(long, value_name = "URL")]
    url: Vec<String>,
    /// File of URLs, one a line, compressed or not, or - for standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Query whose matches are deleted: documents with all of its words
    #[arg(long, value_name = "QUERY")]
    query: Option<String>,
    /// Delete nothing; show what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: DeleteArguments) -> anyhow::Result<ExitCode> {
    let storage = existing_index(&arguments.directory)?;
    let mut urls: Vec<String> = arguments.url.clone();
    if let Some(from) = &arguments.from {
        read_urls(from, &mut urls)?;
    }
    let engine = Engine::open_in(storage.clone())?;
    if let Some(query) = &arguments.query {
        urls.extend(matches(&engine, query)?);
    }
    let mut seen = HashSet::new();
    urls.retain(|url| seen.insert(url.clone()));
    if arguments.dry_run {
        return dry_run(&engine, &urls, arguments.json);
    }
    let summary = match urls.is_empty() {
        true => unchanged(&engine.index()),
        false => delete(storage, &urls)?,
    };
    let not_found = urls.len() as u64 - summary.documents_deleted;
    print(&match arguments.json {
        true => format!("{}\n", json_summary(&summary, not_found)),
        false => text_summary(&summary, not_found, &arguments.directory),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the summary of an index as it is.
fn unchanged(index: &Index) -> CommitSummary {
    CommitSummary {
        generation: index.generation(),
        documents_count: index.statistics().documents_count(),
        ..CommitSummary::default()
    }
}

/// Commits the deletion of the documents of `urls`.
fn delete(storage: SharedStorage, urls: &[String]) -> anyhow::Result<CommitSummary> {
    let options = BuildOptions {
        threads: cores_count(),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage, options)?;
    urls.iter().for_each(|url| writer.delete(url));
    writer.commit().context("cannot commit")
}

/// Returns the URLs of the documents that match a query, which must mean exactly what it says.
fn matches(engine: &Engine, query: &str) -> anyhow::Result<Vec<String>> {
    if query.trim().is_empty() {
        bail!("an empty query deletes nothing; to drop all documents, remove the directory");
    }
    let matches = engine.matches(query, Operator::And);
    let matches = matches.context("nothing was deleted")?;
    if let Some(warning) = matches.warnings.first() {
        bail!("nothing was deleted, since the query is not clear: {warning}");
    }
    Ok(matches.urls)
}

/// Reads URLs, one a line; empty lines count for nothing.
fn read_urls(from: &Path, urls: &mut Vec<String>) -> anyhow::Result<()> {
    let input: Box<dyn Read> = match from.as_os_str() == "-" {
        true => Box::new(std::io::stdin().lock()),
        false => open_decompressed(from).with_context(|| format!("{}", from.display()))?,
    };
    for (number, line) in (1..).zip(BufReader::new(input).lines()) {
        let line = line.with_context(|| format!("{}:{number}", from.display()))?;
        if !line.trim().is_empty() {
            urls.push(line.trim().to_owned());
        }
    }
    Ok(())
}

fn dry_run(engine: &Engine, urls: &[String], as_json: bool) -> anyhow::Result<ExitCode> {
    let found = found(&engine.index(), urls)?;
    let not_found = urls.len() - found.len();
    if as_json {
        let summary = serde_json::json!({
            "would_delete": found.len(), "not_found": not_found, "urls": found,
        });
        print(&format!("{summary}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for url in found.iter().take(NAMED_MAX) {
        text.push_str(&format!("{}\n", printable(url)));
    }
    if found.len() > NAMED_MAX {
        text.push_str(&format!(
            "and {} more\n",
            count((found.len() - NAMED_MAX) as u64)
        ));
    }
    text.push_str(&format!(
        "would delete {}, {} not found; nothing was deleted\n",
        counted(found.len() as u64, "document"),
        count(not_found as u64)
    ));
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns those of the URLs that have a live document.
fn found(index: &Index, urls: &[String]) -> anyhow::Result<Vec<String>> {
    let wanted: HashSet<&str> = urls.iter().map(String::as_str).collect();
    let hashes: HashSet<u64> = urls.iter().map(|url| url_hash(url)).collect();
    let mut found = Vec::new();
    let since = index.read_start();
    for segment in console::opened::all_segments(index) {
        let docs = (0..segment.documents_count()).map(DocId);
        let mut details = segment.details_reader();
        for doc in docs.filter(|&doc| hashes.contains(&segment.url_hash(doc))) {
            if !segment.is_deleted(doc) {
                let url = details.url(doc)?;
                found.extend(wanted.contains(url).then(|| url.to_owned()));
            }
        }
    }
    index.verify_all_read(since)?;
    Ok(found)
}

fn text_summary(summary: &CommitSummary, not_found: u64, directory: &Path) -> String {
    format!(
        "{:<10} {}\n{:<10} {}\n{} now holds {} (generation {})\n",
        "deleted",
        count(summary.documents_deleted),
        "not found",
        count(not_found),
        printable(&directory.display().to_string()),
        counted(summary.documents_count, "document"),
        summary.generation
    )
}

fn json_summary(summary: &CommitSummary, not_found: u64) -> serde_json::Value {
    serde_json::json!({
        "deleted": summary.documents_deleted,
        "not_found": not_found,
        "documents_total": summary.documents_count,
        "generation": summary.generation,
    })
}
