//! `shorttail demo`: an index and a search page of the documentation on this machine.

use crate::hits::phases_line;
use crate::indexing::{IndexRun, Verdict};
use crate::languages::AnalyzerChoice;
use anyhow::{Context, bail};
use console::failure::note;
use console::interrupt::Interrupt;
use console::opened::{cores_count, open_index};
use console::terminal::print;
use console::terminal::{Style, printable, summary_text};
use corpus::{ReadOptions, Source};
use index::{BuildOptions, Index, IndexError};
use search::Operator;
use serve::{
    Cluster, Generations, HandlerOptions, SearchOptions, ServeOptions, Server, io_runtime,
};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use vfs::RealStorage;

const EXAMPLES: &str = "\
Documents are the README, CHANGELOG, Markdown and doc comments of the crates that Cargo has fetched
(each crate is a site), manual pages and documentation folders. Nothing is downloaded.

EXAMPLES:
    shorttail demo
        Index, ask five queries, serve until Ctrl-C
    shorttail demo --exit
        Stop after the queries
    shorttail demo my-index
        Keep the index; the next run uses it as it is";

/// Queries of the demonstration: the feature shown, the text, and the operator between words.
const QUERIES: [(&str, &str, Operator); 5] = [
    ("two words", "error handling", Operator::And),
    ("a phrase", "\"thread safe\"", Operator::And),
    (
        "words of the title",
        "title:changelog breaking",
        Operator::And,
    ),
    (
        "a prefix, and alternatives",
        "serializ* OR \"binary format\"",
        Operator::And,
    ),
    (
        "any of the words",
        "fast memory mapped file search",
        Operator::Or,
    ),
];

const HITS_SHOWN: usize = 3;

/// Time limit of reading in seconds, so that the first answer comes within a minute on any machine.
const READING_S_MAX: f64 = 35.0;

/// Index the documentation on this machine, answer five queries, serve the search page
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArguments {
    /// The directory in which the index is kept [default: a temporary directory]
    #[arg(value_name = "INDEX")]
    directory: Option<PathBuf>,
    /// Stop after the queries
    #[arg(long)]
    exit: bool,
    /// The address to listen on; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7700")]
    listen: String,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: DemoArguments) -> anyhow::Result<ExitCode> {
    // From here on, Ctrl-C ends the run normally, so that the temporary directory is removed.
    let interrupt = Interrupt::listen()?;
    let temporary = match arguments.directory {
        Some(_) => None,
        None => Some(
            tempfile::Builder::new()
                .prefix("shorttail-demo-")
                .tempdir()
                .context("cannot create a temporary directory; name one: shorttail demo INDEX")?,
        ),
    };
    let directory = match (&arguments.directory, &temporary) {
        (Some(directory), _) => directory.as_path(),
        (None, Some(temporary)) => temporary.path(),
        (None, None) => bail!("no directory for the index"),
    };
    let index = existing_or_new(directory, &interrupt)?;
    let options = ServeOptions {
        listen: arguments.listen,
        ..ServeOptions::default()
    };
    let generations = Generations::fixed(index);
    let cluster = Cluster::in_process(
        &generations,
        &options.topology(),
        &[],
        &HandlerOptions::default(),
    )?;
    let server = Server::bind_cluster(cluster, &options, io_runtime()?)?;
    for (what, query, operator) in QUERIES {
        if interrupt.is_asked() {
            return Ok(ExitCode::SUCCESS);
        }
        ask(&server, what, query, operator)?;
    }
    if !arguments.exit && !interrupt.is_asked() {
        writeln!(std::io::stdout(), "\nthe search page, until Ctrl-C:")?;
        crate::commands::servers::serve::serve_until(server, &interrupt)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens the index of an earlier demonstration, or builds one.
fn existing_or_new(directory: &Path, interrupt: &Interrupt) -> anyhow::Result<Arc<Index>> {
    let storage = Arc::new(RealStorage::create_directory(directory)?);
    match Index::open(storage.clone()) {
        Ok(index) => {
            console::opened::warn_of_unfinished(&index);
            let directory = directory.display();
            note(&format!(
                "using the index in {directory}; remove it to index anew"
            ));
            return Ok(Arc::new(index));
        }
        Err(IndexError::NoIndex { .. }) => {}
        Err(damaged) => return Err(damaged.into()),
    }
    note("indexing the documentation on this machine");
    let options = BuildOptions {
        threads: cores_count(),
        ..BuildOptions::default()
    };
    let verdict = |elapsed_s: f64| match elapsed_s {
        _ if interrupt.is_asked() => Verdict::Abandon,
        0.0..READING_S_MAX => Verdict::ReadOn,
        _ => Verdict::Enough,
    };
    let run = IndexRun {
        sources: vec![Source::Machine],
        reading: ReadOptions::default(),
        storage,
        options,
        analyzer: AnalyzerChoice::Detected,
    };
    let indexed = run.index(verdict)?;
    print(&crate::commands::documents::index::text_summary(
        &indexed, directory,
    ))?;
    open_index(directory)
}

fn ask(server: &Server, what: &str, query: &str, operator: Operator) -> anyhow::Result<()> {
    let options = SearchOptions {
        k: HITS_SHOWN,
        operator,
        ..SearchOptions::default()
    };
    let front_end = server.front_end().context("the server has no index")?;
    let answer = server
        .runtime()
        .block_on(front_end.search(query, &options))?;
    let style = Style::of_stdout();
    let mut stdout = std::io::stdout().lock();
    let total = console::figures::counted(answer.total.value, "document");
    writeln!(stdout, "\n{}  ({what}; {total})", style.bold(query))?;
    for (rank, hit) in (1..).zip(&answer.hits) {
        let (title, site) = (printable(hit.title.trim()), printable(&hit.site));
        writeln!(
            stdout,
            "  {rank}. {}  {}",
            style.bold(&title),
            style.faint(&format!("[{site}]"))
        )?;
        writeln!(stdout, "     {}", summary_text(&hit.summary, style).trim())?;
    }
    writeln!(stdout, "  {}", style.faint(&phases_line(&answer.phases_us)))?;
    stdout.flush()?;
    Ok(())
}
