//! `shorttail check`: verification of checksums, structure and cross references of an index.

use console::figures::{bytes, count, counted};
use console::opened::existing_directory;
use console::terminal::printable;
use index::{CheckReport, IndexError, Order};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
EXAMPLES:
    shorttail check my-index
        Print what was verified; on damage name file and byte offset, and exit with 1

It verifies the newest generation, and the checksums of the one before it, which is kept for readers
that have just opened it. It names every other file in the directory: files of an interrupted
commit, and files that no index writes. These are no damage.";

/// Upper limit on printed damages: enough to see a pattern, few enough to read.
const DAMAGES_MAX: usize = 100;

/// Upper limit on printed names of files that belong to no generation.
const STRAYS_MAX: usize = 100;

/// Verify every file of an index: checksums, structure, cross references
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: CheckArguments) -> anyhow::Result<ExitCode> {
    let storage = existing_directory(&arguments.directory)?;
    let (report, damages) = index::check(storage, DAMAGES_MAX)?;
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(table(&report).as_bytes())?;
    for damage in &damages {
        writeln!(stdout, "{}", printable(&damage_line(damage)))?;
    }
    if report.logged_changes > 0 {
        let changes = counted(report.logged_changes, "change");
        writeln!(
            stdout,
            "{changes} in the log of a server that ended; the next writer commits them"
        )?;
    }
    for line in stray_lines(&report) {
        writeln!(stdout, "{}", printable(&line))?;
    }
    let verdict = match damages.len() {
        0 => "no damage found".to_owned(),
        DAMAGES_MAX => format!("{DAMAGES_MAX} damages found; there may be more"),
        found => counted(found as u64, "damage") + " found",
    };
    writeln!(stdout, "{verdict}")?;
    stdout.flush()?;
    Ok(if damages.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn damage_line(damage: &IndexError) -> String {
    match damage {
        IndexError::Damaged { path, offset, what } => {
            format!("{}: byte {offset}: {what}", path.display())
        }
        IndexError::LogLost { loss } => {
            let path = loss.path.display();
            format!("{path}: byte {}: {}", loss.offset, loss.what())
        }
        other => other.to_string(),
    }
}

/// Formats the names of files in the directory that belong to no generation.
fn stray_lines(report: &CheckReport) -> Vec<String> {
    let unfinished = report.unfinished.iter();
    let mut lines: Vec<String> = unfinished.map(|said| format!("warning: {said}")).collect();
    let told = report.strays.iter().take(STRAYS_MAX);
    lines.extend(told.map(ToString::to_string));
    let untold = report.strays.len().saturating_sub(STRAYS_MAX);
    if untold > 0 {
        lines.push(format!("and {} more", counted(untold as u64, "name")));
    }
    lines
}

/// Formats the order of documents, with the number of segments of each order if they differ.
fn orders(report: &CheckReport) -> String {
    let counts = Order::ALL.map(|order| (order.name(), report.segments_by_order[order as usize]));
    let found: Vec<_> = counts
        .into_iter()
        .filter(|&(_, segments)| segments > 0)
        .collect();
    match found[..] {
        [] => Order::default().name().to_owned(),
        [(name, _)] => name.to_owned(),
        _ => found
            .iter()
            .map(|(name, segments)| format!("{name} ({})", counted(*segments, "segment")))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Formats the number of chunks, and of partitions if they differ.
fn chunks(report: &CheckReport) -> String {
    match report.partitions == report.chunks {
        true => count(report.chunks),
        false => format!(
            "{}, laid out for {}",
            count(report.chunks),
            counted(report.partitions, "partition")
        ),
    }
}

/// Formats the numbers of the checked generation and of the one before it, if it is kept.
fn generations(report: &CheckReport) -> String {
    let newest = count(report.generation);
    match report.generation_before {
        Some(before) => format!("{newest}, and checksums of {}", count(before)),
        None => newest,
    }
}

fn table(report: &CheckReport) -> String {
    let rows = [
        ("generation", generations(report)),
        (
            "files",
            format!("{}, {}", count(report.files), bytes(report.bytes)),
        ),
        ("chunks", chunks(report)),
        ("segments", count(report.segments)),
        ("order", orders(report)),
        ("documents", count(report.documents)),
        ("terms", count(report.terms)),
        ("postings", count(report.postings)),
        ("positions", count(report.positions)),
    ];
    rows.map(|(name, value)| format!("{name:<10} {value}\n"))
        .concat()
}
