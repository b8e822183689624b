//! Event loop of the simulation of handlers.

use super::report::HandlersReport;
use super::settings::HandlersSettings;
use super::work::{Query, Work};
use crate::error::ModelError;
use crate::simulate::Streams;
use crate::simulate::streams::Stream;
use schedule::board::script::{Decision, Event as BoardEvent, Record};
use schedule::board::{
    Arrival, BLOCK_NS, Board, Give, Learnt, Left, Policy, QueryId, Turn, UNHEARD_NS,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

const NS_PER_MS: f64 = 1e6;
/// Makes the order of wake-ups independent of arrivals and times.
const WAKES_SEED: u64 = 0x57A6_6E55;

/// Kind of an event, of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The handler has searched its range, or a block of one that others may ask for.
    RangeDone,
    /// The handler has been woken.
    Woken,
    /// Queries may be swapped between handlers.
    Sample,
}

/// Instant in ns, sequence number, handler, kind.
type Event = Reverse<(u64, u64, usize, Kind)>;

struct Engine<'a> {
    settings: &'a HandlersSettings,
    board: Board,
    events: BinaryHeap<Event>,
    sequence: u64,
    queries: Vec<Query>,
    works: Vec<Work>,
    arrived: usize,
    finished: usize,
    /// Order in which idle handlers are woken, where it is random.
    wakes_stream: Stream,
    report: HandlersReport,
}

/// Simulates a run, from an empty system to an empty system.
///
/// Costs an event per range and two per visit. Overload is not an error: the queue grows and the figures show it.
///
/// # Errors
/// [`ModelError`] if settings are out of range.
pub fn run(
    settings: &HandlersSettings,
    policy: &Arc<dyn Policy>,
) -> Result<HandlersReport, ModelError> {
    settings.check()?;
    let costs = &settings.costs;
    let mut board = Board::new(Arc::clone(policy), &settings.speeds);
    if let Some(parked_max_ms) = settings.parked_max_ms {
        board = board.parked_max_ns((parked_max_ms * NS_PER_MS) as u64);
    }
    board.learn(Learnt {
        wake_ns: costs.wake_us * 1e3,
        join_ns: costs.join_us * 1e3,
        efficiency: costs.efficiency,
        ..Learnt::default()
    });
    let mut engine = Engine {
        settings,
        board,
        events: BinaryHeap::new(),
        sequence: 0,
        queries: Vec::new(),
        works: vec![Work::default(); settings.speeds.len()],
        arrived: 0,
        finished: 0,
        wakes_stream: Streams::of(settings.seed ^ WAKES_SEED).machine,
        report: HandlersReport::default(),
    };
    engine.report.activity.core_busy_ms = vec![0.0; settings.speeds.len()];
    engine.run()?;
    let mut report = engine.report;
    report.responses_ms.sort_unstable_by(f64::total_cmp);
    Ok(report)
}

impl Engine<'_> {
    fn run(&mut self) -> Result<(), ModelError> {
        let settings = self.settings;
        let Streams {
            arrivals: mut arrivals_stream,
            times: mut times_stream,
            machine: mut machine_stream,
        } = Streams::of(settings.seed);
        let mut arrivals = settings.arrivals.clock(settings.queries)?;
        let mut source = settings.times.source()?;
        let mut parts_ms = vec![0.0; settings.times.parts()];
        let mut next_arrival = move || (arrivals.next_ms(&mut arrivals_stream) * NS_PER_MS) as u64;
        let mut arrival_ns = next_arrival();
        let began_ns = arrival_ns;
        let sampling_ns = self.board.policy().sampling_ns();
        if let Some(sampling_ns) = sampling_ns {
            self.push(arrival_ns + sampling_ns, 0, Kind::Sample);
        }
        let time_max_ms = settings.time_max_ms.unwrap_or(f64::INFINITY);
        let mut now_ns = 0;
        while self.finished < settings.queries {
            let event = self.events.peek().map_or(u64::MAX, |event| event.0.0);
            if self.arrived < settings.queries && arrival_ns <= event {
                now_ns = arrival_ns;
                source.fill(&mut times_stream, &mut parts_ms);
                let time_ms = parts_ms.iter().sum::<f64>().min(time_max_ms);
                self.arrive(now_ns, time_ms, &mut machine_stream);
                arrival_ns = next_arrival();
                continue;
            }
            let Some(Reverse((at_ns, _, handler, kind))) = self.events.pop() else {
                break;
            };
            now_ns = at_ns;
            match kind {
                Kind::RangeDone => self.range_done(now_ns, handler),
                Kind::Woken => self.turn(now_ns, handler),
                Kind::Sample => {
                    let wakes = self.board.swap(now_ns);
                    self.note(BoardEvent::Swap { now_ns }, || {
                        Decision::Woken(wakes.clone())
                    });
                    for woken in wakes {
                        self.push_wake(now_ns, woken);
                    }
                    self.push(
                        now_ns + sampling_ns.unwrap_or(u64::MAX / 2),
                        0,
                        Kind::Sample,
                    );
                }
            }
        }
        self.report.activity.duration_ms = now_ns.saturating_sub(began_ns) as f64 / NS_PER_MS;
        self.report.activity.queries = settings.queries as u64;
        Ok(())
    }

    /// Keeps an event of the board and its decision, if they are kept.
    fn note(&mut self, event: BoardEvent, decision: impl FnOnce() -> Decision) {
        if self.settings.keep_script {
            let decision = decision();
            self.report.script.push(Record { event, decision });
        }
    }

    fn push(&mut self, at_ns: u64, handler: usize, kind: Kind) {
        self.sequence += 1;
        self.events
            .push(Reverse((at_ns, self.sequence, handler, kind)));
    }

    fn push_wake(&mut self, now_ns: u64, handler: usize) {
        let wake_ns = (self.settings.costs.wake_us * 1e3) as u64;
        self.push(now_ns + wake_ns, handler, Kind::Woken);
    }

    /// Wakes an idle handler that has something to do.
    fn wake(&mut self, now_ns: u64) {
        let only = match self.settings.random_wakes {
            false => None,
            true => match self.idle_at_random() {
                None => return,
                some => some,
            },
        };
        let woken = match only {
            None => self.board.wake(now_ns),
            Some(handler) => (self.board.wake_handler(now_ns, handler)).then_some(handler),
        };
        let event = BoardEvent::Wake {
            now_ns,
            handler: only,
        };
        self.note(event, || Decision::Woken(woken.into_iter().collect()));
        if let Some(handler) = woken {
            self.push_wake(now_ns, handler);
        }
    }

    /// Returns an idle handler, each with the same probability.
    fn idle_at_random(&mut self) -> Option<usize> {
        let handlers = self.board.handlers().iter().enumerate();
        let idle = handlers.filter(|(_, one)| one.is_idle());
        let idle: Vec<usize> = idle.map(|(number, _)| number).collect();
        let at = (self.wakes_stream.uniform() * idle.len() as f64) as usize;
        idle.get(at).copied()
    }

    fn arrive(&mut self, now_ns: u64, time_ms: f64, stream: &mut Stream) {
        let time_ns = time_ms * NS_PER_MS;
        let deviation = self.settings.costs.prediction_deviation;
        let likely_ns = time_ns * (deviation * stream.normal()).exp();
        let deadline_ns = match self.settings.deadline_ms {
            Some(deadline_ms) => now_ns + (deadline_ms * NS_PER_MS) as u64,
            None => u64::MAX,
        };
        let arrival = Arrival {
            arrived_ns: now_ns,
            deadline_ns,
            likely_ns: Some(likely_ns as u64),
        };
        let id = self.board.arrive(arrival);
        self.note(BoardEvent::Arrive(arrival), || Decision::Slot(id));
        if self.queries.len() <= id {
            self.queries.resize(id + 1, Query::default());
        }
        self.queries[id] = Query {
            number: self.arrived,
            arrived_ns: now_ns,
            time_ns,
            likely_ns,
            ranges: 0,
            next: 0,
            parts: None,
        };
        self.arrived += 1;
        self.wake(now_ns);
    }

    /// Gives a free handler its next work.
    fn turn(&mut self, now_ns: u64, handler: usize) {
        let turn = self.board.turn(now_ns, handler);
        self.note(BoardEvent::Turn { now_ns, handler }, || {
            Decision::Turn(turn)
        });
        let id = match turn {
            Turn::Rest => return,
            Turn::Help(id) => id,
            Turn::Resume(id) => id,
            Turn::Begin(id) => {
                self.begin(now_ns, id);
                id
            }
        };
        // A handler that takes a query over by a swap may meet the other one there, and is no helper.
        let is_owner = self.board.handlers()[handler].is_owner;
        self.report.helps += u64::from(!is_owner);
        self.works[handler] = Work {
            query: id,
            is_owner,
            visit_began_ns: now_ns,
            range_began_ns: now_ns,
            busy_from_ns: now_ns,
            left_ns: 0.0,
            unheard_ns: UNHEARD_NS,
        };
        let is_first = self.queries[id].next == 0;
        let join_ns = match is_first {
            true => 0.0,
            false => self.settings.costs.join_us * 1e3,
        };
        self.take_range(now_ns, handler, join_ns);
        // A further handler for this query, or for the next one.
        self.wake(now_ns);
    }

    /// Cuts a query by its predicted time.
    fn begin(&mut self, now_ns: u64, id: QueryId) {
        let likely_ns = self.queries[id].likely_ns as u64;
        let start = self.board.start(id, likely_ns);
        let event = BoardEvent::Start {
            query: id,
            likely_ns,
        };
        self.note(event, || Decision::Start(start));
        let query = &mut self.queries[id];
        if start.is_on_request() {
            query.parts = Some(vec![query.time_ns]);
            return;
        }
        let costs = &self.settings.costs;
        let ranges = match (start.range_ns, costs.range_time_us) {
            (u64::MAX, _) => 1.0,
            (_, Some(range_time_us)) => query.time_ns / (range_time_us * 1e3),
            (range_ns, None) => {
                // The predicted time that 90 % of queries do not exceed.
                let high_ns = query.likely_ns * (1.2816 * costs.prediction_deviation).exp();
                high_ns / range_ns as f64
            }
        };
        query.ranges = ranges.ceil().clamp(1.0, f64::from(costs.ranges_max)) as u32;
        let event = BoardEvent::Open {
            now_ns,
            query: id,
            ranges: query.ranges,
            join_ns: 0,
        };
        self.board.open(now_ns, id, query.ranges, 0);
        self.note(event, || Decision::Noted);
    }

    fn take_range(&mut self, now_ns: u64, handler: usize, extra_ns: f64) {
        let work = &mut self.works[handler];
        work.range_began_ns = now_ns;
        let id = work.query;
        let query = &mut self.queries[id];
        query.next += 1;
        let live = match &mut query.parts {
            Some(parts) => {
                work.left_ns = parts.pop().unwrap_or(0.0);
                parts.len() as u32
            }
            None => query.ranges - query.next,
        };
        if let Some(entry) = self.board.query(id) {
            entry.progress.range_taken(live);
        }
        self.note(BoardEvent::RangeTaken { query: id, live }, || {
            Decision::Noted
        });
        let query = &self.queries[id];
        let further_ns = match query.next {
            1 => 0.0,
            _ => self.settings.costs.range_us * 1e3,
        };
        if query.parts.is_some() {
            return self.search_block(now_ns, handler, further_ns + extra_ns);
        }
        let range_ns = query.time_ns / f64::from(query.ranges);
        let searched_ns = range_ns / self.speed(handler);
        let spent_ns = (searched_ns + further_ns + extra_ns) as u64;
        self.push(now_ns + spent_ns, handler, Kind::RangeDone);
    }

    /// Returns the work of a handler at its query in a unit of time.
    fn speed(&self, handler: usize) -> f64 {
        let efficiency = match self.works[handler].is_owner {
            true => 1.0,
            false => self.settings.costs.efficiency,
        };
        efficiency * self.settings.speeds[handler]
    }

    /// Searches what is left of a part up to the next block at which the handler hears requests for a part.
    fn search_block(&mut self, now_ns: u64, handler: usize, extra_ns: f64) {
        let work = &mut self.works[handler];
        let block_ns = work.left_ns.min(BLOCK_NS as f64);
        work.left_ns -= block_ns;
        let spent_ns = block_ns / self.speed(handler) + extra_ns;
        self.push(now_ns + spent_ns as u64, handler, Kind::RangeDone);
    }

    /// Gives away between two blocks what the policy says. Returns it.
    fn gives(&mut self, now_ns: u64, handler: usize) -> Give {
        let work = self.works[handler];
        let seen = self.board.signals().seen(handler);
        let gives = self.board.policy().gives(work.is_owner, &seen);
        let given_ns = match gives {
            Give::Nothing => return gives,
            Give::All => work.left_ns,
            Give::Half => {
                let visit_ns = now_ns - work.visit_began_ns;
                if visit_ns < work.unheard_ns {
                    return Give::Nothing;
                }
                let left_ns = (work.left_ns / self.speed(handler)) as u64;
                let shares = self.board.shares(now_ns, work.query, left_ns);
                let event = BoardEvent::Share {
                    now_ns,
                    query: work.query,
                    left_ns,
                };
                self.note(event, || Decision::Shares(shares));
                if !shares {
                    self.works[handler].unheard_ns = visit_ns * 2;
                    return Give::Nothing;
                }
                work.left_ns / 2.0
            }
        };
        self.works[handler].left_ns -= given_ns;
        let parts = self.queries[work.query].parts.get_or_insert_default();
        parts.push(given_ns);
        let ranges = parts.len() as u32;
        let event = BoardEvent::Open {
            now_ns,
            query: work.query,
            ranges,
            join_ns: 0,
        };
        self.board.open(now_ns, work.query, ranges, 0);
        self.note(event, || Decision::Noted);
        self.wake(now_ns);
        gives
    }

    fn range_done(&mut self, now_ns: u64, handler: usize) {
        let work = &mut self.works[handler];
        let busy_ns = now_ns - std::mem::replace(&mut work.busy_from_ns, now_ns);
        self.report.activity.core_busy_ms[handler] += busy_ns as f64 / NS_PER_MS;
        let work = *work;
        let deadline_ns = self.board.query(work.query).map(|one| one.deadline_ns);
        let is_expired = deadline_ns.is_some_and(|deadline_ns| now_ns >= deadline_ns);
        if work.left_ns > 0.0 && !is_expired && self.gives(now_ns, handler) != Give::All {
            return self.search_block(now_ns, handler, 0.0);
        }
        let worked_ns = now_ns - work.range_began_ns;
        let query = &self.queries[work.query];
        let (number, arrived_ns) = (query.number, query.arrived_ns);
        let has_none_left = query.is_exhausted();
        let Some(entry) = self.board.query(work.query) else {
            return;
        };
        entry.progress.range_done(worked_ns);
        let is_exhausted = is_expired || has_none_left;
        let visit = entry.visit(now_ns, work.is_owner);
        let seen = self.board.signals().seen(handler);
        let stays = self.board.policy().stays(&visit, &seen);
        let event = BoardEvent::RangeDone {
            now_ns,
            handler,
            worked_ns,
        };
        self.note(event, || Decision::Stays(stays));
        if stays && !is_exhausted {
            if seen.idle > 0 && self.board.policy().calls_helpers() {
                self.wake(now_ns);
            }
            self.take_range(now_ns, handler, 0.0);
            return;
        }
        let left = self.board.leave(now_ns, handler, is_exhausted);
        let event = BoardEvent::Leave {
            now_ns,
            handler,
            is_exhausted,
        };
        self.note(event, || Decision::Left(left));
        match left {
            Left::Finished => {
                self.finished += 1;
                if number >= self.settings.warm_up {
                    let response_ns = now_ns - arrived_ns;
                    self.report
                        .responses_ms
                        .push(response_ns as f64 / NS_PER_MS);
                    let is_cut = work.left_ns > 0.0 || !has_none_left;
                    self.report.expired += u64::from(is_expired && is_cut);
                }
            }
            Left::Parked => self.report.parked += 1,
            Left::Others => {}
        }
        self.turn(now_ns, handler);
    }
}
