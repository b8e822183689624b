//! Board of an index server, shared by its handlers and by the threads that bring requests.
//!
//! The decisions are those of [`schedule::board`]. This file adds what a running server needs: a lock, a clock, the
//! jobs themselves, and wake-ups, which are sent after the lock is released. A handler takes the lock two to four times
//! a query; at the ends of ranges it reads the signals alone.

use crate::handlers::cpu_use::CpuUse;
use crate::handlers::deadline::Deadline;
use crate::handlers::figures::Figures;
use crate::handlers::options::HandlerOptions;
use crate::handlers::steering::Steering;
use crate::handlers::sync::{
    AtomicBool, AtomicU64, Mutex, MutexGuard, Thread, current, park, park_timeout,
};
use schedule::board::{
    Arrival, Board, Learnt, Left, Policy, Progress, QueryId, Signals, Start, Turn, Visit,
};
use schedule::cost::CostModel;
use search::PlanKind;
use std::fmt;
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Weight of a new measurement of the costs of help: 1/64.
pub(super) const NEW: f64 = 1.0 / 64.0;
/// Kinds of work with costs of their own: by the kind of the plan, and by what is wanted: hits, hits with their exact
/// number, all matches.
const KINDS: usize = 3 * PlanKind::ALL.len();
/// Upper limit on the time of a wake-up, in ns: longer ones are of a machine that was suspended or overloaded.
const WAKE_NS_MAX: u64 = 1_000_000;

/// A handler at work, as jobs see it.
#[derive(Clone, Copy)]
pub(crate) struct Handler<'a> {
    pub(crate) number: usize,
    pub(crate) board: &'a SharedBoard,
    pub(crate) figures: &'a Figures,
    pub(crate) interludes: &'a dyn Interludes,
    /// Whether it is the thread that brought the job, in the place of an idle handler: it has other work, and leaves long jobs.
    pub(crate) is_guest: bool,
}

/// Other work in the middle of a job.
pub(crate) trait Interludes {
    /// Leaves a job at the end of a range and does what goes before it, while the job keeps what it has opened. Returns
    /// the visit with which the handler comes back to it; `None` where it does not, and the visit is to end with
    /// [`Ended::HasLeft`]. What the handler has found so far must be where the last handler merges it: another one may
    /// answer the query meanwhile.
    fn interlude(&self, visiting: &Visiting) -> Option<Visiting>;
}

/// End of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Nothing is left to take.
    Exhausted,
    /// The policy sends the handler elsewhere.
    Leaves,
    /// The handler has left, and the board knows.
    HasLeft,
}

impl Ended {
    /// Returns the end of a visit that takes no interludes.
    pub(crate) fn of(is_exhausted: bool) -> Ended {
        match is_exhausted {
            true => Ended::Exhausted,
            false => Ended::Leaves,
        }
    }
}

/// Work for handlers.
pub(crate) trait Job: fmt::Debug + Send + Sync {
    /// Returns the arrival and the deadline.
    fn deadline(&self) -> &Deadline;

    /// Works until nothing is left or the policy sends the handler elsewhere.
    fn visit(&self, visiting: &Visiting, handler: &Handler<'_>) -> Ended;

    /// Replies. Called once, by the last handler that leaves.
    fn finish(&self, board: &SharedBoard, figures: &Figures);

    /// Leaves the rest undone and drops the reply, which is an error at the other end: a handler panicked.
    fn abandon(&self);
}

/// Board, clock and threads of an index server.
#[derive(Debug)]
pub(crate) struct SharedBoard {
    epoch: Instant,
    state: Mutex<State>,
    policy: Arc<dyn Policy>,
    range_postings_min: u64,
    cpu_use: CpuUse,
    signals: Arc<Signals>,
    pub(super) costs: Mutex<CostModel>,
    /// Set once all handlers run.
    threads: OnceLock<Vec<Thread>>,
    steering: Steering,
    /// Time for which each handler spins before it sleeps.
    spins: Vec<Duration>,
    /// Instant at which each handler was woken, in ns; 0 for none.
    woken_ns: Vec<AtomicU64>,
    /// Speed of each handler relative to the fastest CPU.
    speeds: Vec<f64>,
    are_emulated: bool,
    /// Whether threads that bring jobs may work in the places of handlers.
    pub(super) have_guests: bool,
    /// Thread that swaps queries, if the policy needs one.
    sampler: OnceLock<Thread>,
    /// Whether that thread sleeps until a query arrives.
    sampler_rests: AtomicBool,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) board: Board,
    /// Jobs by slot of the board.
    jobs: Vec<Option<Arc<dyn Job>>>,
    /// Running means over visits: CPU time and time of their ranges.
    pub(super) cpu_and_wall_ns: [f64; 2],
    /// Whether a guest works in the place of each handler.
    pub(super) has_guest: Vec<bool>,
    pub(super) is_closed: bool,
}

impl State {
    /// Returns the visit of a handler that the board has just put to a query.
    pub(super) fn visiting(
        &self,
        now_ns: u64,
        handler: usize,
        turn: Turn,
        id: QueryId,
    ) -> Option<Visiting> {
        let (entry, job) = (self.board.query(id)?, self.jobs.get(id)?.as_ref()?);
        Some(Visiting {
            id,
            turn,
            number: entry.visits,
            job: Arc::clone(job),
            progress: Arc::clone(&entry.progress),
            visit: entry.visit(now_ns, self.board.handlers()[handler].is_owner),
        })
    }
}

/// Next step of a handler.
#[derive(Debug)]
pub(crate) enum Next {
    /// Works on a job.
    Visit(Visiting),
    /// Sleeps until it is woken.
    Rest,
    /// Ends: the server is closed and nothing waits.
    End,
}

/// A job that a handler works on.
#[derive(Debug)]
pub(crate) struct Visiting {
    pub(crate) id: QueryId,
    pub(crate) turn: Turn,
    /// Number among the visits of the query, from 1, in the order in which handlers came to it.
    pub(crate) number: u32,
    pub(crate) job: Arc<dyn Job>,
    pub(crate) progress: Arc<Progress>,
    /// State of the query and the handler at the beginning of the visit.
    pub(crate) visit: Visit,
}

impl SharedBoard {
    /// Returns an empty board for the handlers of `options`.
    pub(crate) fn new(options: &HandlerOptions) -> SharedBoard {
        let (choice, handlers) = (&options.policy, options.handlers);
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
        let speeds = options.speeds();
        let board = Board::new(Arc::clone(choice.policy()), &speeds);
        let mut board = board.at_work_max(cpus);
        let mut spins = vec![Duration::ZERO; handlers];
        if let Some(seats) = options.seats() {
            for (handler, seat) in seats.iter().enumerate() {
                let on_core = seats.iter().filter(|one| one.core == seat.core);
                if on_core.count() == 1 {
                    spins[handler] = options.spin;
                }
            }
            board = board.seated(seats);
        }
        SharedBoard {
            epoch: Instant::now(),
            policy: Arc::clone(choice.policy()),
            range_postings_min: options.range_postings_min,
            cpu_use: CpuUse::new(),
            signals: Arc::clone(board.signals()),
            costs: Mutex::new(CostModel::new(KINDS)),
            threads: OnceLock::new(),
            steering: Steering::new(handlers, !options.places.is_empty()),
            spins,
            woken_ns: (0..handlers).map(|_| AtomicU64::new(0)).collect(),
            are_emulated: !options.emulated_speeds.is_empty(),
            have_guests: options.have_guests(),
            speeds,
            sampler: OnceLock::new(),
            sampler_rests: AtomicBool::new(false),
            state: Mutex::new(State {
                board,
                jobs: Vec::new(),
                cpu_and_wall_ns: [0.0; 2],
                has_guest: vec![false; handlers],
                is_closed: false,
            }),
        }
    }

    /// Names the threads to wake, by number of the handler.
    pub(crate) fn run_by(&self, threads: Vec<Thread>) {
        let _ = self.threads.set(threads);
    }

    /// Returns the time since the start of the server, in ns.
    pub(crate) fn now_ns(&self) -> u64 {
        self.ns_of(Instant::now())
    }

    /// Returns an instant in ns since the start of the server.
    pub(crate) fn ns_of(&self, instant: Instant) -> u64 {
        instant.saturating_duration_since(self.epoch).as_nanos() as u64
    }

    pub(crate) fn policy(&self) -> &Arc<dyn Policy> {
        &self.policy
    }

    /// Returns whether searches are cut before their times are known: where ranges may be as short as can be.
    pub(crate) fn trusts_all(&self) -> bool {
        self.range_postings_min == 0
    }

    pub(crate) fn range_postings_min(&self) -> u64 {
        self.range_postings_min
    }

    pub(crate) fn signals(&self) -> &Arc<Signals> {
        &self.signals
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // The board is consistent after each of its calls.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a job on the board, and wakes a handler if one is idle.
    pub(crate) fn enqueue(&self, job: Arc<dyn Job>) {
        let mut state = self.state();
        self.put(&mut state, job);
        let woken = self.wake_in(&mut state, self.now_ns());
        drop(state);
        self.unpark(woken);
        if self.sampler_rests.load(SeqCst)
            && let Some(sampler) = self.sampler.get()
        {
            sampler.unpark();
        }
    }

    pub(super) fn put(&self, state: &mut State, job: Arc<dyn Job>) -> QueryId {
        let arrival = Arrival {
            arrived_ns: self.ns_of(job.deadline().arrived),
            deadline_ns: self.ns_of(job.deadline().at),
            likely_ns: None,
        };
        let id = state.board.arrive(arrival);
        if state.jobs.len() <= id {
            state.jobs.resize(id + 1, None);
        }
        state.jobs[id] = Some(job);
        id
    }

    /// Notes that the calling thread is a handler.
    pub(crate) fn run_by_this_thread(&self, handler: usize) {
        self.steering.run_by_this_thread(handler);
    }

    /// Gives a free handler its next work, and wakes another one where there is more.
    pub(crate) fn turn(&self, handler: usize) -> Next {
        self.steering.arrived(handler);
        let now_ns = self.now_ns();
        let woken_ns = self.woken_ns[handler].swap(0, Relaxed);
        let mut state = self.state();
        if woken_ns > 0 && now_ns.saturating_sub(woken_ns) < WAKE_NS_MAX {
            let wake_ns = now_ns.saturating_sub(woken_ns) as f64;
            let mut learnt = *state.board.learnt();
            learnt.wake_ns += (wake_ns - learnt.wake_ns) * NEW;
            state.board.learn(learnt);
        }
        if state.has_guest[handler] {
            return Next::Rest;
        }
        let turn = state.board.turn(now_ns, handler);
        let (Turn::Begin(id) | Turn::Resume(id) | Turn::Help(id)) = turn else {
            return match state.is_closed {
                true => Next::End,
                false => Next::Rest,
            };
        };
        let Some(visiting) = state.visiting(now_ns, handler, turn, id) else {
            return Next::Rest;
        };
        let woken = self.wake_in(&mut state, now_ns);
        drop(state);
        self.unpark_elsewhere(woken);
        Next::Visit(visiting)
    }

    /// Lets a handler without work sleep until it is woken. It spins a little before, unless another thread needs its
    /// core.
    pub(crate) fn rest(&self, handler: usize) {
        let spin = self.spins[handler];
        if !spin.is_zero() {
            let began = Instant::now();
            while began.elapsed() < spin {
                if self.woken_ns[handler].load(Relaxed) > 0 {
                    return;
                }
                std::hint::spin_loop();
            }
        }
        // An early wake-up is remembered, so none is lost.
        park();
    }

    /// Asks the policy how a query of some predicted time starts.
    pub(crate) fn start(&self, id: QueryId, likely_ns: u64) -> Start {
        self.state().board.start(id, likely_ns)
    }

    /// Returns whether a half of what is left of a query, `left` in a handler's time, goes to an idle handler.
    pub(crate) fn shares(&self, id: QueryId, left: Duration) -> bool {
        let now_ns = self.now_ns();
        if self.trusts_all() {
            return self.state().board.shares(now_ns, id, u64::MAX / 2);
        }
        let busy_share = self.cpu_use.measure();
        let mut state = self.state();
        if let Some(busy_share) = busy_share {
            let learnt = Learnt {
                busy_share,
                ..*state.board.learnt()
            };
            state.board.learn(learnt);
        }
        (state.board).shares(now_ns, id, left.as_nanos() as u64)
    }

    /// Opens a query to further handlers, which take about as long to join it as its first one took.
    pub(crate) fn open(&self, id: QueryId, ranges: usize, joined: Duration) {
        let now_ns = self.now_ns();
        let mut state = self.state();
        let ranges = u32::try_from(ranges).unwrap_or(u32::MAX);
        (state.board).open(now_ns, id, ranges, joined.as_nanos() as u64);
        let woken = self.wake_in(&mut state, now_ns);
        drop(state);
        self.unpark_elsewhere(woken);
    }

    /// Wakes an idle handler if it has something to do: at the end of a range.
    pub(crate) fn wake(&self, now_ns: u64) {
        let mut state = self.state();
        let woken = self.wake_in(&mut state, now_ns);
        drop(state);
        self.unpark_elsewhere(woken);
    }

    /// Takes a handler off its query.
    pub(crate) fn leave(&self, handler: usize, id: QueryId, is_exhausted: bool) -> Left {
        let now_ns = self.now_ns();
        let mut state = self.state();
        let left = state.board.leave(now_ns, handler, is_exhausted);
        if left == Left::Finished {
            state.jobs[id] = None;
        }
        left
    }

    /// Returns the interval at which queries are swapped between handlers; `None` where the policy never swaps, or all
    /// handlers have one speed.
    pub(crate) fn sampling(&self) -> Option<Duration> {
        let sampling_ns = self.policy.sampling_ns();
        let has_several = self.speeds.windows(2).any(|two| two[0] != two[1]);
        let sampling_ns = sampling_ns.filter(|_| has_several);
        sampling_ns.map(Duration::from_nanos)
    }

    /// Swaps queries between handlers as the policy wants it, at each interval until the board is closed. The calling
    /// thread sleeps while all handlers rest.
    pub(crate) fn swap_at(&self, interval: Duration) {
        let _ = self.sampler.set(current());
        loop {
            let are_idle = || self.signals.idle() as usize == self.speeds.len();
            if are_idle() {
                self.sampler_rests.store(true, SeqCst);
                // A query may have arrived meanwhile, before it could see that this thread rests.
                if are_idle() && !self.state().is_closed {
                    park();
                }
                self.sampler_rests.store(false, SeqCst);
            }
            park_timeout(interval);
            if !self.swap() {
                return;
            }
        }
    }

    fn swap(&self) -> bool {
        let now_ns = self.now_ns();
        let mut state = self.state();
        if state.is_closed {
            return false;
        }
        let woken = state.board.swap(now_ns);
        drop(state);
        for handler in woken {
            self.woken_ns[handler].store(now_ns, Relaxed);
            self.unpark(Some(handler));
        }
        true
    }

    /// Returns the time that the fastest CPU would take for the work of a handler in `spent`.
    pub(crate) fn at_full_speed(&self, handler: usize, spent: Duration) -> Duration {
        match self.speeds[handler] {
            1.0 => spent,
            speed => spent.mul_f64(speed),
        }
    }

    /// Spins for as long as a handler of the emulated speed would have taken longer for a range.
    pub(crate) fn emulate_speed(&self, handler: usize, range: Duration) {
        if self.are_emulated {
            let began = Instant::now();
            let longer = range.mul_f64(1.0 / self.speeds[handler] - 1.0);
            while began.elapsed() < longer {
                std::hint::spin_loop();
            }
        }
    }

    /// Closes the board: handlers end once nothing waits.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        let handlers = self.threads.get().into_iter().flatten();
        for thread in handlers.chain(self.sampler.get()) {
            thread.unpark();
        }
    }

    pub(super) fn wake_in(&self, state: &mut State, now_ns: u64) -> Option<usize> {
        let woken = state.board.wake(now_ns)?;
        self.woken_ns[woken].store(now_ns, Relaxed);
        Some(woken)
    }

    /// Wakes a handler on another CPU than that of the calling handler.
    fn unpark_elsewhere(&self, woken: Option<usize>) {
        if let Some(handler) = woken {
            self.steering.away_from_here(handler);
        }
        self.unpark(woken);
    }

    pub(super) fn unpark(&self, woken: Option<usize>) {
        if let (Some(handler), Some(threads)) = (woken, self.threads.get()) {
            threads[handler].unpark();
        }
    }
}
