//! A server of one policy, and what is offered to it.
use super::cells::{Offered, Rounds, ServedRound};
use crate::LabError;
use crate::counting::Counting;
use crate::experiment::Arm;
use crate::laboratory::{Laboratory, Step, save};
use crate::server::Server;
use crate::timed::{described, search_alone};
use load::{Arrivals, Outcome, QueryStream, RunRecord, SearchTime, Settings, Target, Think};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Capacity of the queue: all requests, as a refused one has no response time.
const QUEUE: &str = "100000";
/// Clients of a saturated server for each handler.
const CLIENTS: usize = 4;
/// Duration of the saturated run, as a share of a round's.
const SATURATED_SHARE: f64 = 0.5;
/// Time limit of an answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A running server of an arm, and its queries.
pub(super) struct Serving<'a> {
    lab: &'a Laboratory<'a>,
    pub(super) arm: &'a Arm,
    handlers: usize,
    server: Server,
    target: Target,
    stream: &'a QueryStream,
}

/// Returns the queries of all servers, with their description: those of the plan where it wants a search time, else made
/// for `wanted`.
pub(super) fn stream(
    lab: &Laboratory<'_>,
    wanted: SearchTime,
    told: &mut impl FnMut(Step),
) -> Result<(QueryStream, String), LabError> {
    match &lab.session.search_time {
        Some(described) => Ok((lab.stream.clone(), described.clone())),
        None => {
            let made = lab.timed_queries(wanted, told)?;
            let described = described(wanted, &made);
            Ok((QueryStream::as_is(made.texts), described))
        }
    }
}

impl<'a> Serving<'a> {
    pub(super) fn start(
        lab: &'a Laboratory<'a>,
        (arm, handlers): (&'a Arm, usize),
        stream: &'a QueryStream,
    ) -> Result<Serving<'a>, LabError> {
        let index = lab.index_for(arm.partitions, &mut |_| {})?;
        let mut options = arm.server_options();
        options.extend(["--queue", QUEUE]);
        let topology = (arm.partitions, handlers);
        let server = Server::start_with(&lab.plan.binary, &index, topology, &options)?;
        let target = search_alone(&server)?;
        Ok(Serving {
            lab,
            arm,
            handlers,
            server,
            target,
            stream,
        })
    }

    /// Sends queries from a single client, so that pages are resident and the costs of searches are known.
    pub(super) fn warm_up(&self, duration: Duration) -> Result<(), LabError> {
        let stream = self.stream.clone().unique();
        let settings = Settings::closed(self.target.clone(), stream, 1, Think::None, duration);
        self.lab.measure(&settings)?;
        self.lab.go_on()
    }

    /// Returns the throughput of many clients, in queries per second.
    pub(super) fn capacity_qps(&self, duration: Duration) -> Result<f64, LabError> {
        let settings = self.saturated(duration, self.lab.plan.seed);
        let (_, summary) = self.lab.measure(&settings)?;
        self.lab.go_on()?;
        match summary.achieved_qps > 0.0 {
            true => Ok(summary.achieved_qps),
            false => Err(LabError::Program {
                command: format!("shorttail serve {}", self.lab.plan.index.display()),
                reason: "it answered no query in this time; measure longer (--duration)".into(),
            }),
        }
    }

    fn saturated(&self, duration: Duration, seed: u64) -> Settings {
        let stream = self.stream.clone().real(seed);
        let clients = CLIENTS * self.handlers;
        let target = self.target.clone();
        let mut settings = Settings::closed(target, stream, clients, Think::None, duration);
        settings.warm_up = duration / 8;
        settings
    }

    /// Offers load for a round and saves its samples.
    pub(super) fn run(
        &self,
        (offered, rate_qps): (Offered, f64),
        rounds: &Rounds,
        seed: u64,
        folder: &Path,
    ) -> Result<ServedRound, LabError> {
        let open = |arrivals, warm_up, duration| {
            let stream = self.stream.clone().real(seed);
            let mut settings = Settings::open(self.target.clone(), stream, arrivals, duration);
            settings.warm_up = warm_up;
            settings
        };
        let mut settings = match offered {
            Offered::Load(_) => open(
                Arrivals::Poisson { rate_qps },
                rounds.warm_up,
                rounds.duration,
            ),
            Offered::Burst(_) => {
                let (on, off) = (rounds.burst, rounds.burst);
                // The burst meets an idle server; the pause lets it end.
                let arrivals = Arrivals::Bursts { rate_qps, on, off };
                open(arrivals, Duration::ZERO, on + off)
            }
            Offered::Saturation => self.saturated(rounds.duration.mul_f64(SATURATED_SHARE), seed),
        };
        settings.seed = seed;
        settings.timeout = TIMEOUT;
        settings.drain = TIMEOUT;
        let counting = Counting::start(self.server.process(), &[]);
        let (outcome, summary) = self.lab.measure(&settings)?;
        let threads = counting.finish();
        let handlers_us: f64 = (threads.iter())
            .filter(|group| group.threads == "handler")
            .filter_map(|group| group.cpu_us)
            .sum();
        let searches_us = searches_us(&outcome);
        let is_known = searches_us > 0.0 && handlers_us > 0.0;
        let work_share = is_known.then(|| handlers_us / searches_us);
        let degree = degree(&outcome);
        let mut record = RunRecord::of(&settings, &outcome, &summary, None);
        let notes = [
            ("arm", json!(self.arm.name)),
            ("partitions", json!(self.arm.partitions)),
            ("handlers", json!(self.handlers)),
            ("server_options", json!(self.arm.server_options())),
            ("offered", json!(offered.name())),
            ("degree", json!(degree)),
            ("work_share", json!(work_share)),
            ("index_checksum", json!(self.lab.session.index_checksum)),
        ];
        let notes = notes.map(|(name, value)| (name.to_owned(), value));
        record.notes.extend(notes);
        save(&record, folder, &outcome.samples)?;
        Ok(ServedRound {
            is_whole: outcome.is_complete && !outcome.noise.is_stolen(),
            summary,
            degree,
            work_share,
        })
    }
}

/// Returns the time of all searches, from the first handler to the last, in µs, the warm-up included.
fn searches_us(outcome: &Outcome) -> f64 {
    let answers = outcome.samples.iter().filter_map(|one| one.answer.as_ref());
    let searches = answers.flat_map(|answer| &answer.searches);
    searches.map(|part| part.search_us as f64).sum()
}

/// Returns the mean number of handlers that took ranges of a query, without the warm-up.
fn degree(outcome: &Outcome) -> Option<f64> {
    let answers = outcome.measured().filter_map(|one| one.answer.as_ref());
    let handlers = answers.filter_map(|answer| answer.handlers);
    let (sum, count) = handlers.fold((0.0, 0u64), |(sum, count), handlers| {
        (sum + f64::from(handlers), count + 1)
    });
    (count > 0).then(|| sum / count as f64)
}
