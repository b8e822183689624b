//! `shorttail lab`: experiments on the effects of this machine on search latency.

mod balance;
mod co_run;
mod journal;
mod kernels;
mod run;
mod show;
mod spin;

use ::lab::Tree;
use ::load::{Figure, RunRecord, Verdict, compare};
use anyhow::{Context, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use spin::Spun;

const EXAMPLES: &str = "\
EXAMPLES:
    shorttail lab doctor
        Show what this machine can measure and control, and the reason where it cannot
    shorttail lab run --index my-index --queries queries.txt --quick
        Run every experiment that this machine supports, in minutes
    shorttail lab report results
        Make one HTML file of the results: results/report.html
    shorttail lab compare before after
        Compare two runs saved by `shorttail load --save`";

const DOCTOR_EXAMPLES: &str = "\
EXAMPLES:
    shorttail lab doctor
        Show what this machine can measure and control, and the reason where it cannot
    shorttail lab doctor --json
        Print one line of JSON for each capability";

const LIST_EXAMPLES: &str = "\
EXAMPLES:
    shorttail lab list
        Show the experiments, and the reason where this machine does not support one";

const REPORT_EXAMPLES: &str = "\
EXAMPLES:
    shorttail lab report results
        Make one HTML file of the results: results/report.html";

const RESTORE_EXAMPLES: &str = "\
EXAMPLES:
    shorttail lab restore
        Put back the settings of an interrupted experiment; without one, nothing is changed";

const COMPARE_EXAMPLES: &str = "\
A run is a folder of `shorttail load --save`; with --repeat the folder holds numbered runs, which
are compared pair by pair. With three or more pairs, the confidence interval is that of the ratios
of pairs, and holds for further runs; with fewer, it comes from blocks of time within the runs.

Exit codes: 0 compared, 1 all runs of a side are invalid or too short, 2 wrong usage.

EXAMPLES:
    shorttail lab compare before after
        Show whether `after` is slower than `before`, faster, or neither with confidence";

/// Run experiments on the effects of this machine on search latency
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct LabArguments {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, clap::Subcommand)]
enum LabCommand {
    Doctor(DoctorArguments),
    List(ListArguments),
    Run(Box<run::RunArguments>),
    Report(ReportArguments),
    Compare(CompareArguments),
    Balance(balance::BalanceArguments),
    Restore(RestoreArguments),
    #[command(hide = true)]
    CoRun(co_run::CoRunArguments),
    #[command(hide = true)]
    Spin(spin::SpinArguments),
}

/// Show what this machine can measure and control, and the reason where it cannot
#[derive(Debug, clap::Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
struct DoctorArguments {
    /// Folder with the sys, proc and dev of a recorded machine, to examine in place of this one
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Print one line of JSON for each capability
    #[arg(long)]
    json: bool,
}

/// Show the experiments, and whether this machine supports each
#[derive(Debug, clap::Args)]
#[command(after_help = LIST_EXAMPLES)]
struct ListArguments {
    /// Print one line of JSON for each experiment
    #[arg(long)]
    json: bool,
}

/// Make one HTML file of the results
#[derive(Debug, clap::Args)]
#[command(after_help = REPORT_EXAMPLES)]
struct ReportArguments {
    /// The folder of results of `shorttail lab run`
    #[arg(value_name = "RESULTS")]
    results: PathBuf,
    /// The file to write [default: RESULTS/report.html]
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

/// Compare two runs
#[derive(Debug, clap::Args)]
#[command(after_help = COMPARE_EXAMPLES)]
struct CompareArguments {
    /// The run to compare with, as the baseline
    #[arg(value_name = "RUN")]
    first: PathBuf,
    /// The run that is compared with it
    #[arg(value_name = "RUN")]
    second: PathBuf,
    /// Print one object of JSON
    #[arg(long)]
    json: bool,
}

/// Restore settings of the machine that an interrupted run left changed
#[derive(Debug, clap::Args)]
#[command(after_help = RESTORE_EXAMPLES)]
struct RestoreArguments {
    /// Folder with the sys, proc and dev of the machine whose settings were changed
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    root: PathBuf,
}

/// Runs the subcommand. `spun` sends requests to the handlers of an index server.
pub fn run(arguments: LabArguments, spun: Spun) -> anyhow::Result<ExitCode> {
    match arguments.command {
        LabCommand::Doctor(arguments) => doctor(&arguments),
        LabCommand::List(arguments) => list(&arguments),
        LabCommand::Run(arguments) => run::run(&arguments),
        LabCommand::Report(arguments) => report(&arguments),
        LabCommand::Compare(arguments) => compare_runs(&arguments),
        LabCommand::Balance(arguments) => balance::run(&arguments),
        LabCommand::Restore(arguments) => restore(&arguments),
        LabCommand::CoRun(arguments) => co_run::run(&arguments),
        LabCommand::Spin(arguments) => spin::run(&arguments, spun),
    }
}

fn doctor(arguments: &DoctorArguments) -> anyhow::Result<ExitCode> {
    let tree = match &arguments.root {
        Some(root) if !root.is_dir() => bail!("{}: no such folder", root.display()),
        Some(root) => Tree::at(root),
        None => Tree::here(),
    };
    let mut found = ::lab::examine(&tree);
    found.push(match arguments.root {
        None => kernels::capability(),
        Some(_) => kernels::not_here(),
    });
    let mut stdout = std::io::stdout().lock();
    match arguments.json {
        true => show::write_lines(&mut stdout, &found)?,
        false => show::write_capabilities(&mut stdout, &found)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(arguments: &ListArguments) -> anyhow::Result<ExitCode> {
    let capabilities = ::lab::examine(&Tree::here());
    let mut stdout = std::io::stdout().lock();
    for experiment in ::lab::experiment::all()? {
        let lacking = experiment.lacking(&capabilities);
        match arguments.json {
            true => show::write_experiment_json(&mut stdout, &experiment, &lacking)?,
            false => show::write_experiment(&mut stdout, &experiment, &lacking)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn report(arguments: &ReportArguments) -> anyhow::Result<ExitCode> {
    let (session, results) = ::lab::read(&arguments.results)?;
    let path = match &arguments.into {
        Some(path) => path.clone(),
        None => arguments.results.join("report.html"),
    };
    let html = ::lab::report(&session, &results);
    std::fs::write(&path, html).with_context(|| format!("{}: cannot write", path.display()))?;
    writeln!(std::io::stdout(), "{}", path.display())?;
    Ok(ExitCode::SUCCESS)
}

fn compare_runs(arguments: &CompareArguments) -> anyhow::Result<ExitCode> {
    let (first, second) = (open_runs(&arguments.first)?, open_runs(&arguments.second)?);
    let outcomes = |runs: &[(RunRecord, ::load::Outcome)]| -> Vec<::load::Outcome> {
        runs.iter().map(|(_, outcome)| outcome.clone()).collect()
    };
    let figures = [
        Figure::Mean,
        Figure::Percentile(50.0),
        Figure::Percentile(90.0),
        Figure::Percentile(99.0),
    ];
    let (of_first, of_second) = (outcomes(&first), outcomes(&second));
    let found: Vec<_> = figures
        .iter()
        .filter_map(|&figure| compare(&of_first, &of_second, figure))
        .collect();
    if found.is_empty() {
        bail!("the runs have too few answers to compare; measure longer");
    }
    let remarks = show::remarks(&first, &second);
    let mut stdout = std::io::stdout().lock();
    match arguments.json {
        true => show::write_comparison_json(&mut stdout, &found, &remarks)?,
        false => show::write_comparison(&mut stdout, &found, &remarks)?,
    }
    let is_invalid = |found: &::load::Comparison| found.verdict == Verdict::Invalid;
    Ok(match found.iter().all(is_invalid) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

/// Opens the run of a folder, or the numbered runs in it.
fn open_runs(folder: &Path) -> anyhow::Result<Vec<(RunRecord, ::load::Outcome)>> {
    let numbered: Vec<PathBuf> = (1..)
        .map(|n: usize| folder.join(n.to_string()))
        .take_while(|path| path.join("run.json").exists())
        .collect();
    if numbered.is_empty() {
        return Ok(vec![RunRecord::open(folder)?]);
    }
    Ok(numbered
        .iter()
        .map(|path| RunRecord::open(path))
        .collect::<Result<_, _>>()?)
}

fn restore(arguments: &RestoreArguments) -> anyhow::Result<ExitCode> {
    let changes = ::lab::restore(&journal::path()?, &Tree::at(&arguments.root))?;
    let mut stdout = std::io::stdout().lock();
    match changes.is_empty() {
        true => writeln!(stdout, "nothing to put back")?,
        false => {
            for change in changes {
                writeln!(stdout, "/{}: {} again", change.file, change.old)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
