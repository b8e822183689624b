//! `shorttail optimize`: merge of the segments of each partition into one, in an order of documents.

use crate::indexing::MEMORY;
use crate::optimizing::ShownProgress;
use clap::builder::RangedU64ValueParser;
use console::failure::note;
use console::figures::{bytes, count, counted, seconds};
use console::meter::Meter;
use console::opened::{cores_count, existing_directory, open_verified};
use index::{OptimizeOptions, OptimizeSummary, Order};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Hits, scores and counts stay the same; size and speed change. Searches and servers that have the
index open are not disturbed: the old files stay on the disk until the next commit. A power cut
leaves the old index or the new one.

EXAMPLES:
    shorttail optimize my-index
        Merge segments and drop replaced documents, in the order that the index has
    shorttail optimize my-index --order bisection
        Place documents that share words beside each other: smaller blocks, more of them skipped
    shorttail optimize my-index --partitions 1
        Merge all chunks into one segment, for one index server
    shorttail optimize my-index --order url --memory 2G --json";

/// Merge segments, drop replaced documents, reorder the rest
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct OptimizeArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// Order of documents [default: that of the index, or arrival]
    #[arg(long)]
    order: Option<OrderName>,
    /// Number of partitions that the chunks are laid out for: the chunks of a partition become one segment, which no
    /// two index servers can share; the number of chunks undoes it [default: that of the index]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    partitions: Option<u32>,
    /// Upper limit on memory; at least 16MiB
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = MEMORY.bytes())]
    memory: u64,
    /// Number of threads [default: one a core]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Option<usize>,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Orders of documents by the names of the option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum OrderName {
    /// Order in which documents were added
    Arrival,
    /// Order of host names, last label first, and paths: pages of a site are neighbours
    Url,
    /// Recursive graph bisection: documents that share words are neighbours
    Bisection,
}

impl OrderName {
    pub(super) fn order(self) -> Order {
        match self {
            OrderName::Arrival => Order::Arrival,
            OrderName::Url => Order::Url,
            OrderName::Bisection => Order::Bisection,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: OptimizeArguments) -> anyhow::Result<ExitCode> {
    let storage = existing_directory(&arguments.directory)?;
    // Before the writer opens, which removes these files.
    if let Some(unfinished) = ::index::find_unfinished(&storage)? {
        note(&format!("warning: {unfinished}"));
    }
    let options = OptimizeOptions {
        order: arguments.order.map(OrderName::order),
        partitions: arguments.partitions,
        memory_bytes: arguments.memory,
        threads: arguments.threads.unwrap_or_else(cores_count),
        ..OptimizeOptions::default()
    };
    let shown = ShownProgress::new(Meter::start("opening", None));
    let summary = index::optimize(storage, &options, &|progress| shown.update(progress))?;
    let elapsed_s = shown.end();
    if summary.chunks_rewritten == 0 {
        // Nothing was read, and a damaged index is not one that is well laid out.
        open_verified(&arguments.directory)?;
    }
    note_terms_left_out(summary.terms_left_out);
    let text = match arguments.json {
        true => format!("{}\n", json_summary(&summary, elapsed_s)),
        false => text_summary(&summary, elapsed_s),
    };
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the number of terms that bisection left out for lack of memory.
fn note_terms_left_out(terms: u64) {
    if terms > 0 {
        let terms = counted(terms, "frequent term");
        note(&format!(
            "{terms} did not fit the memory and had no part in the order; more --memory makes it better"
        ));
    }
}

fn text_summary(summary: &OptimizeSummary, elapsed_s: f64) -> String {
    if summary.chunks_rewritten == 0 {
        return format!(
            "nothing to do: {} in {}, order {} (generation {})\n",
            counted(summary.documents_count, "document"),
            counted(summary.segments_after, "segment"),
            summary.order.name(),
            summary.generation
        );
    }
    let change = |before: String, after: String| format!("{before} → {after}");
    let bytes_change = |before: u64, after: u64| {
        let percent = (after as f64 / before.max(1) as f64 - 1.0) * 100.0;
        format!("{} ({percent:+.1} %)", change(bytes(before), bytes(after)))
    };
    let rows = [
        ("order", summary.order.name().to_owned()),
        (
            "segments",
            change(
                count(summary.segments_before),
                count(summary.segments_after),
            ),
        ),
        ("partitions", count(summary.partitions)),
        ("documents", count(summary.documents_count)),
        ("dropped", count(summary.documents_dropped)),
        (
            "index",
            bytes_change(summary.index_bytes_before, summary.index_bytes_after),
        ),
        (
            "store",
            bytes_change(summary.store_bytes_before, summary.store_bytes_after),
        ),
        (
            "gaps",
            change(
                format!("{:.2}", summary.gap_bits_before),
                format!("{:.2} bits each, mean of log2", summary.gap_bits_after),
            ),
        ),
        ("time", seconds(elapsed_s)),
        ("generation", count(summary.generation)),
    ];
    rows.map(|(name, value)| format!("{name:<10} {value}\n"))
        .concat()
}

fn json_summary(summary: &OptimizeSummary, elapsed_s: f64) -> serde_json::Value {
    let rounded = |value: f64| (value * 1e3).round() / 1e3;
    serde_json::json!({
        "order": summary.order.name(),
        "generation": summary.generation,
        "partitions": summary.partitions,
        "chunks_rewritten": summary.chunks_rewritten,
        "segments_before": summary.segments_before,
        "segments_after": summary.segments_after,
        "documents": summary.documents_count,
        "documents_dropped": summary.documents_dropped,
        "index_bytes_before": summary.index_bytes_before,
        "index_bytes_after": summary.index_bytes_after,
        "store_bytes_before": summary.store_bytes_before,
        "store_bytes_after": summary.store_bytes_after,
        "gap_bits_before": rounded(summary.gap_bits_before),
        "gap_bits_after": rounded(summary.gap_bits_after),
        "terms_left_out": summary.terms_left_out,
        "elapsed_s": rounded(elapsed_s),
    })
}
