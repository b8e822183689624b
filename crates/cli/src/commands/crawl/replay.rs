//! `shorttail crawl replay`: an index from the archive of a crawl, without a request.

use super::folder::existing_crawl;
use console::failure::note;
use console::figures::{bytes, count, counted};
use console::meter::Meter;
use console::opened::cores_count;
use console::terminal::{print, printable};
use index::BuildOptions;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use vfs::{RealStorage, SharedStorage};

const EXAMPLES: &str = "\
Reads the WARC files of the crawl and indexes the last answer of each page, as this version of the
program reads pages. The directories of all members of a crawl become one index, that which one
process would have made. `shorttail index` reads WARC files of other crawlers.

EXAMPLES:
    shorttail crawl replay my-docs --into my-new-docs
    shorttail crawl replay docs-a docs-b docs-c --into all-docs";

/// Build an index again from the pages that a crawl kept
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReplayArguments {
    /// The directory of the index with the crawl; of a crawl with members, those of all of them
    #[arg(value_name = "INDEX", required = true)]
    directories: Vec<PathBuf>,
    /// The directory of the new index
    #[arg(long, value_name = "NEW")]
    into: PathBuf,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &ReplayArguments) -> anyhow::Result<ExitCode> {
    let storages = arguments.directories.iter();
    let storages = storages.map(|directory| existing_crawl(directory));
    let storages = storages.collect::<anyhow::Result<Vec<_>>>()?;
    note_missing(&storages)?;
    let index = Arc::new(RealStorage::create_directory(&arguments.into)?);
    let build = BuildOptions {
        threads: cores_count(),
        ..BuildOptions::default()
    };
    let mut meter = Meter::start("replaying", None);
    let (read, committed) = crawl::replay(&storages, index, build, &mut |read| {
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

/// Says which members of the crawl are not among those whose folders are given.
fn note_missing(storages: &[SharedStorage]) -> anyhow::Result<()> {
    let (mut missing, mut given) = (BTreeSet::new(), BTreeSet::new());
    for storage in storages {
        let (members, member) = crawl::members_of(storage)?;
        missing.extend(members);
        given.extend(member);
    }
    missing.retain(|name| !given.contains(name));
    if !missing.is_empty() {
        let names: Vec<String> = missing.into_iter().collect();
        note(&format!(
            "note: without the pages of {}, whose directories are not given",
            names.join(", ")
        ));
    }
    Ok(())
}
