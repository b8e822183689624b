//! Reliability checks: servers that are killed, stopped, slowed, overloaded and abused.
//!
//! ```text
//! made-up collection ─► shorttail index ─► real processes on loopback ◄─ traffic, each answer compared
//!                                              ▲
//!                  signals, proxies that hold calls, too much load, clients that stall
//! ```
//!
//! Development only. Each check keeps limits that are reported beside its figures. `--sabotage` removes the protection
//! that a check guards and succeeds only if the check then fails. See docs/reliability.md.

mod checks;
mod client;
mod offered;
mod process;
mod proxy;
mod stage;
mod traffic;
mod verdict;

use checks::{Check, Run};
use clap::Parser;
use futures_util::stream::{self, StreamExt};
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;
use tokio::signal::unix::{SignalKind, signal};
use verdict::Verdict;

/// Number of checks that run at once where they do not judge times: they wait half of theirs.
const CHECKS_AT_ONCE: usize = 2;

const EXAMPLES: &str = "\
The program is that of SHORTTAIL_BINARY, or target/release/shorttail.

EXAMPLES:
    reliability
        All checks, small: four minutes
    reliability V5 V6 --full
        Two of them at the size that docs/reliability.md reports
    reliability --sabotage
        Do they notice when what they guard is gone?";

/// Check that the servers keep their promises
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
struct Arguments {
    /// The checks to run [default: all]
    #[arg(value_name = "CHECK", value_enum, ignore_case = true)]
    checks: Vec<Check>,
    /// A small size of each, the default
    #[arg(long, conflicts_with = "full")]
    small: bool,
    /// The full size of each
    #[arg(long)]
    full: bool,
    /// Take away what a check guards; success is that each of them fails
    #[arg(long)]
    sabotage: bool,
    /// What kills, delays and choices are drawn from
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// One line of JSON for each check
    #[arg(long)]
    json: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let ended = runtime.block_on(async {
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut terminated = signal(SignalKind::terminate())?;
        // Dropping the checks ends the processes that they have started.
        tokio::select! {
            ended = run(&arguments) => ended,
            _ = interrupted.recv() => anyhow::bail!("interrupted"),
            _ = terminated.recv() => anyhow::bail!("terminated"),
        }
    });
    runtime.shutdown_background();
    ended
}

async fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let checks = match arguments.checks.as_slice() {
        [] => Check::ALL,
        chosen => chosen,
    };
    let run = Run {
        full: arguments.full,
        sabotage: arguments.sabotage,
        seed: arguments.seed,
    };
    let begun = Instant::now();
    // At the small size those that do not judge times share the machine.
    let (beside, alone): (Vec<Check>, Vec<Check>) = checks
        .iter()
        .partition(|check| !arguments.full && !check.judges_times());
    let mut as_hoped = 0;
    for (checks, at_once) in [(alone, 1), (beside, CHECKS_AT_ONCE)] {
        let mut ended = stream::iter(checks)
            .map(|check| timed(check, &run))
            .buffer_unordered(at_once);
        while let Some(verdict) = ended.next().await {
            let verdict = verdict?;
            as_hoped += usize::from(verdict.passed != arguments.sabotage);
            show(&verdict, arguments.json)?;
        }
    }
    let wanted = if arguments.sabotage {
        "failed under sabotage, as they must"
    } else {
        "passed"
    };
    eprintln!(
        "{as_hoped} of {} {wanted}, {:.0} s",
        checks.len(),
        begun.elapsed().as_secs_f64()
    );
    Ok(match as_hoped == checks.len() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Runs a check, and says how long it took.
async fn timed(check: Check, run: &Run) -> anyhow::Result<Verdict> {
    let begun = Instant::now();
    let mut verdict = check.run(run).await?;
    verdict.seconds = begun.elapsed().as_secs_f64();
    Ok(verdict)
}

fn show(verdict: &Verdict, json: bool) -> anyhow::Result<()> {
    let line = match json {
        true => serde_json::to_string(verdict)?,
        false => verdict.line(),
    };
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()?;
    Ok(())
}
