//! Response time of whole answers when handlers, front-end and client share a few cores.
//!
//! [`simulate`](crate::simulate) gives every handler a core of its own and covers searches alone. On a
//! small machine more threads run than there are cores, and each query brings further work:
//!
//! ```text
//! arrives ─► before ─► queue of each partition ─► handlers ─► all parts done ─► after ─► answered
//!            (core)    in order of arrival        (core)                       (core)     └► beside (core)
//! ```
//!
//! All running work shares the cores evenly (processor sharing, Kleinrock 1967), as under a fair
//! scheduler of an operating system: n running stages on c cores each proceed at the pace min(1, c/n).
//! The time of a stage beyond its core work is the wake-up of sleeping threads and cores. It passes
//! without a core, and is zero when no core is idle.
//!
//! The model leaves out the cache misses that concurrent work causes, and other programs on the
//! machine.

use crate::error::{ModelError, checked, not_negative, servers};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Stage times of a query that meets no other, in ms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query<'a> {
    /// Arrival time; queries are passed in this order.
    pub arrived_ms: f64,
    /// Time from arrival to the queues of the handlers.
    pub before_ms: f64,
    /// Wake-up time of a sleeping handler; zero for an awake one.
    pub hand_over_ms: f64,
    /// Search time of each partition, on a handler that comes straight from another search.
    pub searches_ms: &'a [f64],
    /// Time from the end of the last search to the answer.
    pub after_ms: f64,
}

/// Cores, handlers and overheads of the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setup {
    /// Cores shared by all stages.
    pub cores: usize,
    /// Handlers per partition.
    pub handlers: usize,
    /// Share of `before_ms` and `after_ms` that needs a core.
    pub busy_share: f64,
    /// Upper bound on the relative slow-down of a search whose handler slept: other threads have
    /// evicted its caches, and longer searches use more of them.
    pub cold_share: f64,
    /// Sleep after which 63 % of `cold_share` applies, in ms; the rest follows exponentially.
    pub cooling_ms: f64,
    /// Work that starts when a query is answered and does not delay its answer, such as the client's
    /// reading of it, in ms.
    pub beside_ms: f64,
}

impl Setup {
    /// Returns the relative slow-down of a search on a handler that slept `slept_ms`.
    pub fn colder(&self, slept_ms: f64) -> f64 {
        match self.cooling_ms {
            0.0 => self.cold_share,
            cooling_ms => self.cold_share * -(-slept_ms / cooling_ms).exp_m1(),
        }
    }
}

/// Measured times of one simulated query.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Answer {
    /// Time from the queues to the end of the slowest partition's search.
    pub in_servers_ms: f64,
    /// Handler time: the sum of the search times of all partitions.
    pub searching_ms: f64,
    /// Time from arrival to answer.
    pub response_ms: f64,
}

/// Result of a simulation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Answers in the order of the queries.
    pub answers: Vec<Answer>,
    /// Integral over time of the number of queries in the system; by Little's law the sum of responses.
    pub system_area_ms: f64,
    /// Share of the time until the last arrival in which no core was idle.
    pub time_all_busy: f64,
    /// Share of arrivals that found no idle core.
    pub arrivals_finding_all_busy: f64,
}

/// Stage of a query that a piece of work or a delay belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Before,
    Search(u32),
    After,
    Beside,
    Answered,
}

/// Time (as the bits of a float, which sort like it), sequence number, query, stage.
type Event = Reverse<(u64, u64, u32, Stage)>;

struct Engine<'a> {
    setup: Setup,
    queries: &'a [Query<'a>],
    now_ms: f64,
    /// Work given to each running stage since the start, in ms; all proceed at the same pace.
    given_ms: f64,
    /// Running stages, ordered by the value of `given_ms` at which they complete.
    running: BinaryHeap<Event>,
    /// Delays that need no core, ordered by the time at which they end.
    passing: BinaryHeap<Event>,
    begun: u64,
    /// Start of sleep of each idle handler, in ms, by partition.
    idle_handlers: Vec<Vec<f64>>,
    queues: Vec<VecDeque<u32>>,
    /// Queueing time in ms and number of unfinished parts, by query.
    forked: Vec<(f64, u32)>,
    /// Relative slow-down of the search by a cold handler, by query and partition.
    colder: Vec<f64>,
    outcome: Outcome,
}

/// Simulates the queries.
///
/// Costs a few events per query, each logarithmic in the number of running stages.
///
/// # Errors
/// [`ModelError`] if a time is negative or not finite, arrivals are out of order, or the number of
/// partitions differs.
pub fn answers(setup: Setup, queries: &[Query<'_>]) -> Result<Outcome, ModelError> {
    let partitions = check(setup, queries)?;
    let mut engine = Engine {
        setup,
        queries,
        now_ms: 0.0,
        given_ms: 0.0,
        running: BinaryHeap::new(),
        passing: BinaryHeap::new(),
        begun: 0,
        idle_handlers: vec![vec![0.0; setup.handlers]; partitions],
        queues: vec![VecDeque::new(); partitions],
        forked: vec![(0.0, 0); queries.len()],
        colder: vec![0.0; queries.len() * partitions],
        outcome: Outcome {
            answers: vec![Answer::default(); queries.len()],
            ..Outcome::default()
        },
    };
    engine.run();
    Ok(engine.outcome)
}

fn check(setup: Setup, queries: &[Query<'_>]) -> Result<usize, ModelError> {
    servers("the number of cores", setup.cores)?;
    servers("the number of handlers", setup.handlers)?;
    let share = setup.busy_share;
    checked(
        "the share that needs a core",
        share,
        (0.0..=1.0).contains(&share),
        "from 0 to 1",
    )?;
    not_negative("the work beside (ms)", setup.beside_ms)?;
    not_negative(
        "the share that a cold search takes longer",
        setup.cold_share,
    )?;
    not_negative("the time of cooling (ms)", setup.cooling_ms)?;
    let partitions = queries.first().map_or(0, |query| query.searches_ms.len());
    let mut last_ms = 0.0;
    for query in queries {
        if query.searches_ms.len() != partitions || partitions == 0 {
            return Err(ModelError::Conflict(
                "every query needs a time for each partition",
            ));
        }
        if query.arrived_ms < last_ms {
            return Err(ModelError::Conflict("arrivals must not go back in time"));
        }
        last_ms = not_negative("an arrival (ms)", query.arrived_ms)?;
        let rest = [query.before_ms, query.hand_over_ms, query.after_ms];
        for &time_ms in query.searches_ms.iter().chain(&rest) {
            not_negative("a time of a query (ms)", time_ms)?;
        }
    }
    Ok(partitions)
}

impl Engine<'_> {
    fn run(&mut self) {
        let mut arrived = 0;
        let (mut in_system, mut found_busy, mut busy_ms) = (0u64, 0u64, 0.0);
        let at = |heap: &BinaryHeap<Event>| heap.peek().map(|event| f64::from_bits(event.0.0));
        loop {
            let next_ms = self.queries.get(arrived).map(|query| query.arrived_ms);
            let passed_ms = at(&self.passing);
            let done_ms = at(&self.running)
                .map(|given_ms| self.now_ms + (given_ms - self.given_ms).max(0.0) / self.pace());
            let soonest = [next_ms, passed_ms, done_ms].into_iter().flatten();
            let until_ms = soonest.fold(f64::INFINITY, f64::min);
            if until_ms == f64::INFINITY {
                break;
            }
            let elapsed_ms = (until_ms - self.now_ms).max(0.0);
            self.outcome.system_area_ms += elapsed_ms * in_system as f64;
            if arrived < self.queries.len() && self.is_full() {
                busy_ms += elapsed_ms;
            }
            if !self.running.is_empty() {
                self.given_ms += elapsed_ms * self.pace();
            }
            self.now_ms = self.now_ms.max(until_ms);
            if done_ms == Some(until_ms) {
                self.one_is_done();
            } else if passed_ms == Some(until_ms) {
                in_system -= u64::from(self.one_has_passed());
            } else {
                found_busy += u64::from(self.is_full());
                in_system += 1;
                self.arrives(arrived as u32);
                arrived += 1;
            }
        }
        let last_ms = self.queries.last().map_or(1.0, |query| query.arrived_ms);
        self.outcome.time_all_busy = busy_ms / last_ms;
        self.outcome.arrivals_finding_all_busy = found_busy as f64 / self.queries.len() as f64;
    }

    fn is_full(&self) -> bool {
        self.running.len() >= self.setup.cores
    }

    /// Returns the work given to each running stage per unit of time.
    fn pace(&self) -> f64 {
        (self.setup.cores as f64 / self.running.len() as f64).min(1.0)
    }

    fn work(&mut self, query: u32, work_ms: f64, stage: Stage) {
        self.begun += 1;
        let until = (self.given_ms + work_ms).to_bits();
        self.running
            .push(Reverse((until, self.begun, query, stage)));
    }

    fn search(&mut self, query: u32, part: u32) {
        self.outcome.answers[query as usize].searching_ms -= self.now_ms;
        let searches_ms = self.queries[query as usize].searches_ms;
        let colder = self.colder[query as usize * searches_ms.len() + part as usize];
        let work_ms = searches_ms[part as usize] * (1.0 + colder);
        self.work(query, work_ms, Stage::Search(part));
    }

    fn pass(&mut self, query: u32, time_ms: f64, stage: Stage) {
        self.begun += 1;
        let until = (self.now_ms + time_ms).to_bits();
        self.passing
            .push(Reverse((until, self.begun, query, stage)));
    }

    /// Returns the part of a stage's time that needs no core: 0 if every core is busy.
    fn idle_ms(&self, time_ms: f64) -> f64 {
        match self.is_full() {
            true => 0.0,
            false => time_ms * (1.0 - self.setup.busy_share),
        }
    }

    fn arrives(&mut self, query: u32) {
        let before_ms = self.queries[query as usize].before_ms;
        self.pass(query, self.idle_ms(before_ms), Stage::Before);
    }

    /// Completes the next delay and returns whether it answered a query.
    fn one_has_passed(&mut self) -> bool {
        let Some(Reverse((_, _, number, stage))) = self.passing.pop() else {
            return false;
        };
        let query = &self.queries[number as usize];
        match stage {
            Stage::Before => self.work(number, query.before_ms * self.setup.busy_share, stage),
            Stage::Search(part) => self.search(number, part),
            _ => {
                let response_ms = self.now_ms - query.arrived_ms;
                self.outcome.answers[number as usize].response_ms = response_ms;
                if self.setup.beside_ms > 0.0 {
                    self.work(number, self.setup.beside_ms, Stage::Beside);
                }
                return true;
            }
        }
        false
    }

    fn one_is_done(&mut self) {
        let Some(Reverse((_, _, number, stage))) = self.running.pop() else {
            return;
        };
        let after_ms = self.queries[number as usize].after_ms;
        match stage {
            Stage::Before => self.fork(number),
            Stage::Search(part) => self.searched(number, part),
            Stage::After => self.pass(number, self.idle_ms(after_ms), Stage::Answered),
            Stage::Beside | Stage::Answered => {}
        }
    }

    fn fork(&mut self, number: u32) {
        let query = &self.queries[number as usize];
        self.forked[number as usize] = (self.now_ms, query.searches_ms.len() as u32);
        for part in 0..query.searches_ms.len() {
            // The handler that went to sleep last has the warmest caches.
            if let Some(since_ms) = self.idle_handlers[part].pop() {
                let place = number as usize * query.searches_ms.len() + part;
                self.colder[place] = self.setup.colder(self.now_ms - since_ms);
                self.pass(number, query.hand_over_ms, Stage::Search(part as u32));
            } else {
                self.queues[part].push_back(number);
            }
        }
    }

    fn searched(&mut self, number: u32, part: u32) {
        self.outcome.answers[number as usize].searching_ms += self.now_ms;
        match self.queues[part as usize].pop_front() {
            Some(next) => self.search(next, part),
            None => self.idle_handlers[part as usize].push(self.now_ms),
        }
        let (forked_ms, unfinished) = &mut self.forked[number as usize];
        *unfinished -= 1;
        if *unfinished == 0 {
            self.outcome.answers[number as usize].in_servers_ms = self.now_ms - *forked_ms;
            let after_ms = self.queries[number as usize].after_ms;
            self.work(number, after_ms * self.setup.busy_share, Stage::After);
        }
    }
}
