//! Load on one server of an experiment: a single client, or Poisson arrivals at a given rate.
use super::alone::{Alone, Asking};
use super::foreseen::Foreseen;
use super::heavier::Heavier;
use crate::LabError;
use crate::laboratory::save;
use crate::laboratory::{Laboratory, Step};
use crate::server::{Server, Usage};
use load::{
    Arrivals, Outcome, QueryStream, RunRecord, Settings, Summary, Target, Think, exponential,
};
use serde_json::json;
use std::collections::HashMap;
use std::time::Duration;

/// Spacing of a single client's queries, so that they hardly ever overlap: a multiple of the previous
/// query's unloaded time, plus a constant, plus an exponential pause with this mean and maximum. The
/// pause varies because the effect of a sleep on a search shows only over different sleeps.
const APART_TIMES: f64 = 1.2;
const APART_MS: f64 = 2.0;
const PAUSE_MS: f64 = 20.0;
const PAUSE_MS_MAX: f64 = 100.0;
/// Approximate time of a back-to-back query beside its search, in ms.
const AFTER_MS: f64 = 1.0;
/// Approximate number of times that each query is sent in the warm-up.
const TURNS: f64 = 2.2;
/// Capacity of the queue: all requests, as a refused one has no response time.
const QUEUE: &str = "100000";

/// Number of partitions of a server, each with one handler.
#[derive(Debug, Clone, Copy)]
pub(super) struct Served {
    pub(super) name: &'static str,
    pub(super) partitions: usize,
}

pub(super) const SERVED: [Served; 2] = [
    Served {
        name: "I1",
        partitions: 1,
    },
    Served {
        name: "I2",
        partitions: 2,
    },
];

/// Returns the approximate time in ms from one query of a spaced single client to the next.
pub(super) fn alone_ms(search_ms: f64) -> f64 {
    APART_TIMES * search_ms + APART_MS + PAUSE_MS
}

/// A running server and its queries.
pub(super) struct Asked {
    pub(super) served: Served,
    server: Server,
    texts: Vec<String>,
    /// Unloaded response time of each query, in ms.
    expected_ms: Vec<f64>,
    /// Mean search time of the busiest partition, and core time per request, in ms.
    search_ms: f64,
    core_ms: f64,
    /// Position of the next query of the single client.
    next: usize,
}

/// Core time of a run, of the server and of this process, in ms.
type Costs = (Option<f64>, f64);

impl Asked {
    pub(super) fn start(
        lab: &Laboratory<'_>,
        served: Served,
        told: &mut impl FnMut(Step),
    ) -> Result<Asked, LabError> {
        let index = lab.index_for(served.partitions, told)?;
        let (binary, topology) = (&lab.plan.binary, (served.partitions, 1));
        let server = Server::start_with(binary, &index, topology, &["--queue", QUEUE])?;
        Ok(Asked {
            served,
            server,
            texts: Vec::new(),
            expected_ms: Vec::new(),
            search_ms: 0.0,
            core_ms: 0.0,
            next: 0,
        })
    }

    /// Returns the target with its search options. There is no limit of hits per site, so no search is
    /// repeated. Queries match any word, because on a small index a conjunction takes less time than
    /// the request around it. Steps are included, so every partition reports its time. Only the best
    /// hit is returned, because summaries for hundreds of words would take longer than the search.
    fn target(&self) -> Result<Target, LabError> {
        let url = self.server.url().trim_end_matches('/');
        let url = format!("{url}/search?q={{query}}&words=any&trace=1&k=1");
        Ok(Target::parse(&url)?)
    }

    fn run(
        &self,
        lab: &Laboratory<'_>,
        settings: &Settings,
    ) -> Result<(Outcome, Summary, Costs), LabError> {
        let before = (self.server.usage(), own_ms());
        let (outcome, summary) = lab.measure(settings)?;
        let client_ms = own_ms() - before.1;
        let usage = before.0.zip(self.server.usage());
        let cpu_ms = |(before, after): (Usage, Usage)| (after.cpu_us - before.cpu_us) as f64 / 1e3;
        Ok((outcome, summary, (usage.map(cpu_ms), client_ms)))
    }

    /// Measures the mean search time in ms of a single client that sends one query after the other.
    pub(super) fn search_ms(
        &self,
        lab: &Laboratory<'_>,
        texts: &[String],
        duration: Duration,
    ) -> Result<f64, LabError> {
        let stream = QueryStream::as_is(texts.iter().cloned());
        let settings = Settings::closed(self.target()?, stream, 1, Think::None, duration);
        let (outcome, _) = lab.measure(&settings)?;
        lab.go_on()?;
        let searches_us = outcome.measured().filter_map(|sample| {
            let searches = &sample.answer.as_ref()?.searches;
            Some(searches.first()?.search_us as f64)
        });
        let (count, sum_us) =
            searches_us.fold((0u64, 0.0), |(count, sum), us| (count + 1, sum + us));
        match count {
            0 => Err(LabError::Program {
                command: format!("shorttail serve {}", lab.plan.index.display()),
                reason: "it answered no query in this time; measure longer (--duration)".into(),
            }),
            _ => Ok(sum_us / 1e3 / count as f64),
        }
    }

    /// Sends each query about twice from a single client: first to make the pages of the index
    /// resident, then to measure its approximate time.
    pub(super) fn warm_up(
        &mut self,
        lab: &Laboratory<'_>,
        queries: &Heavier,
        told: &mut impl FnMut(Step),
    ) -> Result<(), LabError> {
        told(Step::Runs {
            what: format!("{}, one query after the other", self.served.name),
        });
        self.texts.clone_from(&queries.texts);
        let each_ms = queries.search_ms + AFTER_MS;
        let all_ms = TURNS * each_ms * self.texts.len() as f64;
        let stream = QueryStream::as_is(self.texts.iter().cloned());
        let duration = Duration::from_secs_f64(all_ms / 1e3);
        let settings = Settings::closed(self.target()?, stream, 1, Think::None, duration);
        let (outcome, _, (server_ms, client_ms)) = self.run(lab, &settings)?;
        lab.go_on()?;
        // The last of several answers to a query counts.
        let mut known: HashMap<u32, (f64, Vec<f64>)> = HashMap::new();
        let mut response_ms = 0.0;
        for sample in outcome.measured() {
            let took_ns = sample.response_ns().filter(|_| sample.ending.is_answer());
            let Some((took_ns, answer)) = took_ns.zip(sample.answer.as_ref()) else {
                continue;
            };
            let took_ms = took_ns as f64 / 1e6;
            response_ms += took_ms;
            let searches = answer.searches.iter();
            let searches_ms = searches.map(|part| part.search_us as f64 / 1e3).collect();
            known.insert(sample.query_idx, (took_ms, searches_ms));
        }
        let asked = outcome.samples.len().max(1) as f64;
        let mean_ms = known.values().map(|known| known.0).sum::<f64>() / known.len().max(1) as f64;
        self.expected_ms = vec![mean_ms; self.texts.len()];
        let mut searches_ms = vec![0.0; self.served.partitions];
        for (&query_idx, (took_ms, searches)) in &known {
            self.expected_ms[query_idx as usize] = *took_ms;
            for (sum_ms, ms) in searches_ms.iter_mut().zip(searches) {
                *sum_ms += ms / known.len() as f64;
            }
        }
        self.search_ms = searches_ms.into_iter().fold(0.0, f64::max);
        self.core_ms = (server_ms.unwrap_or(response_ms) + client_ms) / asked;
        Ok(())
    }

    /// Returns one cell for each rate, four or as many as the experiment has shares.
    pub(super) fn cells(&self, cores_count: usize, shares: &[f64]) -> Vec<Foreseen> {
        let core_ms = self.core_ms / cores_count as f64;
        let cell = |share: &f64| Foreseen {
            served: self.served.name,
            rate_qps: share * 1e3 / self.search_ms.max(core_ms).max(1e-3),
            load: *share,
            by_cores: core_ms > self.search_ms,
            rounds: Vec::new(),
        };
        shares.iter().map(cell).collect()
    }

    /// Runs a single client for `duration`, from the position in the query list where it last stopped.
    pub(super) fn alone(
        &mut self,
        lab: &Laboratory<'_>,
        (alone, asking): (&mut Alone, Asking),
        duration: Duration,
        folder: &str,
    ) -> Result<(), LabError> {
        let count = self.texts.len();
        let mut names: Vec<u32> = (0..count)
            .map(|n| ((self.next + n) % count) as u32)
            .collect();
        let target = self.target()?;
        let mut settings = match asking {
            Asking::BackToBack => {
                let stream = QueryStream::as_is(self.named(&names));
                Settings::closed(target, stream, 1, Think::None, duration)
            }
            // Each query is sent when the previous one has most likely been answered.
            Asking::Spaced => {
                let (mut instants, mut at_ms) = (Vec::new(), APART_MS);
                for (number, &name) in names.iter().enumerate() {
                    if at_ms >= duration.as_secs_f64() * 1e3 {
                        break;
                    }
                    instants.push(Duration::from_secs_f64(at_ms / 1e3));
                    let pause = exponential(lab.plan.seed, (self.next + number) as u64);
                    at_ms += APART_TIMES * self.expected_ms[name as usize] + APART_MS;
                    at_ms += (PAUSE_MS * pause).min(PAUSE_MS_MAX);
                }
                names.truncate(instants.len());
                let stream = QueryStream::as_is(self.named(&names));
                Settings::open(target, stream, Arrivals::Trace { instants }, duration)
            }
        };
        settings.seed = lab.plan.seed;
        let (outcome, _, costs) = self.kept(lab, settings, folder)?;
        self.next += outcome.samples.len();
        alone.add(asking, &outcome, &names, costs);
        Ok(())
    }

    fn named(&self, names: &[u32]) -> impl Iterator<Item = String> {
        names.iter().map(|&name| self.texts[name as usize].clone())
    }

    /// Offers Poisson arrivals at `rate_qps` for `duration`, drawn from `seed`.
    pub(super) fn poisson(
        &self,
        lab: &Laboratory<'_>,
        (rate_qps, duration, seed): (f64, Duration, u64),
        folder: &str,
    ) -> Result<(Outcome, Summary), LabError> {
        let warm_up = lab.plan.depth.warm_up.min(duration / 4);
        // More requests than will arrive, so the stream never repeats.
        let requests = 2.0 * rate_qps * (duration + warm_up).as_secs_f64() + 1_000.0;
        let stream = QueryStream::as_is(self.texts.iter().cloned());
        let stream = stream.zipf(0.0, requests as usize, seed);
        let mut settings = Settings::open(
            self.target()?,
            stream,
            Arrivals::Poisson { rate_qps },
            duration,
        );
        settings.warm_up = warm_up;
        settings.seed = seed;
        let (outcome, summary, _) = self.kept(lab, settings, folder)?;
        Ok((outcome, summary))
    }

    /// Offers load and saves the samples.
    fn kept(
        &self,
        lab: &Laboratory<'_>,
        mut settings: Settings,
        folder: &str,
    ) -> Result<(Outcome, Summary, Costs), LabError> {
        settings.timeout = Duration::from_secs(10);
        settings.drain = settings.timeout;
        let (outcome, summary, costs) = self.run(lab, &settings)?;
        let mut record = RunRecord::of(&settings, &outcome, &summary, None);
        let note = |name: &str, value| (name.to_owned(), value);
        record.notes.extend([
            note("arm", json!(self.served.name)),
            note("partitions", json!(self.served.partitions)),
            note("handlers", json!(1)),
        ]);
        let folder = lab.plan.into.join("prediction").join(folder);
        save(&record, &folder, &outcome.samples)?;
        lab.go_on()?;
        Ok((outcome, summary, costs))
    }
}

/// Returns the core time of this process so far, in ms.
fn own_ms() -> f64 {
    vfs::platform::process_cpu_time().as_secs_f64() * 1e3
}
