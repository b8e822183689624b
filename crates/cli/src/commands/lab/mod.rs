//! `shorttail lab`: experiments on the effects of this machine on search latency.

mod balance;
mod co_run;
mod kernels;
mod show;

use super::open_index;
use crate::failure::note;
use crate::interrupt::Interrupt;
use crate::query_file::read_queries;
use ::lab::experiment::View;
use ::lab::{Depth, Experiment, Knob, LabError, Laboratory, Plan, Step, Tree};
use ::load::{Figure, Live, RunRecord, compare, parse_duration};
use anyhow::{Context, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

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

const RUN_EXAMPLES: &str = "\
The laboratory starts and stops servers. It records the settings of the machine that an experiment
changes and restores them after it, also on Ctrl-C; after a crash, `shorttail lab restore` does it.

EXAMPLES:
    shorttail lab run --index my-index --queries queries.txt --quick
        Run every experiment that this machine supports
    shorttail lab run partitions smt --index my-index --queries queries.txt --full --against-itself
        Run two of them with long runs, the first arm also against itself
    shorttail lab run partitions --index my-index --queries queries.txt --set governor=performance
        Run one experiment at a fixed frequency";

const REPORT_EXAMPLES: &str = "\
EXAMPLES:
    shorttail lab report results
        Make one HTML file of the results: results/report.html";

const RESTORE_EXAMPLES: &str = "\
EXAMPLES:
    shorttail lab restore
        Put back the settings of an interrupted experiment; without one, nothing is changed";

const COMPARE_EXAMPLES: &str = "\
A run is a folder of `shorttail load --save`; with --repeat the folder holds numbered runs, which are
compared pair by pair. With three or more pairs, the confidence interval is that of the ratios of
pairs, and holds for further runs; with fewer, it comes from blocks of time within the runs.

EXAMPLES:
    shorttail lab compare before after
        Show whether `after` is slower than `before`, faster, or neither with confidence";

/// Run experiments on the effects of this machine on search latency
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LabArguments {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, clap::Subcommand)]
enum LabCommand {
    Doctor(DoctorArguments),
    List(ListArguments),
    Run(RunArguments),
    Report(ReportArguments),
    Compare(CompareArguments),
    Balance(balance::BalanceArguments),
    Restore(RestoreArguments),
    #[command(hide = true)]
    CoRun(co_run::CoRunArguments),
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

/// Run experiments
#[derive(Debug, clap::Args)]
#[command(after_help = RUN_EXAMPLES)]
struct RunArguments {
    /// Names of the experiments [default: all]
    #[arg(value_name = "EXPERIMENT")]
    names: Vec<String>,
    /// The directory of the index
    #[arg(long, value_name = "DIR")]
    index: PathBuf,
    /// File of the queries: one a line, or id<TAB>query
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// File of documents, JSON lines, for the experiments that index growing parts of it
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Folder of the results; those of an earlier run are replaced
    #[arg(long, value_name = "RESULTS", default_value = "results")]
    into: PathBuf,
    /// Short runs, to check that everything works [the default]
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Long runs, for reliable results
    #[arg(long)]
    full: bool,
    /// Duration of each measured run [default: 4s, with --full 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// Measure the first arm of each experiment also against itself
    #[arg(long)]
    against_itself: bool,
    /// Seed of schedules and orders
    #[arg(long, value_name = "SEED", default_value = "1")]
    seed: u64,
    /// Change a setting of the machine for all runs: governor, frequency-max (MHz), turbo, idle-states,
    /// wake-up-max (µs), smt, huge-pages, prefetchers, cache-ways (a share)
    #[arg(long, value_name = "SETTING=VALUE", value_parser = parse_setting)]
    set: Vec<(Knob, String)>,
    /// Also count cache misses of a few queries under Valgrind, on a simulated processor
    #[arg(long)]
    simulate_caches: bool,
    /// Folder with the sys, proc and dev of the machine whose settings are changed
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    root: PathBuf,
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

/// Runs the subcommand.
pub(super) fn run(arguments: LabArguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        LabCommand::Doctor(arguments) => doctor(&arguments),
        LabCommand::List(arguments) => list(&arguments),
        LabCommand::Run(arguments) => run_experiments(&arguments),
        LabCommand::Report(arguments) => report(&arguments),
        LabCommand::Compare(arguments) => compare_runs(&arguments),
        LabCommand::Balance(arguments) => balance::run(&arguments),
        LabCommand::Restore(arguments) => restore(&arguments),
        LabCommand::CoRun(arguments) => co_run::run(&arguments),
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

fn run_experiments(arguments: &RunArguments) -> anyhow::Result<ExitCode> {
    let mut experiments = ::lab::experiment::chosen(&arguments.names)?;
    let is_simulation = |experiment: &Experiment| experiment.view == View::SimulatedCaches;
    if arguments.simulate_caches && !experiments.iter().any(is_simulation) {
        let simulations = ::lab::experiment::all()?.into_iter().filter(is_simulation);
        experiments.extend(simulations);
    }
    if cfg!(debug_assertions) {
        note("warning: a debug build; its times say nothing, build with --release");
    }
    let queries = read_queries(&arguments.queries)?;
    let plan = Plan {
        binary: std::env::current_exe().context("cannot find this program itself")?,
        partitions: open_index(&arguments.index)?.layout().partitions as usize,
        index: arguments.index.clone(),
        queries_name: arguments.queries.display().to_string(),
        queries: queries.into_iter().map(|query| query.text).collect(),
        corpus: arguments.corpus.clone(),
        into: arguments.into.clone(),
        journal: journal()?,
        depth: arguments.depth(),
        against_itself: arguments.against_itself,
        seed: arguments.seed,
        settings: arguments.set.clone(),
        tree: Tree::at(&arguments.root),
        simulate_caches: arguments.simulate_caches,
    };
    let interrupt = Interrupt::listen()?;
    let live = Live::default();
    let ended = super::load::until_stopped(&live, &interrupt, || {
        let mut laboratory = Laboratory::open(&plan, &live)?;
        for experiment in &experiments {
            laboratory.run(experiment, |step| note(&said(&step)))?;
        }
        Ok::<(), LabError>(())
    });
    ended?;
    let mut stdout = std::io::stdout().lock();
    writeln!(
        stdout,
        "{} is filled; `shorttail lab report {}` makes a page of it",
        arguments.into.display(),
        arguments.into.display()
    )?;
    Ok(ExitCode::SUCCESS)
}

fn parse_setting(text: &str) -> Result<(Knob, String), String> {
    let (knob, value) = text
        .split_once('=')
        .ok_or_else(|| "give SETTING=VALUE, such as turbo=off".to_owned())?;
    Ok((knob.parse()?, value.to_owned()))
}

impl RunArguments {
    fn depth(&self) -> Depth {
        let depth = if self.full { Depth::FULL } else { Depth::QUICK };
        Depth {
            duration: self.duration.unwrap_or(depth.duration),
            ..depth
        }
    }
}

fn said(step: &Step) -> String {
    match step {
        Step::Begins { name, runs_count } => format!("{name}: {runs_count} runs"),
        Step::Runs { what } => format!("    {what}"),
        Step::Ends { name, reading } => format!("{name}: {reading}"),
        _ => String::new(),
    }
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
    Ok(ExitCode::SUCCESS)
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
    let changes = ::lab::restore(&journal()?, &Tree::at(&arguments.root))?;
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

/// Returns the path of the journal of changed settings, in the user's folder for the state of programs.
fn journal() -> anyhow::Result<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    let state = state.filter(|path| path.is_absolute()).or_else(home);
    let state = state.context("neither HOME nor XDG_STATE_HOME is set; set one of them")?;
    Ok(state.join("shorttail/settings.journal"))
}
