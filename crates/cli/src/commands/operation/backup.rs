//! `shorttail snapshot` and `shorttail restore`: copies of an index in another directory.

use console::figures::{bytes, counted};
use console::meter::Meter;
use console::opened::{existing_directory, existing_index};
use console::terminal::{print, printable};
use index::{BackupProgress, BackupSummary, IndexError, back_up, restore};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use vfs::{RealStorage, SharedStorage};

const SNAPSHOT_EXAMPLES: &str = "\
Copies the newest generation, and the changes that a server has acknowledged since; the server goes
on meanwhile. Every file is verified before and after it is copied. A directory with an earlier
snapshot of the same index gets only the files that it lacks. A snapshot is an index: `search` and
`check` work on it.

EXAMPLES:
    shorttail snapshot my-index --into my-backup
    shorttail snapshot my-index --into my-backup --json";

const RESTORE_EXAMPLES: &str = "\
The directory may not hold an index yet. Every file is verified before and after it is copied.

EXAMPLES:
    shorttail restore my-backup --into restored-index";

/// Copy an index to another directory
#[derive(Debug, clap::Args)]
#[command(after_help = SNAPSHOT_EXAMPLES)]
pub(crate) struct SnapshotArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// The directory of the copy: new, empty, or with an earlier snapshot of this index
    #[arg(long, value_name = "BACKUP")]
    into: PathBuf,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Copy a snapshot to a new directory
#[derive(Debug, clap::Args)]
#[command(after_help = RESTORE_EXAMPLES)]
pub(crate) struct RestoreArguments {
    /// The directory of the snapshot
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,
    /// The directory of the index: new or empty
    #[arg(long, alias = "index", value_name = "INDEX")]
    into: PathBuf,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Runs `snapshot`.
pub(crate) fn run_snapshot(arguments: SnapshotArguments) -> anyhow::Result<ExitCode> {
    let source = existing_index(&arguments.directory)?;
    copied(
        &source,
        &arguments.into,
        arguments.json,
        "snapshot",
        back_up,
    )
}

/// Runs `restore`.
pub(crate) fn run_restore(arguments: RestoreArguments) -> anyhow::Result<ExitCode> {
    let backup = existing_directory(&arguments.backup)?;
    copied(&backup, &arguments.into, arguments.json, "restore", restore)
}

type Copy = fn(
    &SharedStorage,
    &SharedStorage,
    &dyn Fn(BackupProgress),
) -> Result<BackupSummary, IndexError>;

fn copied(
    source: &SharedStorage,
    into: &Path,
    json: bool,
    what: &'static str,
    copy: Copy,
) -> anyhow::Result<ExitCode> {
    let target: SharedStorage = Arc::new(RealStorage::create_directory(into)?);
    let meter = RefCell::new(Meter::start(what, None));
    let summary = copy(source, &target, &|progress| {
        let BackupProgress {
            bytes: done,
            bytes_total: total,
        } = progress;
        let message = |_| format!("{} of {}", bytes(done), bytes(total));
        meter
            .borrow_mut()
            .update_of(what, done, total.max(1), message);
    })?;
    let elapsed_s = meter.borrow().elapsed_s();
    drop(meter);
    print(&match json {
        true => format!("{}\n", json_summary(&summary, elapsed_s)),
        false => text_summary(&summary, into),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn text_summary(summary: &BackupSummary, into: &Path) -> String {
    let mut text = format!(
        "{} at generation {}: {} in {}, {}\ncopied     {}, {}\n",
        printable(&into.display().to_string()),
        summary.generation,
        counted(summary.documents, "document"),
        counted(summary.files, "file"),
        bytes(summary.bytes),
        counted(summary.files_copied, "file"),
        bytes(summary.bytes_copied),
    );
    if summary.logged_changes > 0 {
        let changes = counted(summary.logged_changes, "change");
        text.push_str(&format!(
            "log        {changes} after the generation; the next writer commits them (shorttail recover)\n"
        ));
    }
    text
}

fn json_summary(summary: &BackupSummary, elapsed_s: f64) -> serde_json::Value {
    serde_json::json!({
        "generation": summary.generation,
        "documents": summary.documents,
        "files": summary.files,
        "bytes": summary.bytes,
        "files_copied": summary.files_copied,
        "bytes_copied": summary.bytes_copied,
        "logged_changes": summary.logged_changes,
        "elapsed_s": elapsed_s,
    })
}
