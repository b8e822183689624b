//! `shorttail lab run`: experiments on servers that it starts.

use super::{journal, show};
use crate::load::until_stopped;
use crate::policies::{Policies, parse_policies};
use ::lab::experiment::View;
use ::lab::{Depth, Experiment, Knob, LabError, Laboratory, Plan, Step, Tree};
use ::load::{Live, SearchTime};
use anyhow::{Context, bail};
use clap::builder::RangedU64ValueParser;
use console::failure::note;
use console::interrupt::Interrupt;
use console::opened::open_index;
use console::query_file::read_queries;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use units::Times;

const RUN_EXAMPLES: &str = "\
The laboratory starts and stops servers. It records the settings of the machine that an experiment
changes and restores them after it, also on Ctrl-C; after a crash, `shorttail lab restore` does it.

Exit codes: 0 measured, 1 stopped, or an experiment whose runs were all invalid, 2 wrong usage.

EXAMPLES:
    shorttail lab run --index my-index --queries queries.txt --quick
        Run every experiment that this machine supports
    shorttail lab run partitions smt --index my-index --queries queries.txt --full --against-itself
        Run two of them with long runs, the first arm also against itself
    shorttail lab run partitions --index my-index --queries queries.txt --set governor=performance
        Run one experiment at a fixed frequency
    shorttail lab run query-parallelism --index my-index --queries queries.txt
        Compare scheduling policies of handlers under five loads, a burst and at saturation";

/// Run experiments
#[derive(Debug, clap::Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(super) struct RunArguments {
    /// Names of the experiments [default: all]
    #[arg(value_name = "EXPERIMENT")]
    names: Vec<String>,
    /// The directory of the index
    #[arg(long, value_name = "INDEX", help_heading = "Searches")]
    index: PathBuf,
    /// File of the queries: one a line, or id<TAB>query
    #[arg(long, value_name = "FILE", help_heading = "Searches")]
    queries: PathBuf,
    /// Wanted search time of a query alone, mean or mean,p99: given queries are joined by OR and picked until they have
    /// it, for all experiments [default: as given; for query-parallelism 0.5ms,5ms]
    #[arg(long, value_name = "MEAN", value_parser = SearchTime::parse, help_heading = "Searches")]
    search_time: Option<SearchTime>,
    /// Policies of query-parallelism, the baseline first [default: fifo, fifo:2 up to one a core, least-left,
    /// boost, help-if-idle]
    #[arg(long, value_name = "A,B", value_parser = parse_policies, help_heading = "Searches")]
    policies: Option<Policies>,
    /// Handlers of query-parallelism; fewer than cores leave some to the clients [default: one a core]
    #[arg(long, value_name = "COUNT", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024), help_heading = "Searches")]
    handlers: Option<usize>,
    /// File of documents, JSON lines, for the experiments that index growing parts of it
    #[arg(long, value_name = "FILE", help_heading = "Searches")]
    corpus: Option<PathBuf>,
    /// Folder of the results; those of an earlier run are replaced
    #[arg(long, value_name = "RESULTS", default_value = "results")]
    into: PathBuf,
    /// Short runs, to check that everything works [the default]
    #[arg(long, conflicts_with = "full", help_heading = "Runs")]
    quick: bool,
    /// Long runs, for reliable results
    #[arg(long, help_heading = "Runs")]
    full: bool,
    /// Duration of each measured run [default: 4s, with --full 60s]
    #[arg(long, value_name = "TIME", value_parser = Times::ANY.durations(), help_heading = "Runs")]
    duration: Option<Duration>,
    /// Measure the first arm of each experiment also against itself
    #[arg(long, help_heading = "Runs")]
    against_itself: bool,
    /// Seed of schedules and orders
    #[arg(long, value_name = "SEED", default_value = "1", help_heading = "Runs")]
    seed: u64,
    /// Change a setting of the machine for all runs: governor, frequency-max (MHz), turbo, idle-states,
    /// wake-up-max (µs), smt, huge-pages, prefetchers, cache-ways (a share)
    #[arg(long, value_name = "SETTING=VALUE", value_parser = parse_setting, help_heading = "Machine")]
    set: Vec<(Knob, String)>,
    /// Also count cache misses of a few queries under Valgrind, on a simulated processor
    #[arg(long, help_heading = "Machine")]
    simulate_caches: bool,
    /// Print the result of each experiment as one line of JSON
    #[arg(long)]
    json: bool,
    /// Folder with the sys, proc and dev of the machine whose settings are changed
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    root: PathBuf,
}

/// Runs the experiments.
pub(super) fn run(arguments: &RunArguments) -> anyhow::Result<ExitCode> {
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
        search_time: arguments.search_time,
        policies: (arguments.policies.as_ref()).map_or_else(Vec::new, |given| given.names.clone()),
        handlers: arguments.handlers,
        corpus: arguments.corpus.clone(),
        into: arguments.into.clone(),
        journal: journal::path()?,
        depth: arguments.depth(),
        against_itself: arguments.against_itself,
        seed: arguments.seed,
        settings: arguments.set.clone(),
        tree: Tree::at(&arguments.root),
        simulate_caches: arguments.simulate_caches,
    };
    let interrupt = Interrupt::listen()?;
    let live = Live::default();
    let results = until_stopped(&live, &interrupt, || {
        let mut laboratory = Laboratory::open(&plan, &live)?;
        let mut results = Vec::new();
        for experiment in &experiments {
            results.push(laboratory.run(experiment, |step| note(&said(&step)))?);
        }
        Ok::<_, LabError>(results)
    })?;
    let mut stdout = std::io::stdout().lock();
    match arguments.json {
        true => show::write_lines(&mut stdout, &results)?,
        false => writeln!(
            stdout,
            "{} is filled; `shorttail lab report {}` makes a page of it",
            arguments.into.display(),
            arguments.into.display()
        )?,
    }
    let undecided = results.iter().filter(|result| result.is_invalid());
    let undecided: Vec<&str> = undecided.map(|result| result.name.as_str()).collect();
    if !undecided.is_empty() {
        bail!(
            "{}: all runs are invalid, so there is no verdict; run again on a quiet machine, or with longer runs",
            undecided.join(", ")
        );
    }
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
