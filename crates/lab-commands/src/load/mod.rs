//! `shorttail load`: response times of a search service under a given load.

mod arguments;
mod repetition;
mod search_time;
mod show;
mod watch;
mod written;

use ::load::{
    Label, Live, Probe, RateSearch, RunRecord, SelfCheck, ServerProcess, Settings, Summary,
    highest_kept, is_client_the_limit,
};
use anyhow::{Context, bail};
use console::failure::note;
use console::interrupt::Interrupt;
use repetition::Repetition;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use arguments::LoadArguments;
pub(crate) use watch::until_stopped;

/// Exit code of a run that was measured and has failed by one of [`Label::FAILED`].
const LABELLED: u8 = 3;

/// Runs the subcommand.
pub fn run(arguments: LoadArguments) -> anyhow::Result<ExitCode> {
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
    let server = ServerProcess::listening_at(settings.target.address());
    for (folder, seed) in folders.into_iter().zip(settings.seed..) {
        settings.seed = seed;
        let cpu_before = server.as_ref().and_then(ServerProcess::cpu_time);
        let (outcome, written) = watch::run(&settings, writes.as_ref(), interrupt)?;
        let summary = Summary::of(&outcome);
        let mut record = RunRecord::of(&settings, &outcome, &summary, self_check);
        record.notes.clone_from(&notes);
        let cpu_after = server.as_ref().and_then(ServerProcess::cpu_time);
        let cpu = cpu_before.zip(cpu_after);
        record.server_cpu_s = cpu.map(|(before, after)| after.saturating_sub(before).as_secs_f64());
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
    conclude(arguments, &settings, &repetitions)
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

fn conclude(
    arguments: &LoadArguments,
    settings: &Settings,
    repetitions: &[Repetition],
) -> anyhow::Result<ExitCode> {
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
    let labels = repetitions.iter().flat_map(|run| &run.summary.labels);
    Ok(exit_code(arguments, labels.map(Label::name)))
}

/// Returns the exit code of a measured run with these labels.
fn exit_code<'a>(arguments: &LoadArguments, labels: impl IntoIterator<Item = &'a str>) -> ExitCode {
    let is_failure = |name: &str| {
        Label::FAILED.contains(&name) && !arguments.despite.iter().any(|taken| taken == name)
    };
    match labels.into_iter().any(is_failure) {
        true => ExitCode::from(LABELLED),
        false => ExitCode::SUCCESS,
    }
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
    let save = arguments.save.as_deref();
    if let Some(folder) = save {
        prepare_search(folder)?;
    }
    let mut stdout = std::io::stdout();
    if !arguments.json {
        show::write_probe_head(&mut stdout, &search)?;
    }
    let server = ServerProcess::listening_at(settings.target.address());
    let mut cpu_before = server.as_ref().and_then(ServerProcess::cpu_time);
    let (mut printed, mut saved, mut number) = (Ok(()), Ok(()), 0);
    let live = std::sync::Arc::new(Live::default());
    let probes = watch::until_stopped(&live, interrupt, || {
        search.run(settings, &live, |probe, settings, outcome| {
            number += 1;
            let cpu_after = server.as_ref().and_then(ServerProcess::cpu_time);
            let cpu = cpu_before.zip(cpu_after);
            cpu_before = cpu_after;
            if let (Some(folder), true) = (save, saved.is_ok()) {
                let mut record = RunRecord::of(settings, outcome, &probe.summary, None);
                record.server_cpu_s =
                    cpu.map(|(before, after)| after.saturating_sub(before).as_secs_f64());
                saved = record.save(&folder.join(format!("probe-{number}")), &outcome.samples);
            }
            if !arguments.json && printed.is_ok() {
                printed = show::write_probe(&mut stdout, probe).and_then(|()| stdout.flush());
            }
        })
    })?;
    printed?;
    let found = show::search_json(&search, &probes);
    match arguments.json {
        true => writeln!(stdout, "{found}")?,
        false => show::write_search_end(&mut stdout, &search, &probes)?,
    }
    saved?;
    if let Some(folder) = save {
        save_search(folder, &found)?;
    }
    if live.is_stopped() {
        bail!("stopped before the end; the rates tried until then are above");
    }
    Ok(search_exit_code(arguments, &probes))
}

/// Returns 1 where no rate keeps the target, and that of `client-limited` where this client was the limit.
fn search_exit_code(arguments: &LoadArguments, probes: &[Probe]) -> ExitCode {
    match (highest_kept(probes), is_client_the_limit(probes)) {
        (Some(_), true) => exit_code(arguments, ["client-limited"]),
        (Some(_), false) => ExitCode::SUCCESS,
        (None, _) => ExitCode::FAILURE,
    }
}

/// Creates the folder of a search before it begins.
fn prepare_search(folder: &Path) -> anyhow::Result<()> {
    if folder.join("search.json").exists() || folder.join("probe-1").exists() {
        bail!(
            "{}: holds a search already; save to another folder",
            folder.display()
        );
    }
    Ok(RunRecord::prepare(folder)?)
}

fn save_search(folder: &Path, found: &Value) -> anyhow::Result<()> {
    let path = folder.join("search.json");
    std::fs::write(&path, format!("{found:#}\n"))
        .with_context(|| format!("{}: cannot write; make room there", path.display()))
}
