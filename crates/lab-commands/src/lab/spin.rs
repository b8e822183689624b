//! `shorttail lab spin`: ranges that spin in place of searches, from a file to standard output. For the laboratory alone.
//!
//! The handlers are those of a server, which this crate does not link: the program brings the function.

use ::lab::{SpinReport, SpinRequest};
use anyhow::Context;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Sends each query of a request to handlers at its instant, and waits for all answers.
pub type Spun = fn(&SpinRequest) -> anyhow::Result<SpinReport>;

/// Spin in place of searches, and print the times
#[derive(Debug, clap::Args)]
pub(super) struct SpinArguments {
    /// File of the request, JSON
    #[arg(value_name = "FILE")]
    request: PathBuf,
}

/// Runs the subcommand with `spun`.
pub(crate) fn run(arguments: &SpinArguments, spun: Spun) -> anyhow::Result<ExitCode> {
    let path = arguments.request.display();
    let json = std::fs::read(&arguments.request).with_context(|| format!("{path}"))?;
    let request: SpinRequest = serde_json::from_slice(&json).with_context(|| format!("{path}"))?;
    let report = spun(&request)?;
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer(&mut stdout, &report)?;
    writeln!(stdout)?;
    Ok(ExitCode::SUCCESS)
}
