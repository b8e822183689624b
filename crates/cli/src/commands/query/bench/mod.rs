//! `shorttail bench`: time of searches in process.
//!
//! Model: in process, one thread, warm. After a warm-up pass over all queries, N passes are measured, each over all
//! queries in turn, so that a disturbance affects one time of many queries and not all times of one. The measured
//! span is an answer of the engine with the numbers of the hits, or their count alone: analysis, plan, search and merge by
//! the coordinator that servers use, without details and summaries. As for every page, one hit more than `k` is looked for.
//! The overhead is two readings of the clock for each query (tens of nanoseconds).
//! Limits: no queueing, no network, no concurrent queries. It is not the response time of a client.

mod decoding;
mod measure;
mod measured;
mod plans;
mod quantiles;
mod report;

use clap::builder::RangedU64ValueParser;
use console::opened::open_preloaded;
use console::ranking::RankingArguments;
use measure::Searches;
use measured::{Counting, Mode};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
The file has one query a line, or id<TAB>query. Words are plain terms; only the modes query and
query-any read the query language. A repeated word counts once, but not in phrases. This is a kernel
measurement: in process, one thread, warm. For response times of clients, load a server.

EXAMPLES:
    shorttail bench my-index --queries queries.txt --mode and
        Time every query in five passes
    shorttail bench my-index --queries queries.txt --mode or --count none --json
        Time searches for the ten best hits without the count; print JSON lines
    shorttail bench my-index --queries typed.txt --mode query
        Time queries as people type them: \"new york\" hotels -paris
    shorttail bench my-index --queries queries.txt --mode or --count none --explain-plan
        Show how many blocks each query decodes, and how many documents it scores";

/// Time queries in the search kernel: in process, one thread, warm
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// File of the queries
    #[arg(long, value_name = "FILE", help_heading = "Queries")]
    queries: PathBuf,
    /// Operator between the words of a query
    #[arg(long, help_heading = "Queries")]
    mode: Mode,
    /// Number of hits to find, 1 to 1,000,000
    #[arg(short, value_name = "K", default_value = "10",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000), help_heading = "Queries")]
    k: usize,
    /// Counting of the documents that match
    #[arg(long, default_value = "exact", help_heading = "Queries")]
    count: Counting,
    /// Number of measured passes, after one warm-up pass
    #[arg(long, value_name = "N", default_value = "5",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000), help_heading = "Measurement")]
    passes: usize,
    /// Show the work of each search in place of its time: algorithm, decoded and skipped blocks, scored
    /// postings
    #[arg(long, conflicts_with = "passes", help_heading = "Measurement")]
    explain_plan: bool,
    /// Also time the decoding of the blocks of each search alone
    #[arg(long, conflicts_with = "explain_plan", help_heading = "Measurement")]
    decoding: bool,
    /// Memory that the index is loaded into before the first query: none (pages are read on demand), touch (page
    /// cache), tmpfs (memory files), hugepages
    #[arg(
        long,
        value_name = "WHERE",
        default_value = "none",
        help_heading = "Measurement"
    )]
    preload: vfs::Preload,
    #[command(flatten)]
    ranking: RankingArguments,
    /// Print one line of JSON for each query and one for the whole set
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: BenchArguments) -> anyhow::Result<ExitCode> {
    let queries = console::query_file::read_queries(&arguments.queries)?;
    let index = open_preloaded(&arguments.directory, arguments.preload)?;
    console::kernels::choose()?;
    if cfg!(debug_assertions) && !arguments.explain_plan {
        console::failure::note(
            "warning: a debug build; its times say nothing, build with --release",
        );
    }
    let mut searches = Searches::new(
        index,
        arguments.mode,
        arguments.count,
        arguments.k,
        arguments.ranking.ranking(),
    );
    searches.with_decoding = arguments.decoding;
    let mut stdout = std::io::BufWriter::new(std::io::stdout().lock());
    if arguments.explain_plan {
        let profiled = searches.profile(&queries)?;
        if arguments.json {
            plans::write_json(&mut stdout, &profiled)?;
        } else {
            plans::write_table(&mut stdout, &profiled)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let measured = searches.measure(&queries, arguments.passes)?;
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
