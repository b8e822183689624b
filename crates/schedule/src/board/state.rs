//! State of the board, and the events that change it.

use super::entry::{Arrival, Entry, QueryId, Stage};
use super::handlers::Handler;
use super::law::Learnt;
use super::policy::{Load, Policy, Start, Turn};
use super::progress::Progress;
use super::signals::Signals;
use super::traffic::Traffic;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Weight of a new prediction in the running mean: 1/64.
const MEAN_SHIFT: u32 = 6;
/// Share of its time to the deadline that a query may wait while others run: a tenth.
const URGENT_SHARE: u64 = 10;

/// The queries of a server and its handlers.
#[derive(Debug)]
pub struct Board {
    policy: Arc<dyn Policy>,
    now_ns: u64,
    slots: Vec<Option<Entry>>,
    free: Vec<QueryId>,
    claimable: Claimable,
    handlers: Vec<Handler>,
    learnt: Learnt,
    /// Running mean of predictions, for queries without one.
    likely_mean_ns: u64,
    numbers: u64,
    traffic: Traffic,
    /// Longest wait of a query while others run, in ns: a cap on the tenth of its deadline.
    parked_max_ns: u64,
    signals: Arc<Signals>,
}

/// Queries that wait or are parked, in the orders that policies ask for. What they are ordered by does not change while
/// nobody works on them.
#[derive(Debug, Default)]
struct Claimable {
    /// By number in order of arrival.
    by_arrival: BTreeSet<(u64, QueryId)>,
    /// By the key of the policy, then by arrival.
    by_key: BTreeSet<(u64, u64, QueryId)>,
    /// By the instant from which a query is urgent, then by arrival.
    by_urgency: BTreeSet<(u64, u64, QueryId)>,
    /// Sum of the times left, in ns.
    left_ns: u64,
}

impl Claimable {
    fn add(&mut self, entry: &Entry) {
        let left_ns = entry.left_ns();
        self.by_arrival.insert((entry.number, entry.id));
        self.by_key.insert((entry.key, entry.number, entry.id));
        self.by_urgency
            .insert((entry.urgent_at_ns(), entry.number, entry.id));
        self.left_ns = self.left_ns.saturating_add(left_ns);
    }

    fn remove(&mut self, entry: &Entry) {
        let left_ns = entry.left_ns();
        self.by_arrival.remove(&(entry.number, entry.id));
        self.by_key.remove(&(entry.key, entry.number, entry.id));
        self.by_urgency
            .remove(&(entry.urgent_at_ns(), entry.number, entry.id));
        self.left_ns = self.left_ns.saturating_sub(left_ns);
    }
}

/// State of a query that a handler has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Others still work on it.
    Others,
    /// Nobody works on it and ranges are left: it is parked.
    Parked,
    /// All ranges are taken and nobody works on it: the caller merges and replies. It is off the board.
    Finished,
}

impl Board {
    /// Returns an empty board for handlers of these speeds, the fastest being 1.
    pub fn new(policy: Arc<dyn Policy>, speeds: &[f64]) -> Board {
        let board = Board {
            policy,
            now_ns: 0,
            slots: Vec::new(),
            free: Vec::new(),
            claimable: Claimable::default(),
            handlers: speeds.iter().map(|&speed| Handler::new(speed)).collect(),
            learnt: Learnt::default(),
            likely_mean_ns: 0,
            numbers: 0,
            traffic: Traffic::new(speeds.len()),
            parked_max_ns: u64::MAX,
            signals: Arc::new(Signals::new(speeds.len())),
        };
        board.publish();
        board
    }

    /// Caps the wait of a query while others run, in ns. It is a tenth of the time to its deadline at most.
    pub fn parked_max_ns(mut self, parked_max_ns: u64) -> Board {
        self.parked_max_ns = parked_max_ns;
        self
    }

    /// Replaces the costs of help.
    pub fn learn(&mut self, learnt: Learnt) {
        self.learnt = learnt;
    }

    /// Returns the costs of help.
    pub fn learnt(&self) -> &Learnt {
        &self.learnt
    }

    /// Returns the traffic of late.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Returns the policy.
    pub fn policy(&self) -> &Arc<dyn Policy> {
        &self.policy
    }

    /// Returns what handlers read at the ends of ranges.
    pub fn signals(&self) -> &Arc<Signals> {
        &self.signals
    }

    /// Returns the instant of the last event, in ns.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Returns the handlers by number.
    pub fn handlers(&self) -> &[Handler] {
        &self.handlers
    }

    /// Returns the queries, in no order.
    pub fn queries(&self) -> impl Iterator<Item = &Entry> {
        self.slots.iter().flatten()
    }

    /// Returns the queries that handlers work on, a query once for each of them.
    pub fn running(&self) -> impl Iterator<Item = &Entry> {
        self.handlers
            .iter()
            .filter_map(|one| self.query(one.query?))
    }

    /// Returns the queries that wait or are parked, in order of arrival.
    pub fn claimable(&self) -> impl Iterator<Item = &Entry> {
        let ids = self.claimable.by_arrival.iter();
        ids.filter_map(|&(_, id)| self.query(id))
    }

    /// Returns the query with the least key of the policy among those that wait or are parked, the oldest among equals.
    pub fn least_key(&self) -> Option<&Entry> {
        let &(_, _, id) = self.claimable.by_key.first()?;
        self.query(id)
    }

    /// Returns the query that has been urgent for the longest time among those that wait or are parked.
    pub fn most_urgent(&self) -> Option<&Entry> {
        let &(urgent_at_ns, _, id) = self.claimable.by_urgency.first()?;
        (urgent_at_ns <= self.now_ns).then_some(())?;
        self.query(id)
    }

    /// Returns the number of queries that wait or are parked.
    pub fn claimable_count(&self) -> usize {
        self.claimable.by_arrival.len()
    }

    /// Returns the expected handler time of the queries that wait or are parked, in ns.
    pub fn claimable_ns(&self) -> u64 {
        self.claimable.left_ns
    }

    /// Returns the number of queries on the board.
    pub fn queries_count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns a query.
    pub fn query(&self, id: QueryId) -> Option<&Entry> {
        self.slots.get(id).and_then(Option::as_ref)
    }

    /// Returns the number of idle handlers that nobody has woken.
    pub fn idle_count(&self) -> usize {
        self.handlers.iter().filter(|one| one.is_idle()).count()
    }

    // ---- events --------------------------------------------------------------------------------

    /// Puts a query on the board.
    pub fn arrive(&mut self, arrival: Arrival) -> QueryId {
        self.now_ns = self.now_ns.max(arrival.arrived_ns);
        self.traffic.arrived(arrival.arrived_ns);
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        let likely_ns = arrival.likely_ns.unwrap_or(self.likely_mean_ns);
        let urgent_after_ns = match arrival.deadline_ns {
            u64::MAX => self.parked_max_ns,
            deadline_ns => {
                let time_ns = deadline_ns.saturating_sub(arrival.arrived_ns);
                (time_ns / URGENT_SHARE).min(self.parked_max_ns)
            }
        };
        let entry = Entry {
            id,
            number: self.numbers,
            arrived_ns: arrival.arrived_ns,
            begun_ns: 0,
            deadline_ns: arrival.deadline_ns,
            urgent_ns: arrival.arrived_ns.saturating_add(urgent_after_ns),
            key: self
                .policy
                .key(arrival.arrived_ns, likely_ns, self.traffic.boost_per_ns()),
            stage: Stage::Waiting,
            progress: Arc::new(Progress::new(likely_ns)),
            hands: 0,
            visits: 0,
            degree_max: 1,
        };
        self.claimable.add(&entry);
        self.slots[id] = Some(entry);
        self.numbers += 1;
        self.publish();
        id
    }

    /// Gives a free handler its next work. Wake further handlers with [`Board::wake`] afterwards.
    pub fn turn(&mut self, now_ns: u64, handler: usize) -> Turn {
        self.now_ns = self.now_ns.max(now_ns);
        self.handlers[handler].is_woken = false;
        self.handlers[handler].is_resting = false;
        self.signals.call(handler, false);
        let reserved = self.handlers[handler].reserved.take();
        let turn = match reserved.and_then(|id| self.turn_to(id)) {
            Some(turn) => turn,
            None => self.policy.turn(handler, self),
        };
        match turn {
            Turn::Begin(id) => self.enter(handler, id, true),
            Turn::Resume(id) => self.enter(handler, id, true),
            Turn::Help(id) => self.enter(handler, id, false),
            Turn::Rest => self.handlers[handler].is_resting = true,
        }
        self.publish();
        turn
    }

    /// Returns how a handler can work on a query, if at all.
    fn turn_to(&self, id: QueryId) -> Option<Turn> {
        let entry = self.query(id)?;
        match entry.stage {
            Stage::Waiting => Some(Turn::Begin(id)),
            Stage::Begun => None,
            Stage::Open if entry.hands == 0 => Some(Turn::Resume(id)),
            Stage::Open => (entry.progress.live() > 0).then_some(Turn::Help(id)),
        }
    }

    fn enter(&mut self, handler: usize, id: QueryId, is_owner: bool) {
        let now_ns = self.now_ns;
        let Some(entry) = self.slots[id].as_mut() else {
            return;
        };
        if entry.is_claimable() {
            self.claimable.remove(entry);
        }
        if entry.stage == Stage::Waiting {
            entry.stage = Stage::Begun;
            entry.begun_ns = now_ns;
        }
        entry.hands += 1;
        entry.visits += 1;
        let state = &mut self.handlers[handler];
        (state.query, state.is_owner) = (Some(id), is_owner);
    }

    /// Asks the policy how a begun query starts, once its time is predicted.
    pub fn start(&mut self, id: QueryId, likely_ns: u64) -> Start {
        let load = Load {
            claimable: self.claimable_count(),
            idle: self.idle_count(),
            handlers: self.handlers.len(),
        };
        self.likely_mean_ns = match self.likely_mean_ns {
            0 => likely_ns,
            mean_ns => mean_ns - (mean_ns >> MEAN_SHIFT) + (likely_ns >> MEAN_SHIFT),
        };
        let Some(entry) = self.slots[id].as_mut() else {
            return Start::WHOLE;
        };
        entry.progress.predict(likely_ns);
        let start = self.policy.begins(entry, &load);
        entry.degree_max = start.degree_max.max(1);
        start
    }

    /// Notes that a begun query is cut into `ranges`: others may help from now on. Wake helpers afterwards.
    pub fn open(&mut self, now_ns: u64, id: QueryId, ranges: u32) {
        self.now_ns = self.now_ns.max(now_ns);
        if let Some(entry) = self.slots[id].as_mut() {
            entry.progress.cut(ranges);
            entry.stage = Stage::Open;
        }
    }

    /// Notes that a handler has left its query; `is_exhausted` says that all ranges are taken.
    pub fn leave(&mut self, now_ns: u64, handler: usize, is_exhausted: bool) -> Left {
        self.now_ns = self.now_ns.max(now_ns);
        let state = &mut self.handlers[handler];
        state.is_owner = false;
        let Some(id) = state.query.take() else {
            return Left::Others;
        };
        let Some(entry) = self.slots[id].as_mut() else {
            return Left::Others;
        };
        entry.hands -= 1;
        let left = match (entry.hands, is_exhausted) {
            (0, true) => Left::Finished,
            (0, false) => Left::Parked,
            _ => Left::Others,
        };
        match left {
            Left::Finished => {
                let worked_ns = entry.progress.worked_ns();
                if worked_ns > 0 {
                    self.traffic.ran(worked_ns);
                }
                self.remove(id);
            }
            Left::Parked => {
                entry.stage = Stage::Open;
                entry.key = self.policy.key(
                    entry.arrived_ns,
                    entry.left_ns(),
                    self.traffic.boost_per_ns(),
                );
                self.claimable.add(entry);
            }
            Left::Others => {}
        }
        self.publish();
        left
    }

    /// Takes a query that nobody works on off the board: it has expired, or its client has gone. Returns whether it was
    /// there.
    pub fn withdraw(&mut self, id: QueryId) -> bool {
        match self.slots.get(id) {
            Some(Some(entry)) if entry.is_claimable() => self.claimable.remove(entry),
            _ => return false,
        }
        self.remove(id);
        self.publish();
        true
    }

    fn remove(&mut self, id: QueryId) {
        self.slots[id] = None;
        self.free.push(id);
    }

    /// Returns an idle handler that has something to do, and notes that it is woken. To be called after each event
    /// until the event that the handler causes: arrival, turn, opening, and the end of a range while handlers idle.
    pub fn wake(&mut self, now_ns: u64) -> Option<usize> {
        self.now_ns = self.now_ns.max(now_ns);
        // Handlers are numbered as they should be used: fast ones first, SMT siblings last.
        let idle = self.handlers.iter().position(Handler::is_idle)?;
        if self.policy.turn(idle, self) == Turn::Rest {
            return None;
        }
        self.handlers[idle].is_woken = true;
        self.publish();
        Some(idle)
    }

    /// Lets the policy swap queries between handlers: those busy are called back at the end of their ranges. Returns
    /// the idle handlers to wake.
    pub fn swap(&mut self, now_ns: u64) -> Vec<usize> {
        self.now_ns = self.now_ns.max(now_ns);
        let mut wakes = Vec::new();
        for (from, to) in self.policy.swaps(self) {
            let (moved, back) = (self.handlers[from].query, self.handlers[to].query);
            self.handlers[to].reserved = moved;
            self.handlers[from].reserved = back;
            self.signals.call(from, true);
            match back {
                Some(_) => self.signals.call(to, true),
                None if self.handlers[to].is_idle() => {
                    self.handlers[to].is_woken = true;
                    wakes.push(to);
                }
                None => {}
            }
        }
        self.publish();
        wakes
    }

    fn publish(&self) {
        let first = |set: &BTreeSet<(u64, u64, QueryId)>| set.first().map_or(u64::MAX, |one| one.0);
        let claimable = &self.claimable;
        self.signals.publish(
            claimable.by_arrival.len() as u32,
            self.idle_count() as u32,
            first(&claimable.by_key),
            first(&claimable.by_urgency),
            claimable.left_ns,
            self.traffic.boost_per_ns(),
        );
    }
}
