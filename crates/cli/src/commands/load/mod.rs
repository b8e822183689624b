//! `shorttail load`: response times of a search service under a given load.

mod arguments;
mod repetition;
mod search_time;
mod show;
mod watch;
mod written;

use crate::failure::note;
use crate::interrupt::Interrupt;
use ::load::{Live, RateSearch, RunRecord, SelfCheck, Settings, Summary, highest_kept};
use anyhow::bail;
use repetition::Repetition;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) use arguments::LoadArguments;
pub(super) use watch::until_stopped;

/// Runs the subcommand.
pub(super) fn run(arguments: LoadArguments) -> anyhow::Result<ExitCode> {
    arguments.check_order()?;
    let mut settings = arguments.settings()?;
    let interrupt = Interrupt::listen()?;
    if cfg!(debug_assertions) {
        note("warning: a debug build; its client is slow, build with --release");
    }
    settings.target.check_reachable()?;
    let mut notes = Map::new();
    if let Some(wanted) = arguments.search_time {
        let (queries, told) = search_time::made(&settings, wanted, &interrupt)?;
        settings.queries = arguments.ordered(queries);
        notes.insert("search_time".into(), told);
    }
    match &arguments.search {
        Some(search) => search_rate(&arguments, &settings, search, &interrupt),
        None => measure(&arguments, (settings, notes), &interrupt),
    }
}

fn measure(
    arguments: &LoadArguments,
    (mut settings, notes): (Settings, Map<String, Value>),
    interrupt: &Interrupt,
) -> anyhow::Result<ExitCode> {
    let folders = folders(arguments);
    for folder in folders.iter().flatten() {
        RunRecord::prepare(folder)?;
    }
    let self_check = match arguments.no_self_check {
        true => None,
        false => SelfCheck::run(&settings)?,
    };
    let writes = arguments.writes()?;
    let mut repetitions: Vec<Repetition> = Vec::new();
    let mut saved = Ok(());
    for (folder, seed) in folders.into_iter().zip(settings.seed..) {
        settings.seed = seed;
        let (outcome, written) = watch::run(&settings, writes.as_ref(), interrupt)?;
        let summary = Summary::of(&outcome);
        let mut record = RunRecord::of(&settings, &outcome, &summary, self_check);
        record.notes.clone_from(&notes);
        if let Some(folder) = folder {
            saved = record.save(&folder, &outcome.samples);
        }
        let is_complete = outcome.is_complete;
        repetitions.push(Repetition {
            record,
            outcome,
            summary,
            written,
        });
        // Samples that cannot be saved are shown before the error.
        if !is_complete || saved.is_err() {
            break;
        }
    }
    let mut stdout = std::io::stdout().lock();
    match arguments.json {
        true => show::write_json(&mut stdout, &repetitions)?,
        false => show::write_table(&mut stdout, &repetitions)?,
    }
    stdout.flush()?;
    saved?;
    conclude(&settings, &repetitions)
}

/// Returns the folder of each repetition, or `None` if samples are not saved: the folder itself, or numbered ones in
/// it.
fn folders(arguments: &LoadArguments) -> Vec<Option<PathBuf>> {
    let save = |folder: &Path, n: usize| match arguments.repeat {
        1 => folder.to_owned(),
        _ => folder.join(n.to_string()),
    };
    let numbers = 1..=arguments.repeat;
    numbers
        .map(|n| arguments.save.as_ref().map(|folder| save(folder, n)))
        .collect()
}

fn conclude(settings: &Settings, repetitions: &[Repetition]) -> anyhow::Result<ExitCode> {
    let answered = repetitions
        .iter()
        .any(|run| run.summary.response.count() > 0);
    let is_complete = repetitions.iter().all(|run| run.outcome.is_complete);
    if !is_complete {
        bail!("stopped before the end; what was measured until then is above, marked incomplete");
    }
    if !answered {
        let endings = repetitions.iter().flat_map(|run| &run.summary.endings);
        let Some((ending, count)) = endings.max_by_key(|(_, count)| **count) else {
            bail!("no request was due in this time; measure longer or offer more");
        };
        bail!(
            "{}: nothing was answered ({count} times `{}`); is it the address of a search service?",
            settings.target.url(),
            ending.name()
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn search_rate(
    arguments: &LoadArguments,
    settings: &Settings,
    search: &RateSearch,
    interrupt: &Interrupt,
) -> anyhow::Result<ExitCode> {
    let search = RateSearch {
        from_qps: arguments.rate.unwrap_or(search.from_qps),
        ..*search
    };
    let mut stdout = std::io::stdout();
    if !arguments.json {
        show::write_probe_head(&mut stdout, &search)?;
    }
    let mut printed = Ok(());
    let live = std::sync::Arc::new(Live::default());
    let probes = watch::until_stopped(&live, interrupt, || {
        search.run(settings, &live, |probe| {
            if !arguments.json && printed.is_ok() {
                printed = show::write_probe(&mut stdout, probe).and_then(|()| stdout.flush());
            }
        })
    })?;
    printed?;
    match arguments.json {
        true => show::write_search_json(&mut stdout, &search, &probes)?,
        false => show::write_search_end(&mut stdout, &search, &probes)?,
    }
    if live.is_stopped() {
        bail!("stopped before the end; the rates tried until then are above");
    }
    Ok(match highest_kept(&probes) {
        Some(_) => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
    })
}
