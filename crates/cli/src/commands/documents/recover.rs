//! `shorttail recover`: the changes that an ended server left in its write-ahead log are committed.

use console::figures::{bytes, counted};
use console::opened::{cores_count, existing_index};
use console::terminal::{print, printable};
use index::{BuildOptions, Recovery, recover};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
`serve --writable` and every command that writes do this by themselves. It is for a damaged log:
they refuse one that has lost changes which had been acknowledged, and name them. --accept-loss
commits the others.

EXAMPLES:
    shorttail recover my-index";

/// Commit what a stopped server left in its log
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecoverArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// Go on without acknowledged changes that cannot be read
    #[arg(long)]
    accept_loss: bool,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: RecoverArguments) -> anyhow::Result<ExitCode> {
    let storage = existing_index(&arguments.directory)?;
    let options = BuildOptions {
        threads: cores_count(),
        ..BuildOptions::default()
    };
    let recovery = recover(&storage, &options, arguments.accept_loss)?;
    print(&match arguments.json {
        true => format!("{}\n", json_summary(&recovery)),
        false => text_summary(&recovery, &arguments),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn text_summary(recovery: &Recovery, arguments: &RecoverArguments) -> String {
    let mut text = format!("recovered  {}\n", counted(recovery.changes, "change"));
    for loss in &recovery.losses {
        let path = loss.path.display().to_string();
        text.push_str(&format!(
            "lost       {}: byte {}: {}\n",
            printable(&path),
            loss.offset,
            loss.what()
        ));
    }
    if recovery.torn_bytes > 0 {
        text.push_str(&format!(
            "cut off    {} of a last write that was never acknowledged\n",
            bytes(recovery.torn_bytes)
        ));
    }
    let directory = arguments.directory.display().to_string();
    text.push_str(&format!(
        "{} is at generation {}\n",
        printable(&directory),
        recovery.generation
    ));
    text
}

fn json_summary(recovery: &Recovery) -> serde_json::Value {
    let losses = recovery.losses.iter().map(|loss| {
        serde_json::json!({
            "file": loss.path.display().to_string(),
            "offset": loss.offset,
            "first_change": loss.first_record + 1,
            "changes": loss.records,
        })
    });
    serde_json::json!({
        "recovered": recovery.changes,
        "lost": losses.collect::<Vec<_>>(),
        "torn_bytes": recovery.torn_bytes,
        "generation": recovery.generation,
    })
}
