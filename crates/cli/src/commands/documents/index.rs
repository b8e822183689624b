//! `shorttail index`: one committed generation from documents.

use super::create_target;
use super::optimize::OrderName;
use super::reading::{ReadingArguments, sources};
use super::rules::read_rules;
use crate::indexing::{IndexRun, Indexed, MEMORY, Verdict};
use crate::languages::{AnalyzerChoice, LanguagesChoice, reason};
use anyhow::Context;
use clap::builder::RangedU64ValueParser;
use console::figures::{bytes, count, seconds};
use console::opened::cores_count;
use console::terminal::print;
use fields::{Declarations, FieldType};
use index::{BuildOptions, Pairs, PostingsCodec, Texts};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use text::Analyzer;

const EXAMPLES: &str = "\
A document is {\"url\", \"title\", \"body\"}; further fields are kept. A document replaces an earlier
one with the same URL. Bad documents are counted, the first ten are reported as file:line: reason,
and the rest is indexed. Searches see no document before all of them are on the disk.

Links that leave a folder, FIFOs, sockets, devices and the files of /proc and /sys are not read:
they are counted, and the first ten are named.

EXAMPLES:
    shorttail index my-index documents.jsonl.zst
        Index JSON lines, compressed or not
    shorttail index my-index posts.csv --id slug --title headline --body text,summary
        Index a table, or JSON, whose fields have names of their own
    shorttail index my-index enwiki-pages-articles.xml.bz2 disk4/fbis scifact/
        Index a dump of a MediaWiki, a folder of TREC and one of BEIR
    shorttail index my-index handbook/ notes/ todo.md
        Add folders of text, Markdown, HTML, PDF, office documents, mail and archives
    shorttail index german-index seiten.jsonl --languages de
        Stem words as in German, whatever the first documents are written in
    zcat dump.gz | shorttail index my-index - --memory 2G
        Index standard input
    shorttail index my-index pages.jsonl --chunks 64 --partitions 4
        Divide it into 64 chunks, laid out for 4 index servers (or 2, or 1); `optimize` can change it later
    shorttail index my-index pages.jsonl --order bisection
        Place documents that share words beside each other: takes longer, for a smaller, faster index
    shorttail index my-index pages.jsonl --fields fields.toml
        Let words of titles count three times: title = { type = \"text\", weight = 3 } in the file";

/// Index documents into a directory, new or existing
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IndexArguments {
    /// The directory of the index; documents are added to an existing one
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// A file of JSON (lines, an array, objects, a body of _bulk) or a table (.csv, .tsv, .parquet), compressed (.zst,
    /// .gz, .xz, .bz2) or not; a WARC or TREC file, a dump of a MediaWiki; an archive (.zip, .tar.gz and the like), PDF,
    /// office document, book or mail; a file of text, Markdown, HTML or code; a folder of these, or of records (BEIR,
    /// Pyserini, TREC); or - for JSON on standard input
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<OsString>,
    /// The index is named by its option, and may hold other files
    #[arg(long, hide = true)]
    named: bool,
    /// Number of chunks, to which documents belong by the hash of their URL [default: that of the existing
    /// index, or 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), help_heading = "Layout of the index")]
    chunks: Option<u32>,
    /// Number of partitions that the chunks are laid out for, one for each index server: the chunks of a partition
    /// become one segment, which no two index servers can share [default: that of the existing index, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), help_heading = "Layout of the index")]
    partitions: Option<u32>,
    /// Threads that analyse texts and build chunks [default: one a core]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Option<usize>,
    /// Upper limit on memory; at least 16MiB
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = MEMORY.bytes())]
    memory: u64,
    /// Encoding of postings [default: that of the existing index, or packed]
    #[arg(long, help_heading = "Layout of the index")]
    codec: Option<CodecName>,
    /// Analysis of words into terms: standard (any language and script), plain (words in lower case) or english
    /// (the same, stemmed) [default: that of the existing index, or standard]
    #[arg(long, value_name = "NAME", help_heading = "Words and fields")]
    analyzer: Option<Analyzer>,
    /// Languages whose words `standard` stems, one for each script: auto (those of the first documents), none, or codes
    /// such as de,ru [default: auto]
    #[arg(long, value_name = "CODES", help_heading = "Words and fields")]
    languages: Option<LanguagesChoice>,
    /// Order of all documents, established before the commit as by `optimize` [default: new documents come last]
    #[arg(long, help_heading = "Layout of the index")]
    order: Option<OrderName>,
    /// Storage of the documents' texts, for summaries [default: as in the existing index, or stored]
    #[arg(long, help_heading = "Layout of the index")]
    texts: Option<TextsName>,
    /// Stored pairs of very frequent words, for phrases of them [default: as in the existing index, or
    /// frequent]
    #[arg(long, help_heading = "Layout of the index")]
    pairs: Option<PairsName>,
    /// TOML file that decides the types of fields, as in date = "date" (keyword, i64, f64, bool, date, text), the weights of
    /// texts, as in title = { type = "text", weight = 3 }, and numbers that add to every score, as in likes = { type = "i64",
    /// prior = { weight = 1, pivot = 50 } } [default: inferred from the documents]
    #[arg(long, value_name = "FILE", help_heading = "Words and fields")]
    fields: Option<PathBuf>,
    /// TOML file of rules that queries are read with: synonyms = ["tv, television"] and stop_words = ["the"]; shorttail rules
    /// changes them later [default: those of the existing index]
    #[arg(long, value_name = "FILE", help_heading = "Words and fields")]
    rules: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadingArguments,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CodecName {
    /// Blocks of bit-packed numbers
    Packed,
    /// One variable-length integer after another
    Vint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TextsName {
    /// Kept, compressed
    Stored,
    /// Not kept: a smaller index, and hits without summaries
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PairsName {
    /// Pairs that speed up phrases most, in at most 1/256 of the size of the index
    Frequent,
    /// All pairs of the 128 most frequent words: the fastest phrases, and a much larger index
    All,
    /// No pairs: the smallest index
    None,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: IndexArguments) -> anyhow::Result<ExitCode> {
    let sources = sources(&arguments.sources)?;
    let fields = match &arguments.fields {
        Some(path) => read_fields(path)?,
        None => Declarations::default(),
    };
    let rules = arguments.rules.as_deref().map(read_rules).transpose()?;
    let storage = create_target(&arguments.directory, arguments.named)?;
    let options = BuildOptions {
        fields,
        rules: rules.map(Arc::new),
        chunks: arguments.chunks,
        partitions: arguments.partitions,
        threads: arguments.threads.unwrap_or_else(cores_count),
        memory_bytes: arguments.memory,
        codec: arguments.codec.map(|name| match name {
            CodecName::Packed => PostingsCodec::Packed,
            CodecName::Vint => PostingsCodec::Vint,
        }),
        order: arguments.order.map(OrderName::order),
        texts: arguments.texts.map(|name| match name {
            TextsName::Stored => Texts::Stored,
            TextsName::None => Texts::None,
        }),
        pairs: arguments.pairs.map(|name| match name {
            PairsName::Frequent => Pairs::Frequent,
            PairsName::All => Pairs::All,
            PairsName::None => Pairs::None,
        }),
        ..BuildOptions::default()
    };
    let analyzer = AnalyzerChoice::of_options(arguments.analyzer, arguments.languages)?;
    let run = IndexRun {
        sources,
        reading: arguments.reading.options(),
        storage,
        options,
        analyzer,
    };
    let indexed = run.index(|_| Verdict::ReadOn)?;
    let summary = match arguments.json {
        true => format!("{}\n", json_summary(&indexed)),
        false => text_summary(&indexed, &arguments.directory),
    };
    print(&summary)?;
    Ok(indexed.exit_code())
}

/// Reads the types of fields and the settings of their words.
fn read_fields(path: &Path) -> anyhow::Result<Declarations> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| {
            text[..span.start.min(text.len())].lines().count().max(1)
        });
        anyhow::anyhow!(
            "{shown}:{line}: {}; write a line for each field, as in date = \"date\"",
            error.message()
        )
    })
}

/// Formats the summary of a run as text.
pub(crate) fn text_summary(indexed: &Indexed, directory: &Path) -> String {
    let summary = &indexed.summary;
    let progress = &indexed.progress;
    let rows = [
        ("documents", count(progress.documents)),
        ("replaced", count(summary.documents_replaced)),
        ("bad", count(progress.bad)),
        (
            "text",
            format!(
                "{} in {}, {:.1} MB/s",
                bytes(progress.text_bytes),
                seconds(indexed.elapsed_s),
                indexed.mb_per_s()
            ),
        ),
        (
            "index",
            with_ratio(summary.index_bytes, progress.text_bytes, summary),
        ),
        (
            "store",
            with_ratio(summary.store_bytes, progress.text_bytes, summary),
        ),
    ];
    let mut text = String::new();
    for (name, value) in rows {
        text.push_str(&format!("{name:<10} {value}\n"));
        if name == "bad" && summary.segments_merged > 0 {
            let merged = console::figures::counted(summary.segments_merged, "segment");
            text.push_str(&format!("{:<10} {merged}\n", "merged"));
        }
        if name == "replaced" && summary.documents_deleted > 0 {
            let deleted = count(summary.documents_deleted);
            text.push_str(&format!("{:<10} {deleted}\n", "deleted"));
        }
    }
    if !indexed.fields_found.is_empty() {
        text.push_str(&format!(
            "{:<10} {}\n",
            "fields",
            indexed.fields_found.join("; ")
        ));
    }
    if progress.without_text > 0 {
        text.push_str(&format!(
            "{:<10} {} with neither title nor body; --title and --body name their fields\n",
            "no text",
            console::figures::counted(progress.without_text, "document"),
        ));
    }
    if !summary.fields.is_empty() {
        text.push_str(&format!("{:<10} {}\n", "typed", typed_fields(summary)));
    }
    for (field, misfits) in &summary.misfits {
        text.push_str(&format!(
            "{:<10} {} of {} fit no {}; the documents are in the index\n",
            "misfits",
            console::figures::counted(*misfits, "value"),
            console::terminal::printable(field),
            summary.fields.get(field).map_or("type", |kind| kind.name()),
        ));
    }
    if let Some(chosen) = &indexed.chosen {
        let (analyzer, reason) = (&chosen.analyzer, reason(chosen));
        text.push_str(&format!("{:<10} {analyzer}: {reason}\n", "analyzer"));
    }
    if progress.passed_over > 0 {
        text.push_str(&format!("passed over {}\n", count(progress.passed_over)));
    }
    text.push_str(&format!(
        "{} now holds {} (generation {})\n",
        console::terminal::printable(&directory.display().to_string()),
        console::figures::counted(summary.documents_count, "document"),
        summary.generation
    ));
    text
}

/// Fields named in a summary.
const FIELDS_TOLD: usize = 12;

/// Formats the fields of an index with their types.
fn typed_fields(summary: &index::CommitSummary) -> String {
    let fields = summary.fields.iter();
    let fields: Vec<String> = fields
        .map(|(name, kind)| {
            let stored_only = kind == FieldType::Text && !summary.fields.is_searched(name);
            let stored_only = if stored_only { " (stored only)" } else { "" };
            format!("{} {kind}{stored_only}", console::terminal::printable(name))
        })
        .collect();
    let told = fields[..fields.len().min(FIELDS_TOLD)].join(", ");
    match fields.len().saturating_sub(FIELDS_TOLD) {
        0 => told,
        more => format!("{told}, and {more} more"),
    }
}

/// Formats bytes, and their share of the text if the whole index came from this text.
fn with_ratio(part_bytes: u64, text_bytes: u64, summary: &index::CommitSummary) -> String {
    let whole = summary.documents_added == summary.documents_count + summary.documents_replaced;
    if whole && text_bytes > 0 {
        let percent = part_bytes as f64 / text_bytes as f64 * 100.0;
        format!("{}, {percent:.1} % of the text", bytes(part_bytes))
    } else {
        bytes(part_bytes)
    }
}

pub(super) fn json_summary(indexed: &Indexed) -> serde_json::Value {
    let summary = &indexed.summary;
    serde_json::json!({
        "documents": indexed.progress.documents,
        "replaced": summary.documents_replaced,
        "deleted": summary.documents_deleted,
        "segments_merged": summary.segments_merged,
        "analyzer": indexed.chosen.as_ref().map(|chosen| chosen.analyzer.name()),
        "fields": indexed.fields_found,
        "typed_fields": summary.fields.iter().map(|(name, kind)| (name.to_owned(), kind.name().into()))
            .collect::<serde_json::Map<String, serde_json::Value>>(),
        "misfits": summary.misfits,
        "without_text": indexed.progress.without_text,
        "bad": indexed.progress.bad,
        "bad_documents": indexed.bad_documents.iter().map(|bad| serde_json::json!({
            "file": bad.file, "line": bad.line, "reason": bad.reason,
        })).collect::<Vec<_>>(),
        "passed_over": indexed.progress.passed_over,
        "passed_over_paths": indexed.passed_over.iter().map(|passed| serde_json::json!({
            "path": passed.path.display().to_string(), "reason": passed.reason.to_string(),
        })).collect::<Vec<_>>(),
        "documents_total": summary.documents_count,
        "generation": summary.generation,
        "text_bytes": indexed.progress.text_bytes,
        "index_bytes": summary.index_bytes,
        "store_bytes": summary.store_bytes,
        "elapsed_s": (indexed.elapsed_s * 1e3).round() / 1e3,
        "mb_per_s": (indexed.mb_per_s() * 1e3).round() / 1e3,
    })
}
