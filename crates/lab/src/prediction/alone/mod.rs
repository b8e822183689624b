//! Time of each query that meets no other, from single-client runs.
//!
//! There are two kinds of runs. In *spaced* runs a query is sent well after the previous answer, by the
//! same client as under load; they measure the way to the handlers and back. In *back-to-back* runs
//! each query follows the previous answer at once, so caches and cores are as awake as under load. Both
//! measure search times.
//!
//! The speed of a shared machine varies for seconds at a time. Short single-client runs are therefore
//! interleaved with the predicted ones, and each has a *pace*. Under load a slow second builds a queue,
//! so predictions draw such paces too.
use load::{Outcome, Sample};
use model::shared_cores::{Query, Setup};
use std::collections::BTreeMap;
use std::time::Duration;

/// Candidate sleep times, in ms, after which a handler has lost 63 % of its cache contents.
const COOLING_MS: [f64; 6] = [3.0, 6.0, 12.0, 25.0, 50.0, 100.0];
/// Iterations between the paces of runs and the times of queries, each of which is estimated from the
/// other.
const TURNS: usize = 5;

/// Times of one answer to a query that met no other, in ms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    before_ms: f64,
    hand_over_ms: f64,
    searches_ms: Vec<f64>,
    after_ms: f64,
    /// Sleep of the handlers before the query.
    slept_ms: f64,
    /// Search times without the slow-down by that sleep.
    warm_ms: Vec<f64>,
    /// Number of the run.
    run: usize,
}

/// Pacing of a single client.
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

    /// Returns the query as input of the model, with the search times of any answer.
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

/// Arrival of a query: time in ns since the start of the run, number of the query, and whether it is in
/// the warm-up.
pub(super) type Arrival = (u64, u32, bool);

/// Results of the single-client runs against one kind of server.
#[derive(Debug)]
pub(super) struct Alone {
    partitions: usize,
    seen: Vec<Seen>,
    /// Indices into `seen`, by query: of all runs, and of spaced runs.
    by_query: BTreeMap<u32, Vec<usize>>,
    spaced: BTreeMap<u32, Vec<usize>>,
    /// Indices into `seen` for any query: of spaced runs, and of back-to-back runs.
    any_spaced: Vec<usize>,
    at_once: Vec<usize>,
    runs: usize,
    /// Pace of each run; 1 is the mean of all.
    paces: Vec<f64>,
    /// Upper bound on the relative slow-down of a search after a sleep, and the time constant of the
    /// sleep.
    cold_share: f64,
    cooling_ms: f64,
    /// Number of back-to-back requests and their cost: core time of the server (if all runs report it)
    /// and of the client. Spaced runs are excluded, because threads that sleep and wake cost more than
    /// under load.
    requests: f64,
    server_ms: Option<f64>,
    client_ms: f64,
}

impl Alone {
    /// Returns an empty collection.
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

    /// Adds a single-client run; `names` are the numbers of its queries. The cost of a run is core time
    /// of the server and of the client, in ms. Answers of queries that overlapped are ignored, both the
    /// earlier and the later one.
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
        // The sleep of the handlers before the first query is unknown.
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

    /// Estimates the slow-down of searches after a sleep, from answers to the same query after
    /// different sleeps, by least squares on each time over the mean of its query.
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

    /// Returns the upper bound on the relative slow-down of a search after a sleep.
    pub(super) fn cold_share(&self) -> f64 {
        self.cold_share
    }

    /// Estimates the pace of every run: its search times over the mean of the same queries. The
    /// comparison is per query, so the mix of queries in a run does not affect its pace.
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

    /// Shrinks paces towards 1 by the share of their variance that the noise of single answers
    /// explains: a pace from few answers is unreliable (James & Stein 1961, as an empirical Bayes
    /// estimate).
    fn shrink_paces(&mut self) {
        let warm_ms = |seen: &Seen| seen.warm_ms.iter().sum::<f64>();
        // For each run, the sum of the expected times of its answers, and the sum of their squares.
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

    /// Returns the quickest and the slowest pace.
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

    /// Returns the mean handler time of a query over all partitions, in ms, in back-to-back runs.
    pub(super) fn mean_search_ms(&self) -> f64 {
        self.mean_of(&self.at_once)
    }

    /// Returns the mean handler time of one query, in ms.
    pub(super) fn search_ms(&self, query: u32) -> Option<f64> {
        Some(self.mean_of(self.by_query.get(&query)?))
    }

    /// Returns the mean time of an answer outside its search, in ms.
    fn rest_ms(&self) -> f64 {
        let sum: f64 = self
            .at_once
            .iter()
            .map(|&place| self.seen[place].rest_ms())
            .sum();
        sum / self.at_once.len().max(1) as f64
    }

    /// Returns the core time per request in ms, of the server and of the client. A server that does not
    /// report it counts as busy during the whole answer.
    fn costs_ms(&self) -> (f64, f64) {
        let requests = self.requests.max(1.0);
        let search_ms = self.mean_search_ms();
        let server_ms = match self.server_ms {
            Some(server_ms) => (server_ms / requests).max(search_ms),
            None => search_ms + self.rest_ms(),
        };
        (server_ms, self.client_ms / requests)
    }

    /// Returns the parameters of the model. Time outside searches counts as work up to the server's
    /// core time; the rest is hand-over. The client works beside the answer.
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

    /// Draws the times of a schedule's queries by `seed`. Each query takes the way of one of its
    /// answers and the searches of one; a query without answers takes those of another. A drawn pace
    /// applies for `pace_lasts`, the duration of a single-client run.
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

    /// Returns the number of measured requests whose query has no answer without overlap.
    pub(super) fn unknown(&self, schedule: &[Arrival]) -> usize {
        let unknown = |arrival: &&Arrival| !arrival.2 && !self.by_query.contains_key(&arrival.1);
        schedule.iter().filter(unknown).count()
    }
}

/// Returns a pseudo-random number that depends only on seed, number and purpose.
fn drawn(seed: u64, [number, purpose]: [u64; 2]) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(&(2 * number + purpose).to_le_bytes(), seed) >> 1
}

/// Splits an answer into stages. The way to and from the client count as equally long, because the two
/// clocks cannot be compared.
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
