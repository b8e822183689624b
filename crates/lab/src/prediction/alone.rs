//! What does each query take where it meets no other?
use load::{Outcome, Sample};
use model::shared_cores::{Query, Setup};
use std::collections::HashMap;

/// One answer to a query that met no other. Times in ms.
#[derive(Debug, Clone)]
struct Seen {
    before_ms: f64,
    hand_over_ms: f64,
    searches_ms: Vec<f64>,
    after_ms: f64,
}

impl Seen {
    fn rest_ms(&self) -> f64 {
        self.before_ms + self.after_ms
    }
}

/// What single-client runs against one kind of server gave.
#[derive(Debug)]
pub(super) struct Alone {
    seen: Vec<Seen>,
    /// Places in `seen`, by query.
    by_query: HashMap<u32, Vec<usize>>,
    /// Searches of each query, whether the next came at once or not.
    searches_ms: HashMap<u32, Vec<Vec<f64>>>,
    /// The median of these, partition by partition: what a query is to do, without what else ran then.
    typical_ms: HashMap<u32, Vec<f64>>,
    /// Of each run in which one query followed the other at once: time on cores a request, of the server
    /// (where it is known) and of the client.
    costs_ms: Vec<(Option<f64>, f64)>,
}

impl Alone {
    /// Of one run with time between the queries. Answers that met another are left out, whichever of the
    /// two came first.
    pub(super) fn of(outcome: &Outcome, partitions: usize) -> Alone {
        let mut alone = Alone {
            seen: Vec::new(),
            by_query: HashMap::new(),
            searches_ms: HashMap::new(),
            typical_ms: HashMap::new(),
            costs_ms: Vec::new(),
        };
        let mut samples: Vec<&Sample> = outcome.samples.iter().collect();
        samples.sort_by_key(|sample| sample.intended_ns);
        let mut free_ns = 0;
        for (idx, sample) in samples.iter().enumerate() {
            let done_ns = sample.done_ns.unwrap_or(u64::MAX);
            let next_ns = samples
                .get(idx + 1)
                .map_or(u64::MAX, |next| next.intended_ns);
            let met_no_other = sample.intended_ns >= free_ns && done_ns <= next_ns;
            free_ns = free_ns.max(done_ns);
            if !met_no_other || sample.warm_up || !sample.ending.is_answer() {
                continue;
            }
            if let Some(seen) = seen(sample, partitions) {
                let searches = alone.searches_ms.entry(sample.query_idx).or_default();
                searches.push(seen.searches_ms.clone());
                let places = alone.by_query.entry(sample.query_idx).or_default();
                places.push(alone.seen.len());
                alone.seen.push(seen);
            }
        }
        alone.settle();
        alone
    }

    /// Adds a run in which one query followed the other at once: its searches, and what it cost.
    pub(super) fn add_back_to_back(
        &mut self,
        outcome: &Outcome,
        (server_ms, client_ms): (Option<f64>, f64),
        partitions: usize,
    ) {
        for sample in outcome
            .measured()
            .filter(|sample| sample.ending.is_answer())
        {
            if let Some(seen) = seen(sample, partitions) {
                let searches = self.searches_ms.entry(sample.query_idx).or_default();
                searches.push(seen.searches_ms);
            }
        }
        self.costs_ms.push((server_ms, client_ms));
        self.settle();
    }

    fn settle(&mut self) {
        for (query, searches) in &self.searches_ms {
            let partitions = searches.first().map_or(0, Vec::len);
            let median = |part: usize| {
                let mut times: Vec<f64> = searches.iter().map(|row| row[part]).collect();
                times.sort_unstable_by(f64::total_cmp);
                times[(times.len() - 1) / 2]
            };
            self.typical_ms
                .insert(*query, (0..partitions).map(median).collect());
        }
    }

    /// Adds what another run saw.
    pub(super) fn add(&mut self, other: Alone) {
        let first = self.seen.len();
        self.seen.extend(other.seen);
        self.costs_ms.extend(other.costs_ms);
        for (query, searches) in other.searches_ms {
            self.searches_ms.entry(query).or_default().extend(searches);
        }
        for (query, places) in other.by_query {
            let known = self.by_query.entry(query).or_default();
            known.extend(places.into_iter().map(|place| first + place));
        }
        self.settle();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    fn mean(&self, of: impl Fn(&Seen) -> f64) -> f64 {
        self.seen.iter().map(of).sum::<f64>() / self.seen.len().max(1) as f64
    }

    /// Mean of what the queries that were seen are to do.
    fn mean_search_ms(&self, of: impl Fn(&[f64]) -> f64) -> f64 {
        let asked = |(query, places): (&u32, &Vec<usize>)| {
            let typical_ms = self.typical_ms.get(query);
            typical_ms.map_or(0.0, |typical_ms| of(typical_ms) * places.len() as f64)
        };
        self.by_query.iter().map(asked).sum::<f64>() / self.seen.len().max(1) as f64
    }

    /// Mean search of the partition that has most to do.
    pub(super) fn busiest_search_ms(&self) -> f64 {
        let partitions = self.seen.first().map_or(0, |seen| seen.searches_ms.len());
        (0..partitions)
            .map(|part| self.mean_search_ms(|searches| searches[part]))
            .fold(0.0, f64::max)
    }

    fn search_ms(&self) -> f64 {
        self.mean_search_ms(|searches| searches.iter().sum())
    }

    /// Time on cores a request: of the server, and of the client. A server that does not tell is taken to
    /// work as long as it answers.
    fn costs_ms(&self) -> (f64, f64) {
        let runs = self.costs_ms.len().max(1) as f64;
        let servers: Option<Vec<f64>> = self.costs_ms.iter().map(|(server, _)| *server).collect();
        let server_ms = match servers {
            Some(servers) if !servers.is_empty() => servers.iter().sum::<f64>() / runs,
            _ => self.search_ms() + self.mean(Seen::rest_ms),
        };
        let client_ms = self.costs_ms.iter().map(|(_, client)| client).sum::<f64>() / runs;
        (server_ms, client_ms)
    }

    /// Time on cores a request, all of it.
    pub(super) fn core_ms(&self) -> f64 {
        let (server_ms, client_ms) = self.costs_ms();
        server_ms.max(self.search_ms()) + client_ms
    }

    /// What the model needs beside the queries: what is no search is work as far as the server's time on
    /// cores says so, and hand-overs else. The client works beside.
    pub(super) fn setup(&self, cores: usize) -> Setup {
        let (server_ms, client_ms) = self.costs_ms();
        let rest_ms = self.mean(Seen::rest_ms);
        let work_ms = (server_ms - self.search_ms()).max(0.0);
        Setup {
            cores,
            handlers: 1,
            busy_share: (work_ms / rest_ms.max(1e-9)).min(1.0),
            beside_ms: client_ms + (work_ms - rest_ms).max(0.0),
        }
    }

    /// The queries of a schedule (instant in ns, query, any): the searches that are typical of each, and
    /// for the rest one of its answers, drawn from the seed, or of another query where it has none.
    pub(super) fn queries<T>(&self, schedule: &[(u64, u32, T)], seed: u64) -> Vec<Query<'_>> {
        let query = |(number, (at_ns, query_idx, _)): (usize, &(u64, u32, T))| {
            let drawn = drawn(seed, number as u64) as usize;
            let place = match self.by_query.get(query_idx) {
                Some(places) => places[drawn % places.len()],
                None => drawn % self.seen.len(),
            };
            let seen = &self.seen[place];
            let searches_ms = self.typical_ms.get(query_idx).unwrap_or(&seen.searches_ms);
            Query {
                arrived_ms: *at_ns as f64 / 1e6,
                before_ms: seen.before_ms,
                hand_over_ms: seen.hand_over_ms,
                searches_ms,
                after_ms: seen.after_ms,
            }
        };
        schedule.iter().enumerate().map(query).collect()
    }

    /// Measured requests whose query never had an answer that met no other.
    pub(super) fn unknown(&self, outcome: &Outcome) -> usize {
        let unknown = |sample: &&Sample| !self.by_query.contains_key(&sample.query_idx);
        outcome.measured().filter(unknown).count()
    }
}

/// Any number, the same for the same seed and place.
fn drawn(seed: u64, number: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(&number.to_le_bytes(), seed) >> 1
}

/// The way to the client is taken to be as long as the way from it: neither clock knows the other's.
fn seen(sample: &Sample, partitions: usize) -> Option<Seen> {
    let response_ms = sample.response_ns()? as f64 / 1e6;
    let answer = sample.answer.as_ref()?;
    let parts = &answer.searches;
    if parts.len() != partitions {
        return None;
    }
    let ms = |us: u64| us as f64 / 1e3;
    let on_the_way_ms = (response_ms - ms(answer.server_us?)).max(0.0) / 2.0;
    let queued_us = parts.iter().map(|part| part.queued_us).min()?;
    let in_servers_us = parts
        .iter()
        .map(|part| part.queueing_us + part.search_us)
        .max()?;
    let before_ms = on_the_way_ms + ms(queued_us);
    Some(Seen {
        before_ms,
        hand_over_ms: ms(parts.iter().map(|part| part.queueing_us).max()?),
        searches_ms: parts.iter().map(|part| ms(part.search_us)).collect(),
        after_ms: (response_ms - before_ms - ms(in_servers_us)).max(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::{Answer, Ending, PartSearch};
    use std::time::{Duration, SystemTime};

    fn sample(query_idx: u32, intended_us: u64, done_us: u64, searches: Vec<PartSearch>) -> Sample {
        Sample {
            arrival_idx: 0,
            query_idx,
            warm_up: false,
            intended_ns: intended_us * 1000,
            sent_ns: Some(intended_us * 1000),
            done_ns: Some(done_us * 1000),
            ending: Ending::Answered(200),
            new_connection: false,
            retry_after_s: None,
            body_bytes: 1,
            answer: Some(Answer {
                matches_count: Some(1),
                hits_count: 1,
                checksum: 0,
                timed_out: false,
                coverage: 1.0,
                phases: None,
                server_us: Some(800),
                searches,
            }),
        }
    }

    fn alone(samples: Vec<Sample>, server_ms: Option<f64>) -> Alone {
        let outcome = Outcome {
            samples,
            started_at: SystemTime::UNIX_EPOCH,
            warm_up: Duration::ZERO,
            measured: Duration::from_secs(1),
            is_complete: true,
            noise: load::NoiseMeter::start().stop(),
        };
        let mut alone = Alone::of(&outcome, 2);
        let none = Outcome {
            samples: Vec::new(),
            ..outcome
        };
        alone.add_back_to_back(&none, (server_ms, 0.1), 2);
        alone
    }

    fn parts(search_us: u64) -> Vec<PartSearch> {
        let part = |queued_us, search_us| PartSearch {
            queued_us,
            queueing_us: 20,
            search_us,
        };
        vec![part(100, search_us), part(90, 2 * search_us)]
    }

    #[test]
    fn an_answer_is_taken_apart() {
        let alone = alone(vec![sample(7, 0, 1000, parts(200))], Some(0.9));
        // 1000 of response, 800 of them in the server: 100 there, 90 to the queue, 20 + 400 there.
        let query = alone.queries(&[(5_000_000, 7, ())], 1)[0];
        let close = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-9, "{query:?}");
        close(query.arrived_ms, 5.0);
        close(query.before_ms, 0.19);
        close(query.hand_over_ms, 0.02);
        close(query.after_ms, 1.0 - 0.19 - 0.42);
        assert_eq!(query.searches_ms, [0.2, 0.4]);
        close(alone.busiest_search_ms(), 0.4);
        // 900 on cores, 600 of them searches: 300 of the 580 that are left.
        let setup = alone.setup(2);
        close(setup.busy_share, 0.3 / 0.58);
        close(setup.beside_ms, 0.1);
        close(alone.core_ms(), 1.0);
    }

    #[test]
    fn answers_that_met_are_left_out_and_unknown_queries_have_any() {
        let met = alone(
            vec![
                sample(1, 0, 1000, parts(100)),
                sample(2, 2000, 5000, parts(100)),
                sample(3, 4000, 6000, parts(100)),
                sample(4, 5500, 5900, parts(100)),
                sample(5, 7000, 8000, vec![]),
                sample(6, 9000, 9500, parts(300)),
            ],
            None,
        );
        let mut known: Vec<u32> = met.by_query.keys().copied().collect();
        known.sort_unstable();
        assert_eq!(known, [1, 6]);
        let mut both = met;
        both.add(alone(vec![sample(1, 0, 900, parts(500))], None));
        let schedule: Vec<(u64, u32, ())> = (0..100).map(|n| (n, 1, ())).collect();
        let queries = both.queries(&schedule, 3);
        // The rest is drawn, and the search is the (lower) median.
        let drawn = |after_ms: f64| {
            let near = |query: &Query<'_>| (query.after_ms - after_ms).abs() < 1e-9;
            queries.iter().any(near)
        };
        assert!(drawn(0.59) && drawn(0.0), "{queries:?}");
        assert!(queries.iter().all(|query| query.searches_ms == [0.1, 0.2]));
        assert_eq!(both.queries(&[(0, 99, ())], 1).len(), 1);
        assert!(alone(vec![], None).is_empty());
    }
}
