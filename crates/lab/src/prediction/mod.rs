//! Prediction of response times under load by the model, from a single client, and its error.
//!
//! ```text
//! alone ─► the time of each query that meets no other ────┐
//!                                                        ├─► model ─► predicted ─┐
//! schedule (instants and queries, drawn before the run) ──┤                       ├─► error
//!                                                        └─► server ─► measured ─┘
//!
//! a round:  alone │ rate 1 │ alone │ rate 2 │ alone │ rate 3 │ alone │ rate 4 │ alone
//! ```
//!
//! Predicted and measured runs share one schedule, so random variation of the schedule causes no error.
//! Runs are short and alternate, so that other activity on the machine affects both. Servers live
//! through all rounds, because pages of the index that a server touches for the first time would slow
//! its first searches.
use crate::experiment::Experiment;
use crate::laboratory::{Depth, Laboratory, Step};
use crate::{LabError, results::ExperimentResult};
use load::{Outcome, Sample, Summary};
use model::shared_cores::{self, Query, Setup};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

mod alone;
mod foreseen;
mod heavier;
mod offer;
mod view;

use alone::{Alone, Arrival, Asking};
pub(crate) use foreseen::{Both, Foreseen, Made, Round, Steadiness};
pub(crate) use heavier::Heavier;
use offer::{Asked, SERVED};

/// Upper limit on the duration of a round; short rounds keep single-client runs close in time to the
/// loaded ones.
const ROUND_MAX: Duration = Duration::from_secs(5);
/// Duration of a single-client run, as a share of a loaded run.
const ALONE_SHARE: f64 = 0.25;
/// Mean number of times that a single client sends each query, over all runs.
const ASKED_EACH: f64 = 5.0;
/// Upper limit on distinct queries.
const QUERIES_MAX: usize = 1_000;
/// Draws per prediction, each with different answers of the single client.
const DRAWS: u64 = 5;
/// Number of cores for replays: measured searches already include their waits for a core.
const CORES_ENOUGH: usize = 1 << 16;
/// Upper limit on the duration of a trial that measures search times.
const TRIAL_MAX: Duration = Duration::from_secs(1);

/// Number of rounds and duration of their runs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rounds {
    count: usize,
    loaded: Duration,
    alone: Duration,
}

/// A measured run to be predicted: its position in the results, its schedule and its measurements.
struct Kept {
    server: usize,
    cell: usize,
    schedule: Vec<Arrival>,
    /// Search times of each request in ms, if its answer reports them.
    searches_ms: Vec<Option<Vec<f64>>>,
    measured: Both,
}

/// A prediction experiment of a laboratory.
pub(crate) struct Prediction<'a> {
    pub(crate) lab: &'a Laboratory<'a>,
}

impl Rounds {
    fn of(repetitions: usize, duration: Duration) -> Rounds {
        let each = duration.as_secs_f64() / ROUND_MAX.as_secs_f64();
        let each = each.ceil().max(1.0);
        let loaded = duration.div_f64(each);
        Rounds {
            count: repetitions * each as usize,
            loaded,
            alone: loaded.mul_f64(ALONE_SHARE),
        }
    }
}

/// Returns the number of runs in the experiment, for progress reports.
pub(crate) fn runs_count(experiment: &Experiment, depth: Depth) -> usize {
    let rounds = Rounds::of(depth.repetitions, depth.duration).count;
    1 + SERVED.len() * (1 + rounds * (1 + 2 * experiment.shares.len()))
}

impl Prediction<'_> {
    /// Runs the experiment and fills in the result.
    pub(crate) fn run(
        &self,
        experiment: &Experiment,
        result: &mut ExperimentResult,
        told: &mut impl FnMut(Step),
    ) -> Result<(), LabError> {
        let _settings_of_machine = self.lab.prepare(&BTreeMap::new())?;
        let depth = self.lab.plan.depth;
        let rounds = Rounds::of(depth.repetitions, depth.duration);
        let mut servers = self.servers(result, told)?;
        let queries = self.heavier(&servers[0], &rounds, experiment.shares.len(), told)?;
        for asked in &mut servers {
            asked.warm_up(self.lab, &queries, told)?;
        }
        let mut alone: Vec<Alone> = Vec::new();
        let mut cells: Vec<Foreseen> = Vec::new();
        for asked in &servers {
            alone.push(Alone::of(asked.served.partitions));
            cells.extend(asked.cells(self.lab.cores_count, &experiment.shares));
        }
        let mut summaries = Vec::new();
        let mut kept = Vec::new();
        for round in 0..rounds.count {
            for (server, asked) in servers.iter_mut().enumerate() {
                let of = (server, &mut alone[server]);
                for (run, summary) in self.play(asked, of, &cells, (round, &rounds), told)? {
                    kept.push(run);
                    summaries.push(summary);
                }
            }
        }
        let mut made = Made {
            queries,
            steadiness: Vec::new(),
            cores_count: self.lab.cores_count,
        };
        for (asked, alone) in servers.iter().zip(&mut alone) {
            let name = asked.served.name;
            if alone.is_empty() {
                let reason = format!("{name}: no answer told of all its searches");
                result.lacking.push(reason);
                return Ok(());
            }
            alone.find_cold();
            alone.find_paces();
            let (quickest, slowest) = alone.paces();
            made.steadiness.push(Steadiness {
                name,
                quickest,
                slowest,
                cold_share: alone.cold_share(),
            });
        }
        // Trials were short and touched pages that were not yet resident, so their mean is replaced.
        made.queries.search_ms = alone[0].mean_search_ms();
        let mut unknown = 0;
        for (number, run) in kept.iter().enumerate() {
            let alone = &alone[run.server];
            unknown += alone.unknown(&run.schedule);
            let (seed, cores) = (self.lab.plan.seed, self.lab.cores_count);
            let round = round_of(alone, run, (number, rounds.alone), seed, cores)?;
            cells[run.cell].rounds.push(round);
        }
        if unknown > 0 {
            result.warnings.push(format!(
                "{unknown} requests asked what one client never asked: another query's answer stands for theirs"
            ));
        }
        view::show(result, &cells, &summaries, &made);
        Ok(())
    }

    /// Plays one round of one server: its rates, with single-client runs before, between and after
    /// them.
    fn play(
        &self,
        asked: &mut Asked,
        (server, alone): (usize, &mut Alone),
        cells: &[Foreseen],
        (round, rounds): (usize, &Rounds),
        told: &mut impl FnMut(Step),
    ) -> Result<Vec<(Kept, Summary)>, LabError> {
        let name = asked.served.name;
        let mut say = |what: &str| {
            told(Step::Runs {
                what: format!("{name}, {what}, round {}", round + 1),
            });
        };
        let folder = |number: usize| format!("{name}-{number}-{}", round + 1);
        say("one query at a time");
        let spaced = (&mut *alone, Asking::Spaced);
        asked.alone(self.lab, spaced, rounds.alone, &folder(0))?;
        let of_server = cells.iter().enumerate();
        let of_server: Vec<_> = of_server.filter(|(_, cell)| cell.served == name).collect();
        let mut played = Vec::new();
        for (number, &(cell, foreseen)) in of_server.iter().enumerate() {
            let rate_qps = foreseen.rate_qps;
            say(&format!("{rate_qps:.0} queries a second"));
            let seed = self.lab.plan.seed + round as u64;
            let load = (rate_qps, rounds.loaded, seed);
            let (outcome, summary) = asked.poisson(self.lab, load, &folder(number + 1))?;
            say("one query at a time");
            let folder = folder(number + 1 + of_server.len());
            let asking = [Asking::BackToBack, Asking::Spaced][number % 2];
            asked.alone(self.lab, (&mut *alone, asking), rounds.alone, &folder)?;
            played.push((Kept::of(&outcome, (server, cell)), summary));
        }
        Ok(played)
    }

    /// Starts the servers that this index supports; adds a warning for each of the others.
    fn servers(
        &self,
        result: &mut ExperimentResult,
        told: &mut impl FnMut(Step),
    ) -> Result<Vec<Asked>, LabError> {
        let mut servers = Vec::new();
        for served in SERVED {
            match Asked::start(self.lab, served, told) {
                Ok(asked) => servers.push(asked),
                // Without a single partition no prediction is possible.
                Err(error) if served.partitions == 1 => return Err(error),
                Err(error) => result.warnings.push(format!("{}: {error}", served.name)),
            }
        }
        Ok(servers)
    }

    /// Returns queries of sufficient search time, made of the given ones; few enough for a single
    /// client to send each several times.
    fn heavier(
        &self,
        asked: &Asked,
        rounds: &Rounds,
        shares: usize,
        told: &mut impl FnMut(Step),
    ) -> Result<Heavier, LabError> {
        told(Step::Runs {
            what: "how long searches take".into(),
        });
        let duration = self.lab.plan.depth.duration.min(TRIAL_MAX);
        let search_ms = |texts: &[String]| asked.search_ms(self.lab, texts, duration);
        let given = self.lab.stream.texts();
        // Queries of a wanted search time are not joined again.
        let at_least_ms = match self.lab.plan.search_time {
            Some(_) => 0.0,
            None => heavier::SEARCH_MS_MIN,
        };
        let made = (QUERIES_MAX, self.lab.plan.seed);
        let mut heavier = Heavier::of(given, at_least_ms, made, search_ms)?;
        let alone_ms = rounds.alone.as_secs_f64() * 1e3 * (rounds.count * (1 + shares)) as f64;
        let asked = alone_ms / offer::alone_ms(heavier.search_ms);
        let count = (asked / ASKED_EACH).max(1.0) as usize;
        // Queries are distinct, so that positions in the list identify them.
        let mut known = HashSet::new();
        heavier.texts.retain(|text| known.insert(text.clone()));
        heavier.texts.truncate(count);
        Ok(heavier)
    }
}

/// Predicts a schedule with the model, beside its measurement. The prediction uses only the arrival
/// times and queries of the run. The replay also uses its measured search times, which need no further
/// core.
fn round_of(
    alone: &Alone,
    run: &Kept,
    (number, pace_lasts): (usize, Duration),
    seed: u64,
    cores: usize,
) -> Result<Round, LabError> {
    let mut round = Round {
        measured: run.measured.clone(),
        ..Round::default()
    };
    let setup = alone.setup(cores);
    let replaying = Setup {
        cores: CORES_ENOUGH,
        cold_share: 0.0,
        ..setup
    };
    let seed = (seed << 32) + number as u64 * DRAWS;
    for draw in 0..DRAWS {
        let drawn = alone.drawn(&run.schedule, pace_lasts, seed + draw);
        let queries = || drawn.iter().zip(&run.schedule);
        let foreseen = queries().map(|((way, searches_ms), at)| way.query(at.0, searches_ms));
        played(setup, foreseen, &run.schedule, &mut round.predicted)?;
        let own = queries().zip(&run.searches_ms);
        let own = own.map(|(((way, drawn_ms), at), own_ms)| {
            let own_ms = own_ms.as_deref();
            let own_ms = own_ms.filter(|own_ms| own_ms.len() == drawn_ms.len());
            way.query(at.0, own_ms.unwrap_or(drawn_ms))
        });
        played(replaying, own, &run.schedule, &mut round.replayed)?;
    }
    for ((_, query, warm_up), searches_ms) in run.schedule.iter().zip(&run.searches_ms) {
        if !warm_up && searches_ms.is_some() {
            round.alone_ms += alone.search_ms(*query).unwrap_or_default();
        }
    }
    Ok(round)
}

/// Simulates a schedule and adds its times to `into`.
fn played<'a>(
    setup: Setup,
    queries: impl Iterator<Item = Query<'a>>,
    schedule: &[Arrival],
    into: &mut Both,
) -> Result<(), LabError> {
    let queries: Vec<Query<'_>> = queries.collect();
    let outcome = shared_cores::answers(setup, &queries);
    let outcome = outcome.map_err(|error| LabError::Model(error.to_string()))?;
    let counted = outcome.answers.iter().zip(schedule);
    for (answer, _) in counted.filter(|(_, at)| !at.2) {
        let ns = |ms: f64| (ms * 1e6) as u64;
        into.response.add_ns(ns(answer.response_ms));
        into.in_servers.add_ns(ns(answer.in_servers_ms));
        into.searching_ms += answer.searching_ms;
    }
    Ok(())
}

impl Kept {
    fn of(outcome: &Outcome, (server, cell): (usize, usize)) -> Kept {
        let mut samples: Vec<&Sample> = outcome.samples.iter().collect();
        samples.sort_by_key(|sample| (sample.intended_ns, sample.arrival_idx));
        let arrival = |sample: &&Sample| (sample.intended_ns, sample.query_idx, sample.warm_up);
        let searches_ms = |sample: &&Sample| {
            let searches = &sample.answer.as_ref()?.searches;
            let ms = searches.iter().map(|part| part.search_us as f64 / 1e3);
            (!searches.is_empty()).then(|| ms.collect())
        };
        Kept {
            server,
            cell,
            schedule: samples.iter().map(arrival).collect(),
            searches_ms: samples.iter().map(searches_ms).collect(),
            measured: measured(outcome),
        }
    }
}

fn measured(outcome: &Outcome) -> Both {
    let mut measured = Both {
        response: Summary::of(outcome).response_of_all,
        ..Both::default()
    };
    for answer in outcome
        .measured()
        .filter_map(|sample| sample.answer.as_ref())
    {
        let in_servers = answer
            .searches
            .iter()
            .map(|part| part.queueing_us + part.search_us);
        if let Some(us) = in_servers.max() {
            measured.in_servers.add_ns(us * 1000);
        }
        let searching = answer
            .searches
            .iter()
            .map(|part| part.search_us as f64 / 1e3);
        measured.searching_ms += searching.sum::<f64>();
    }
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_short_and_last_as_long_as_asked_for() {
        let s = Duration::from_secs;
        let rounds = Rounds::of(3, s(4));
        assert_eq!((rounds.count, rounds.loaded, rounds.alone), (3, s(4), s(1)));
        let rounds = Rounds::of(3, s(12));
        assert_eq!((rounds.count, rounds.loaded, rounds.alone), (9, s(4), s(1)));
        assert_eq!(Rounds::of(10, s(60)).count, 120);
        assert_eq!(Rounds::of(3, Duration::from_millis(200)).count, 3);
    }
}
