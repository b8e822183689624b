//! `shorttail bench`: how long does the search itself take, without anything around it?
//!
//! Model: in process, one thread, warm. One pass over all queries is not measured, then N passes
//! are, each over all queries in turn, so that a disturbance hits one time of many queries and not
//! all times of one. The span measured is analysis, plan and search; not the look-up of the top
//! URL. The overhead is two readings of the clock a query (tens of nanoseconds).
//! Limits: no queueing, no network, no other query at the same time: not what a client waits.

mod decoding;
mod measure;
mod plans;
mod report;

use super::{RankingArguments, open_preloaded};
use clap::builder::RangedU64ValueParser;
use measure::{Counting, Kernel, Mode};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Queries stand one a line, or as id<TAB>query. Words are plain terms, without syntax but in the modes
query and query-any; a repeated word counts once, but not in phrases. This is a kernel measurement:
in process, one thread, warm. It is not what a client waits; load a server for that.

EXAMPLES:
    shorttail bench my-index --queries queries.txt --mode and
        Time every query in five passes
    shorttail bench my-index --queries queries.txt --mode or --count none --json
        Time the ten best hits alone; print JSON lines
    shorttail bench my-index --queries typed.txt --mode query
        Time queries as people type them: \"new york\" hotels -paris
    shorttail bench my-index --queries queries.txt --mode or --count none --explain-plan
        Show how many blocks each query decodes, and how many documents it scores";

/// Time queries in the search kernel: in process, one thread, warm
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArguments {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The queries
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// How the words of a query stand to each other
    #[arg(long)]
    mode: Mode,
    /// Hits to find
    #[arg(short, value_name = "K", default_value = "10",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    k: usize,
    /// Whether to count all documents that match
    #[arg(long, default_value = "exact")]
    count: Counting,
    /// Passes measured, after one that is not
    #[arg(long, value_name = "N", default_value = "5",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    passes: usize,
    /// Show what each search does in place of how long it takes: algorithm, blocks decoded and left
    /// alone, postings scored
    #[arg(long, conflicts_with = "passes")]
    explain_plan: bool,
    /// Time also the decoding of what each search decodes, alone
    #[arg(long, conflicts_with = "explain_plan")]
    decoding: bool,
    /// Where the index is before the first query: none (pages come when needed), touch (page cache),
    /// tmpfs (memory files), hugepages
    #[arg(long, value_name = "WHERE", default_value = "none")]
    preload: vfs::Preload,
    #[command(flatten)]
    ranking: RankingArguments,
    /// Print one line of JSON a query and one of the whole set
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: BenchArguments) -> anyhow::Result<ExitCode> {
    let queries = crate::query_file::read_queries(&arguments.queries)?;
    let index = open_preloaded(&arguments.directory, arguments.preload)?;
    crate::kernels::choose()?;
    if cfg!(debug_assertions) && !arguments.explain_plan {
        crate::failure::note("warning: a debug build; its times say nothing, build with --release");
    }
    let mut kernel = Kernel::new(
        &index,
        arguments.mode,
        arguments.count,
        arguments.k,
        arguments.ranking.ranking(),
    );
    kernel.with_decoding = arguments.decoding;
    let mut stdout = std::io::BufWriter::new(std::io::stdout().lock());
    if arguments.explain_plan {
        let profiled = kernel.profile(&queries)?;
        if arguments.json {
            plans::write_json(&mut stdout, &profiled)?;
        } else {
            plans::write_table(&mut stdout, &profiled)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let measured = kernel.measure(&queries, arguments.passes)?;
    let report = report::Report {
        measured: &measured,
        mode: arguments.mode,
        counting: arguments.count,
        k: arguments.k,
        passes: arguments.passes,
    };
    if arguments.json {
        report.write_json(&mut stdout)?;
    } else {
        report.write_table(&mut stdout)?;
    }
    Ok(ExitCode::SUCCESS)
}
