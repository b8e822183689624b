//! `shorttail crawl replay`: an index from the archive of a crawl, without a request.

use super::super::cores_count;
use super::folder::existing_crawl;
use crate::figures::{bytes, count, counted};
use crate::meter::Meter;
use crate::terminal::{print, printable};
use index::BuildOptions;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use vfs::RealStorage;

const EXAMPLES: &str = "\
Reads the WARC files of the crawl and indexes the last answer of each page, as this version of the
program reads pages. `shorttail index` reads WARC files of other crawlers.

EXAMPLES:
    shorttail crawl replay my-docs --into my-new-docs";

/// Build an index again from the pages that a crawl kept
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReplayArguments {
    /// The directory of the index with the crawl
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The directory of the new index
    #[arg(long, value_name = "NEW")]
    into: PathBuf,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &ReplayArguments) -> anyhow::Result<ExitCode> {
    let storage = existing_crawl(&arguments.directory)?;
    let index = Arc::new(RealStorage::create_directory(&arguments.into)?);
    let build = BuildOptions {
        threads: cores_count(),
        ..BuildOptions::default()
    };
    let mut meter = Meter::start("replaying", None);
    let (read, committed) = crawl::replay(&storage, index, build, &mut |read| {
        meter.update(read.bytes, |_| {
            format!("{} documents, {}", count(read.documents), bytes(read.bytes))
        });
    })?;
    drop(meter);
    if arguments.json {
        let summary = serde_json::json!({
            "records": read.records,
            "documents": committed.documents,
            "damaged": read.damaged,
            "bytes": read.bytes,
            "generation": committed.generation,
        });
        print(&format!("{summary}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&format!(
        "read       {}, {}; {} damaged\n{} now holds {} (generation {})\n",
        counted(read.records, "record"),
        bytes(read.bytes),
        count(read.damaged),
        printable(&arguments.into.display().to_string()),
        counted(committed.documents, "document"),
        committed.generation,
    ))?;
    Ok(ExitCode::SUCCESS)
}
