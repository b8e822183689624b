//! `shorttail add`: documents added to an index that exists, with the settings that it has.

use super::index::{json_summary, text_summary};
use super::reading::{ReadingArguments, sources};
use crate::indexing::{IndexRun, MEMORY, Verdict};
use crate::languages::AnalyzerChoice;
use console::opened::{cores_count, existing_index};
use console::terminal::print;
use index::BuildOptions;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
A document replaces the one with the same URL. `serve` shows the change within a second, other
servers after POST /reload.

EXAMPLES:
    shorttail add my-index more.jsonl
    zcat update.gz | shorttail add my-index -";

/// Add documents to an existing index
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AddArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// Files of JSON or tables, folders, or -, as of `index`
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<OsString>,
    /// Upper limit on memory; at least 16MiB
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = MEMORY.bytes())]
    memory: u64,
    #[command(flatten)]
    reading: ReadingArguments,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: AddArguments) -> anyhow::Result<ExitCode> {
    let storage = existing_index(&arguments.directory)?;
    let run = IndexRun {
        sources: sources(&arguments.sources)?,
        reading: arguments.reading.options(),
        storage,
        options: BuildOptions {
            threads: cores_count(),
            memory_bytes: arguments.memory,
            ..BuildOptions::default()
        },
        analyzer: AnalyzerChoice::Detected,
    };
    let indexed = run.index(|_| Verdict::ReadOn)?;
    print(&match arguments.json {
        true => format!("{}\n", json_summary(&indexed)),
        false => text_summary(&indexed, &arguments.directory),
    })?;
    Ok(indexed.exit_code())
}
