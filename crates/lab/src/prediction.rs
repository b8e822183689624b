//! Does the model foresee what is measured? Queries are asked one at a time, and what many of them will
//! take is calculated from that alone; then they are asked at four rates.
//!
//! ```text
//! alone ─► what each query takes where it meets no other ─┐
//!                                                        ├─► model ─► predicted ─┐
//! schedule (instants and queries, drawn before the run) ──┤                       ├─► error
//!                                                        └─► server ─► measured ─┘
//! ```
//!
//! Predicted and measured runs have one schedule, so that chance in it makes no error. Single-client runs
//! alternate with the others, so that what else goes on on the machine meets both.
use crate::arm_run::save;
use crate::engine::{Laboratory, Step};
use crate::experiment::Experiment;
use crate::server::Server;
use crate::{LabError, results::ExperimentResult, views};
use load::{Arrivals, Outcome, QueryStream, RunRecord, Settings, Summary, Target, Think, Times};
use model::shared_cores;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

mod alone;

use alone::Alone;

/// So many of the requests of a single client meet another at most: time between them over time that an
/// answer takes, turned over.
const ALONE_LOAD: f64 = 0.25;
/// A single-client run is so many times as long as the others: it has few requests a second.
const ALONE_LENGTHS: u32 = 4;
/// How often each query is to be asked in one single-client run.
const ASKED_EACH: f64 = 3.0;
/// Different queries at most.
const QUERIES_MAX: usize = 5_000;
/// Times that a prediction is drawn, each with other answers of the single client.
const DRAWS: u64 = 5;

/// A server: so many partitions, each with one handler.
#[derive(Debug, Clone, Copy)]
struct Served {
    name: &'static str,
    partitions: usize,
}

const SERVED: [Served; 2] = [
    Served {
        name: "I1",
        partitions: 1,
    },
    Served {
        name: "I2",
        partitions: 2,
    },
];

/// What was foreseen and what was measured of one server at one rate.
#[derive(Debug)]
pub(crate) struct Foreseen {
    pub(crate) served: &'static str,
    pub(crate) rate_qps: f64,
    /// Share of the busiest handler, or of all cores, whichever is more.
    pub(crate) load: f64,
    /// Whether that is the cores.
    pub(crate) by_cores: bool,
    pub(crate) predicted: Both,
    pub(crate) measured: Both,
    /// Of each repetition.
    pub(crate) repetitions: Vec<Both>,
}

/// From the intended instant to the answer, and from the queues of the index servers to the end of the
/// slowest search.
#[derive(Debug, Clone, Default)]
pub(crate) struct Both {
    pub(crate) response: Times,
    pub(crate) in_servers: Times,
}

impl Both {
    fn add(&mut self, other: &Both) {
        self.response.merge(&other.response);
        self.in_servers.merge(&other.in_servers);
    }
}

/// An experiment of a laboratory.
pub(crate) struct Prediction<'a> {
    pub(crate) lab: &'a Laboratory<'a>,
}

/// One run and what it cost.
struct Ran {
    outcome: Outcome,
    summary: Summary,
    /// Time on cores a request, in ms: of the server, of this client.
    server_ms: Option<f64>,
    client_ms: f64,
}

/// Runs that an experiment takes, for who watches.
pub(crate) fn runs_count(experiment: &Experiment, repetitions: usize) -> usize {
    1 + SERVED.len() * repetitions * (2 + experiment.shares.len())
}

impl Prediction<'_> {
    /// Runs it all and fills the result.
    pub(crate) fn run(
        &self,
        experiment: &Experiment,
        result: &mut ExperimentResult,
        told: &mut impl FnMut(Step),
    ) -> Result<(), LabError> {
        let _settings_of_machine = self.lab.prepare(&BTreeMap::new())?;
        let depth = self.lab.plan.depth;
        let served = self.served(result);
        let response_s = self.response_s(told)?;
        let alone_qps = ALONE_LOAD / response_s;
        let alone_duration = depth.duration * ALONE_LENGTHS;
        let count = (alone_qps * alone_duration.as_secs_f64() / ASKED_EACH) as usize;
        let texts = self.lab.stream.texts().iter();
        let stream = QueryStream::as_is(texts.take(count.clamp(1, QUERIES_MAX)).cloned());
        let mut alone: Vec<Alone> = Vec::new();
        let mut cells: Vec<Foreseen> = Vec::new();
        let mut summaries = Vec::new();
        let mut lost = 0;
        let shares = experiment.shares.len();
        for repetition in 0..depth.repetitions {
            let seed = self.lab.plan.seed + repetition as u64;
            for (idx, &served) in served.iter().enumerate() {
                let say = |what: &str| Step::Runs {
                    what: format!("{}, {what}, repetition {}", served.name, repetition + 1),
                };
                told(say("one query at a time"));
                let offer = |rate_qps, duration, folder: usize| {
                    let folder = format!("{}-{folder}-{}", served.name, repetition + 1);
                    self.offer(served, &stream, (rate_qps, duration, seed), &folder)
                };
                let seldom = offer(Some(alone_qps), alone_duration, 0)?;
                let seen = Alone::of(&seldom.outcome, served.partitions);
                match alone.get_mut(idx) {
                    Some(known) => known.add(seen),
                    None => alone.push(seen),
                }
                told(say("one query after the other"));
                let at_once = offer(None, depth.duration, shares + 1)?;
                let costs_ms = (at_once.server_ms, at_once.client_ms);
                alone[idx].add_back_to_back(&at_once.outcome, costs_ms, served.partitions);
                if alone[idx].is_empty() {
                    result.lacking.push(format!(
                        "{}: no answer told of all its searches",
                        served.name
                    ));
                    return Ok(());
                }
                if repetition == 0 {
                    cells.extend(self.cells(served, &alone[idx], &experiment.shares));
                }
                let of_served = cells.iter_mut().filter(|cell| cell.served == served.name);
                for (rate_idx, cell) in of_served.enumerate() {
                    told(say(&format!("{:.0} queries a second", cell.rate_qps)));
                    let rate_qps = Some(cell.rate_qps);
                    let ran = offer(rate_qps, depth.duration, rate_idx + 1)?;
                    let measured = measured(&ran.outcome);
                    for draw in 0..DRAWS {
                        let draw = seed * DRAWS + draw;
                        cell.predicted
                            .add(&self.foresee(&alone[idx], &ran.outcome, draw)?);
                    }
                    cell.measured.add(&measured);
                    cell.repetitions.push(measured);
                    lost += alone[idx].unknown(&ran.outcome);
                    summaries.push(ran.summary);
                }
            }
        }
        views::prediction::show(result, &cells, &summaries, self.lab.cores_count);
        if lost > 0 {
            result.warnings.push(format!(
                "{lost} requests asked what always met another query: apart from the search, another's answer stands for theirs"
            ));
        }
        Ok(())
    }

    /// The servers that this index can have; of others the result says why not.
    fn served(&self, result: &mut ExperimentResult) -> Vec<Served> {
        let (binary, index) = (&self.lab.plan.binary, &self.lab.plan.index);
        let mut can = |served: &Served| match Server::start(binary, index, served.partitions, 1) {
            Ok(_) => true,
            // Without one partition there is nothing; the run itself will say so.
            Err(_) if served.partitions == 1 => true,
            Err(error) => {
                result.warnings.push(format!("{}: {error}", served.name));
                false
            }
        };
        SERVED.into_iter().filter(|served| can(served)).collect()
    }

    /// Mean response time of one client, in seconds; the caches are warm afterwards.
    fn response_s(&self, told: &mut impl FnMut(Step)) -> Result<f64, LabError> {
        told(Step::Runs {
            what: "one client, one query after the other".into(),
        });
        let plan = self.lab.plan;
        let server = Server::start(&plan.binary, &plan.index, 1, 1)?;
        let stream = self.lab.stream.clone().unique();
        let duration = plan.depth.duration + plan.depth.warm_up;
        let settings = Settings::closed(target(&server)?, stream, 1, Think::None, duration);
        let (_, summary) = self.lab.measure(&settings)?;
        self.lab.go_on()?;
        let mean_us = summary.response.mean_us();
        mean_us.map(|us| us / 1e6).ok_or_else(|| LabError::Program {
            command: format!("shorttail serve {}", plan.index.display()),
            reason: "it answered no query in this time; measure longer (--duration)".into(),
        })
    }

    /// Four rates, or as many as the experiment has shares.
    fn cells(&self, served: Served, alone: &Alone, shares: &[f64]) -> Vec<Foreseen> {
        let handler_ms = alone.busiest_search_ms();
        let core_ms = alone.core_ms() / self.lab.cores_count as f64;
        let cell = |share: &f64| Foreseen {
            served: served.name,
            rate_qps: share * 1e3 / handler_ms.max(core_ms),
            load: *share,
            by_cores: core_ms > handler_ms,
            predicted: Both::default(),
            measured: Both::default(),
            repetitions: Vec::new(),
        };
        shares.iter().map(cell).collect()
    }

    /// Offers Poisson arrivals to a server of its own, or one client that asks at once again: queries a
    /// second, how long, seed.
    fn offer(
        &self,
        served: Served,
        stream: &QueryStream,
        (rate_qps, duration, seed): (Option<f64>, Duration, u64),
        folder: &str,
    ) -> Result<Ran, LabError> {
        let plan = self.lab.plan;
        let server = Server::start(&plan.binary, &plan.index, served.partitions, 1)?;
        let (target, stream) = (target(&server)?, stream.clone());
        let mut settings = match rate_qps.map(|rate_qps| Arrivals::Poisson { rate_qps }) {
            Some(arrivals) => Settings::open(target, stream, arrivals, duration),
            None => Settings::closed(target, stream, 1, Think::None, duration),
        };
        settings.warm_up = plan.depth.warm_up;
        settings.seed = seed;
        settings.timeout = Duration::from_secs(10);
        settings.drain = settings.timeout;
        let (server_before, client_before_ms) = (server.usage(), own_ms());
        let (outcome, summary) = self.lab.measure(&settings)?;
        let client_ms = own_ms() - client_before_ms;
        let usage = server_before.zip(server.usage());
        let asked = outcome.samples.len().max(1) as f64;
        let mut record = RunRecord::of(&settings, &outcome, &summary, None);
        let note = |name: &str, value| (name.to_owned(), value);
        record.notes.extend([
            note("arm", json!(served.name)),
            note("partitions", json!(served.partitions)),
            note("handlers", json!(1)),
        ]);
        let folder = plan.into.join("prediction").join(folder);
        save(&record, &folder, &outcome.samples)?;
        self.lab.go_on()?;
        Ok(Ran {
            outcome,
            summary,
            server_ms: usage
                .map(|(before, after)| (after.cpu_us - before.cpu_us) as f64 / 1e3 / asked),
            client_ms: client_ms / asked,
        })
    }

    /// What the model says of a schedule. Of the outcome nothing is looked at but that: when which query
    /// was to be asked.
    fn foresee(&self, alone: &Alone, outcome: &Outcome, seed: u64) -> Result<Both, LabError> {
        let schedule: Vec<(u64, u32, bool)> = outcome
            .samples
            .iter()
            .map(|sample| (sample.intended_ns, sample.query_idx, sample.warm_up))
            .collect();
        let setup = alone.setup(self.lab.cores_count);
        let answers = shared_cores::answers(setup, &alone.queries(&schedule, seed));
        let answers = answers.map_err(|error| LabError::Model(error.to_string()))?;
        let counted = || {
            answers
                .answers
                .iter()
                .zip(&schedule)
                .filter(|(_, at)| !at.2)
        };
        let ns = |ms: f64| (ms * 1e6) as u64;
        Ok(Both {
            response: Times::of_ns(counted().map(|(answer, _)| ns(answer.response_ms))),
            in_servers: Times::of_ns(counted().map(|(answer, _)| ns(answer.in_servers_ms))),
        })
    }
}

/// Without a limit of hits a site, so that no search is repeated; for any of the words, because on a small
/// index searches for all of them take less time than asking for them; with the steps, so that every
/// partition tells its time.
fn target(server: &Server) -> Result<Target, LabError> {
    let url = format!(
        "{}/search?q={{query}}&per_site=0&any=1&trace=1",
        server.url().trim_end_matches('/')
    );
    Ok(Target::parse(&url)?)
}

/// Time on cores of this process so far.
fn own_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn measured(outcome: &Outcome) -> Both {
    let summary = Summary::of(outcome);
    let in_servers = outcome.measured().filter_map(|sample| {
        let searches = &sample.answer.as_ref()?.searches;
        let us = searches
            .iter()
            .map(|part| part.queueing_us + part.search_us);
        Some(us.max()? * 1000)
    });
    Both {
        in_servers: Times::of_ns(in_servers),
        response: summary.response_of_all,
    }
}
