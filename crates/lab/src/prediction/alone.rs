//! What does each query take where it meets no other?
//!
//! Two kinds of runs tell. In *spaced* ones a query comes when the one before is long answered, from the same
//! client as under load: they tell the way to the handlers and back. In those *back to back* one follows the
//! other at once, so that caches and cores are as awake as under load. Both tell what searches take.
//!
//! A machine that others share is now quicker, now slower, for seconds at a time. So there are many short
//! runs, between those that are foreseen, and each has a *pace*. Under load a slow second makes a queue, so what is
//! foreseen has seconds of such paces too.
use load::{Outcome, Sample};
use model::shared_cores::{Query, Setup};
use std::collections::BTreeMap;
use std::time::Duration;

/// Sleeps that are tried, after which a handler has lost 63 % of what its caches held.
const COOLING_MS: [f64; 6] = [3.0, 6.0, 12.0, 25.0, 50.0, 100.0];
/// Turns between the paces of runs and the times of queries: each is known by the other.
const TURNS: usize = 5;

/// One answer to a query that met no other. Times in ms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    before_ms: f64,
    hand_over_ms: f64,
    searches_ms: Vec<f64>,
    after_ms: f64,
    /// How long the handlers had slept.
    slept_ms: f64,
    /// The searches without what they took longer because the handlers had slept.
    warm_ms: Vec<f64>,
    /// The run that it is of.
    run: usize,
}

/// How a single client asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    Spaced,
    BackToBack,
}

impl Seen {
    fn rest_ms(&self) -> f64 {
        self.before_ms + self.after_ms
    }

    fn search_ms(&self) -> f64 {
        self.searches_ms.iter().sum()
    }

    /// As the model takes it, with searches of any answer.
    pub(super) fn query<'a>(&self, arrived_ns: u64, searches_ms: &'a [f64]) -> Query<'a> {
        Query {
            arrived_ms: arrived_ns as f64 / 1e6,
            before_ms: self.before_ms,
            hand_over_ms: self.hand_over_ms,
            searches_ms,
            after_ms: self.after_ms,
        }
    }
}

/// When a query of a run is to be asked, in ns since its start, which, and whether before the measuring.
pub(super) type Arrival = (u64, u32, bool);

/// What single-client runs against one kind of server gave.
#[derive(Debug)]
pub(super) struct Alone {
    partitions: usize,
    seen: Vec<Seen>,
    /// Places in `seen`, by query: all of them, and those of spaced runs.
    by_query: BTreeMap<u32, Vec<usize>>,
    spaced: BTreeMap<u32, Vec<usize>>,
    /// Those of spaced runs of any query, and those of the others.
    any_spaced: Vec<usize>,
    at_once: Vec<usize>,
    runs: usize,
    /// Of each run; 1 is the mean of all.
    paces: Vec<f64>,
    /// The share by which a search takes longer after a sleep, and how long a sleep that is.
    cold_share: f64,
    cooling_ms: f64,
    /// Requests that came back to back, and what they cost: time on cores of the server (where all runs know
    /// it) and of the client. Threads that sleep and wake in between cost more than they do under load.
    requests: f64,
    server_ms: Option<f64>,
    client_ms: f64,
}

impl Alone {
    /// Of nothing yet.
    pub(super) fn of(partitions: usize) -> Alone {
        Alone {
            partitions,
            seen: Vec::new(),
            by_query: BTreeMap::new(),
            spaced: BTreeMap::new(),
            any_spaced: Vec::new(),
            at_once: Vec::new(),
            runs: 0,
            paces: Vec::new(),
            cold_share: 0.0,
            cooling_ms: 0.0,
            requests: 0.0,
            server_ms: Some(0.0),
            client_ms: 0.0,
        }
    }

    /// Adds a run of one client; `names` are the numbers of its queries. A run's cost is time on cores, of the
    /// server and of the client, in ms. Answers that met another are left out, whichever of the two came first.
    pub(super) fn add(
        &mut self,
        asking: Asking,
        outcome: &Outcome,
        names: &[u32],
        (server_ms, client_ms): (Option<f64>, f64),
    ) {
        let run = self.runs;
        self.runs += 1;
        let mut samples: Vec<&Sample> = outcome.samples.iter().collect();
        samples.sort_by_key(|sample| sample.intended_ns);
        // Of the first it is not known how long the handlers had slept.
        let mut free_ns = None;
        for (idx, sample) in samples.iter().enumerate() {
            let done_ns = sample.done_ns.unwrap_or(u64::MAX);
            let next = samples.get(idx + 1);
            let next_ns = next.map_or(u64::MAX, |next| next.intended_ns);
            let slept_ns = free_ns.and_then(|free_ns| sample.intended_ns.checked_sub(free_ns));
            let met_no_other = slept_ns.is_some() && done_ns <= next_ns;
            free_ns = Some(done_ns.max(free_ns.unwrap_or(0)));
            if !met_no_other || sample.warm_up || !sample.ending.is_answer() {
                continue;
            }
            let Some(&name) = names.get(sample.query_idx as usize) else {
                continue;
            };
            let slept_ms = slept_ns.unwrap_or(0) as f64 / 1e6;
            if let Some(seen) = seen(sample, self.partitions, (run, slept_ms)) {
                let place = self.seen.len();
                self.by_query.entry(name).or_default().push(place);
                match asking {
                    Asking::Spaced => {
                        self.spaced.entry(name).or_default().push(place);
                        self.any_spaced.push(place);
                    }
                    Asking::BackToBack => self.at_once.push(place),
                }
                self.seen.push(seen);
            }
        }
        if asking == Asking::BackToBack {
            self.requests += samples.len() as f64;
            self.server_ms = self.server_ms.zip(server_ms).map(|(all, ms)| all + ms);
            self.client_ms += client_ms;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.any_spaced.is_empty() || self.at_once.is_empty()
    }

    /// Finds by which share searches take longer after a sleep, from answers to one query after different sleeps,
    /// by least squares of what each took over the query's mean.
    pub(super) fn find_cold(&mut self) {
        let mut least = (f64::INFINITY, 0.0, 0.0);
        for cooling_ms in COOLING_MS {
            let (mut longer, mut squares, mut rest) = (0.0, 0.0, 0.0);
            for places in self.by_query.values().filter(|places| places.len() > 1) {
                let cold = |place: &usize| -(-self.seen[*place].slept_ms / cooling_ms).exp_m1();
                let count = places.len() as f64;
                let mean_cold = places.iter().map(cold).sum::<f64>() / count;
                let mean_ms = self.mean_of(places).max(1e-6);
                for place in places {
                    let cold = cold(place) - mean_cold;
                    let share = self.seen[*place].search_ms() / mean_ms - 1.0;
                    longer += cold * share;
                    squares += cold * cold;
                    rest += share * share;
                }
            }
            let cold_share = (longer / squares).max(0.0);
            let rest = rest - cold_share * (2.0 * longer - cold_share * squares);
            if cold_share.is_finite() && rest < least.0 {
                least = (rest, cold_share, cooling_ms);
            }
        }
        (_, self.cold_share, self.cooling_ms) = least;
        let setup = self.setup(1);
        for seen in &mut self.seen {
            let colder = 1.0 + setup.colder(seen.slept_ms);
            seen.warm_ms = seen.searches_ms.iter().map(|ms| ms / colder).collect();
        }
    }

    /// The share by which a search takes longer at most after a sleep.
    pub(super) fn cold_share(&self) -> f64 {
        self.cold_share
    }

    /// Finds the pace of every run, its searches over those of the same queries on average: the queries that it
    /// happened to ask must not count as its pace.
    pub(super) fn find_paces(&mut self) {
        self.paces = vec![1.0; self.runs];
        let warm_ms = |seen: &Seen| seen.warm_ms.iter().sum::<f64>();
        for _ in 0..TURNS {
            let mut sums = vec![(0.0, 0.0); self.runs];
            for places in self.by_query.values() {
                let seen = || places.iter().map(|&place| &self.seen[place]);
                let at_mean_pace = seen().map(|seen| warm_ms(seen) / self.paces[seen.run]);
                let mean_ms = at_mean_pace.sum::<f64>() / places.len() as f64;
                for seen in seen() {
                    sums[seen.run].0 += warm_ms(seen);
                    sums[seen.run].1 += mean_ms;
                }
            }
            for (pace, (took_ms, mean_ms)) in self.paces.iter_mut().zip(sums) {
                if took_ms > 0.0 && mean_ms > 0.0 {
                    *pace = took_ms / mean_ms;
                }
            }
        }
        self.shrink_paces();
    }

    /// Draws paces towards 1 by the share of their differences that single answers alone would make: few
    /// answers say little of a pace (James & Stein 1961, as an empirical Bayes estimate).
    fn shrink_paces(&mut self) {
        let warm_ms = |seen: &Seen| seen.warm_ms.iter().sum::<f64>();
        // By run: the sum of its answers' expected times, and that of their squares.
        let mut sums = vec![(0.0f64, 0.0); self.runs];
        let mut noise = 0.0;
        for places in self.by_query.values() {
            let seen = || places.iter().map(|&place| &self.seen[place]);
            let at_mean_pace = seen().map(|seen| warm_ms(seen) / self.paces[seen.run]);
            let mean_ms = (at_mean_pace.sum::<f64>() / places.len() as f64).max(1e-6);
            for seen in seen() {
                sums[seen.run].0 += mean_ms;
                sums[seen.run].1 += mean_ms * mean_ms;
                noise += (warm_ms(seen) / self.paces[seen.run] / mean_ms - 1.0).powi(2);
            }
        }
        let free = self.seen.len().saturating_sub(self.by_query.len()).max(1);
        let variances = sums.iter().map(|(sum, squares)| match *sum {
            0.0 => 0.0,
            sum => noise / free as f64 * squares / (sum * sum),
        });
        let variances: Vec<f64> = variances.collect();
        let runs = self.runs.max(1) as f64;
        let differences = self
            .paces
            .iter()
            .map(|pace| (pace - 1.0).powi(2))
            .sum::<f64>();
        let real = ((differences - variances.iter().sum::<f64>()) / runs).max(0.0);
        for (pace, by_chance) in self.paces.iter_mut().zip(variances) {
            if real + by_chance > 0.0 {
                *pace = 1.0 + (*pace - 1.0) * real / (real + by_chance);
            }
        }
    }

    /// The quickest and the slowest pace.
    pub(super) fn paces(&self) -> (f64, f64) {
        let paces = || self.paces.iter().copied();
        let quickest = paces().fold(f64::INFINITY, f64::min);
        (quickest, paces().fold(0.0, f64::max))
    }

    fn mean_of(&self, places: &[usize]) -> f64 {
        let sum: f64 = places
            .iter()
            .map(|&place| self.seen[place].search_ms())
            .sum();
        sum / places.len().max(1) as f64
    }

    /// What queries take on handlers on average, all partitions together.
    pub(super) fn mean_search_ms(&self) -> f64 {
        self.mean_of(&self.at_once)
    }

    /// What one query does.
    pub(super) fn search_ms(&self, query: u32) -> Option<f64> {
        Some(self.mean_of(self.by_query.get(&query)?))
    }

    /// What is no search of an answer, on average.
    fn rest_ms(&self) -> f64 {
        let sum: f64 = self
            .at_once
            .iter()
            .map(|&place| self.seen[place].rest_ms())
            .sum();
        sum / self.at_once.len().max(1) as f64
    }

    /// Time on cores a request: of the server, and of the client. A server that does not tell is taken to
    /// work as long as it answers.
    fn costs_ms(&self) -> (f64, f64) {
        let requests = self.requests.max(1.0);
        let search_ms = self.mean_search_ms();
        let server_ms = match self.server_ms {
            Some(server_ms) => (server_ms / requests).max(search_ms),
            None => search_ms + self.rest_ms(),
        };
        (server_ms, self.client_ms / requests)
    }

    /// What the model needs beside the queries: what is no search is work as far as the server's time on
    /// cores says so, and hand-overs else. The client works beside.
    pub(super) fn setup(&self, cores: usize) -> Setup {
        let (server_ms, client_ms) = self.costs_ms();
        let rest_ms = self.rest_ms();
        let work_ms = server_ms - self.mean_search_ms();
        Setup {
            cores,
            handlers: 1,
            busy_share: (work_ms / rest_ms.max(1e-9)).min(1.0),
            cold_share: self.cold_share,
            cooling_ms: self.cooling_ms,
            beside_ms: client_ms + (work_ms - rest_ms).max(0.0),
        }
    }

    /// What the queries of a schedule take: the way of one of its answers, and the searches of one, each drawn
    /// from the seed; of another query where it has none. A pace lasts: that of each time as long as a
    /// single-client run is the pace of one of these, drawn too.
    pub(super) fn drawn(
        &self,
        schedule: &[Arrival],
        pace_lasts: Duration,
        seed: u64,
    ) -> Vec<(&Seen, Vec<f64>)> {
        let draw = |(number, (at_ns, query, _)): (usize, &Arrival)| {
            let drawn = |purpose| drawn(seed, [number as u64, purpose]);
            let ways = self.spaced.get(query).unwrap_or(&self.any_spaced);
            let way = ways[drawn(0) as usize % ways.len()];
            let search = match self.by_query.get(query) {
                Some(places) => places[drawn(1) as usize % places.len()],
                None => way,
            };
            let search = &self.seen[search];
            let stretch = *at_ns / (pace_lasts.as_nanos() as u64).max(1);
            let pace = self.paces[self::drawn(!seed, [stretch, 0]) as usize % self.runs];
            let factor = pace / self.paces[search.run];
            let searches_ms = search.warm_ms.iter().map(|ms| ms * factor);
            (&self.seen[way], searches_ms.collect())
        };
        schedule.iter().enumerate().map(draw).collect()
    }

    /// Requests whose query never had an answer that met no other.
    pub(super) fn unknown(&self, schedule: &[Arrival]) -> usize {
        let unknown = |arrival: &&Arrival| !arrival.2 && !self.by_query.contains_key(&arrival.1);
        schedule.iter().filter(unknown).count()
    }
}

/// Any number, the same for the same seed, place and purpose.
fn drawn(seed: u64, [number, purpose]: [u64; 2]) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(&(2 * number + purpose).to_le_bytes(), seed) >> 1
}

/// The way to the client is taken to be as long as the way from it: neither clock knows the other's.
fn seen(sample: &Sample, partitions: usize, (run, slept_ms): (usize, f64)) -> Option<Seen> {
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
    let searches_ms: Vec<f64> = parts.iter().map(|part| ms(part.search_us)).collect();
    Some(Seen {
        before_ms,
        hand_over_ms: ms(parts.iter().map(|part| part.queueing_us).max()?),
        warm_ms: searches_ms.clone(),
        searches_ms,
        after_ms: (response_ms - before_ms - ms(in_servers_us)).max(0.0),
        slept_ms: slept_ms + before_ms,
        run,
    })
}

#[cfg(test)]
mod tests;
