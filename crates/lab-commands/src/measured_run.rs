//! Folders of load runs as search times: CPU demand, labels, and the measured response times.

use crate::search_times::{MeasuredRun, RunArguments, SearchTimes, UNFIT};
use anyhow::{Context, bail};
use load::{Demand, Outcome, RunRecord, Summary};
use model::plan::Replay;
use model::simulate::Searches;
use std::path::{Path, PathBuf};

/// Reads a folder of `shorttail load --save`: the demand of every measured answer. A server with several partitions
/// reports the wall clock of the slowest one alone, so without CPU times only a run against one partition has the whole
/// work of a query. Runs whose labels make their times unfit are refused, unless `--despite` names the labels.
pub(crate) fn read_run(folder: &Path, arguments: &RunArguments) -> anyhow::Result<SearchTimes> {
    let mut runs = Vec::new();
    for folder in repetitions(folder)? {
        runs.push(RunRecord::open(&folder)?);
    }
    let despite = accepted(folder, &runs, &arguments.despite)?;
    let demands: Vec<Demand> = runs
        .iter()
        .filter_map(|(record, outcome)| Demand::of(record, outcome))
        .collect();
    let Some(demand) = Demand::merged(&demands) else {
        bail!(
            "{}: no answer tells its search time; load a server of this program, or give a file of times",
            folder.display()
        );
    };
    let rows = demand.searches_ms.iter().map(|&ms| vec![ms]);
    let searches = Searches::new(rows).with_context(|| folder.display().to_string())?;
    let cores = arguments
        .run_cores
        .or(runs
            .iter()
            .find_map(|(record, _)| record.machine.cores_count))
        .unwrap_or(1);
    let mut assumed = demand.assumed();
    assumed.push(format!(
        "the server of the run had {cores} core{} (--run-cores), one partition, and all of their time",
        if cores == 1 { "" } else { "s" }
    ));
    let measured_s: f64 = runs
        .iter()
        .map(|(_, outcome)| outcome.measured.as_secs_f64())
        .sum();
    let responses_ms = responses_ms(&runs);
    Ok(SearchTimes {
        searches,
        run: Some(MeasuredRun {
            despite,
            idle_ms: demand.idle_ms,
            assumed,
            replays: demands.iter().map(|one| replay(one, cores)).collect(),
            rate_per_s: responses_ms.len() as f64 / measured_s.max(1e-9),
            responses_ms,
            rest_ms: demand.rest_ms,
        }),
    })
}

fn replay(demand: &Demand, cores: usize) -> Replay {
    let both = demand.searches_ms.iter().zip(&demand.rest_ms);
    Replay {
        arrivals_ms: demand.arrivals_ms.clone(),
        demands_ms: both
            .map(|(search_ms, rest_ms)| search_ms + rest_ms)
            .collect(),
        fixed_ms: demand.idle_ms,
        cores,
    }
}

/// Returns the response times of all measured requests in ms, ascending; infinity for those without an answer.
fn responses_ms(runs: &[(RunRecord, Outcome)]) -> Vec<f64> {
    let samples = runs.iter().flat_map(|(_, outcome)| outcome.measured());
    let mut responses_ms: Vec<f64> = samples
        .map(|sample| {
            let answered = sample.response_ns().filter(|_| sample.ending.is_answer());
            answered.map_or(f64::INFINITY, |ns| ns as f64 / 1e6)
        })
        .collect();
    responses_ms.sort_unstable_by(f64::total_cmp);
    responses_ms
}

/// Returns the labels with their reasons, all of which `despite` names.
fn accepted(
    folder: &Path,
    runs: &[(RunRecord, Outcome)],
    despite: &[String],
) -> anyhow::Result<Vec<String>> {
    let mut labels: Vec<(String, String)> = Vec::new();
    for (record, outcome) in runs {
        // Labels of the record may be of an older program; those of the samples lack what only the run knew.
        let found = Summary::of(outcome).labels;
        let found = found
            .iter()
            .map(|label| (label.name().to_owned(), label.to_string()));
        let recorded = record
            .labels
            .iter()
            .map(|name| (name.clone(), name.clone()));
        for (name, reason) in found.chain(recorded) {
            let is_unfit = UNFIT.contains(&name.as_str());
            if is_unfit && !labels.iter().any(|(known, _)| *known == name) {
                labels.push((name, reason));
            }
        }
    }
    let refused: Vec<&(String, String)> = labels
        .iter()
        .filter(|(name, _)| !despite.contains(name))
        .collect();
    if refused.is_empty() {
        return Ok(labels.into_iter().map(|(_, reason)| reason).collect());
    }
    let reasons: Vec<&str> = refused.iter().map(|(_, reason)| reason.as_str()).collect();
    let names: Vec<&str> = labels.iter().map(|(name, _)| name.as_str()).collect();
    bail!(
        "{}: the times of this run are not those of its server ({}); measure again, or take it all the same with \
         --despite {}",
        folder.display(),
        reasons.join("; "),
        names.join(",")
    )
}

/// Returns the folders of the repetitions of a run (`load --repeat`): 1, 2 and so on, or the folder itself.
fn repetitions(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !folder.join("run.json").exists() && folder.join("probe-1").is_dir() {
        bail!(
            "{}: a search for a rate, whose probes had rates of their own; give one of them, such as {}",
            folder.display(),
            folder.join("probe-1").display()
        );
    }
    let numbered = (1..).map(|number: u32| folder.join(number.to_string()));
    let found: Vec<PathBuf> = numbered.take_while(|path| path.is_dir()).collect();
    Ok(match found.is_empty() {
        true => vec![folder.to_owned()],
        false => found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfit_labels_are_those_of_load() {
        assert_eq!(UNFIT, load::Label::UNFIT);
    }
}
