//! Scheduling policies and the board that they decide on.

use super::claimable::Claimable;
use super::entry::{Entry, QueryId};
use super::guard::Guard;
use super::handlers::Handler;
use super::law::Learnt;
use super::policy::{Give, Load, Start, Turn};
use super::seat::Seat;
use super::signals::{Seen, Signals};
use super::traffic::Traffic;
use super::visit::Visit;
use std::fmt;
use std::sync::Arc;

/// Assignment of handlers to queries. Decisions depend on the arguments alone: no clock, no threads, no chance.
pub trait Policy: fmt::Debug + Send + Sync {
    /// Returns the name, with parameters, as [`policy_named`](super::policy_named) reads it.
    fn name(&self) -> String;

    /// Returns how a query is cut and how many handlers it may have.
    fn begins(&self, query: &Entry, load: &Load) -> Start;

    /// Returns whether a handler goes on with its query at the end of a range. Called without a lock.
    fn stays(&self, visit: &Visit, seen: &Seen) -> bool;

    /// Returns what a handler gives away of the piece that it searches. Called without a lock, every few dozen microseconds,
    /// for queries that begin in one piece for several handlers.
    fn gives(&self, is_owner: bool, seen: &Seen) -> Give {
        let _ = (is_owner, seen);
        Give::Nothing
    }

    /// Returns the place of a query in the order of those that no handler works on: least first. By default the time left.
    /// `decay_per_ns` is [`Traffic::boost_per_ns`].
    fn key(&self, arrived_ns: u64, left_ns: u64, decay_per_ns: f64) -> u64 {
        let _ = (arrived_ns, decay_per_ns);
        left_ns
    }

    /// Returns the next action of a free handler.
    fn turn(&self, handler: usize, board: &Board) -> Turn;

    /// Returns whether the end of a range wakes an idle handler that can help.
    fn calls_helpers(&self) -> bool {
        false
    }

    /// Returns the interval of [`Policy::swaps`] in ns; `None` without swaps.
    fn sampling_ns(&self) -> Option<u64> {
        None
    }

    /// Returns pairs of handlers that exchange their queries at the ends of their ranges: the first of each is busy.
    fn swaps(&self, board: &Board) -> Vec<(usize, usize)> {
        let _ = board;
        Vec::new()
    }
}

/// The queries of a server and its handlers.
#[derive(Debug)]
pub struct Board {
    pub(super) policy: Arc<dyn Policy>,
    pub(super) now_ns: u64,
    pub(super) slots: Vec<Option<Entry>>,
    pub(super) free: Vec<QueryId>,
    pub(super) claimable: Claimable,
    pub(super) handlers: Vec<Handler>,
    /// Seats by number of the handler; empty where the kernel chooses their CPUs.
    pub(super) seats: Vec<Seat>,
    pub(super) learnt: Learnt,
    /// Running mean of predictions, for queries without one.
    pub(super) likely_mean_ns: u64,
    pub(super) numbers: u64,
    pub(super) traffic: Traffic,
    pub(super) guard: Guard,
    /// Longest wait of a query while others run, in ns: a cap on the tenth of its deadline.
    pub(super) parked_max_ns: u64,
    /// Handlers at work beyond which none helps: the number of CPUs.
    pub(super) at_work_max: usize,
    pub(super) signals: Arc<Signals>,
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
            seats: Vec::new(),
            learnt: Learnt::default(),
            likely_mean_ns: 0,
            numbers: 0,
            traffic: Traffic::new(speeds.len()),
            guard: Guard::default(),
            parked_max_ns: u64::MAX,
            at_work_max: usize::MAX,
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

    /// Lets handlers help only while fewer than `at_work_max` are at work: more than there are CPUs would only share these.
    pub fn at_work_max(mut self, at_work_max: usize) -> Board {
        self.at_work_max = at_work_max;
        self
    }

    /// Returns whether a CPU is left for a further handler at a query that others work on.
    pub fn has_room_for_help(&self) -> bool {
        let at_work = self.handlers.iter().filter(|one| one.query.is_some());
        at_work.count() < self.at_work_max
    }

    /// Replaces the costs of help.
    pub fn learn(&mut self, learnt: Learnt) {
        self.learnt = learnt;
    }

    /// Returns the costs of help.
    pub fn learnt(&self) -> &Learnt {
        &self.learnt
    }

    /// Returns the policy.
    pub fn policy(&self) -> &Arc<dyn Policy> {
        &self.policy
    }

    /// Returns the signals that handlers read at the ends of ranges.
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

    /// Returns the number of idle handlers not woken yet.
    pub fn idle_count(&self) -> usize {
        self.handlers.iter().filter(|one| one.is_idle()).count()
    }

    /// Publishes what handlers read at the ends of ranges.
    pub(super) fn publish(&self) {
        let claimable = &self.claimable;
        self.signals.publish(
            claimable.by_arrival.len() as u32,
            self.idle_count() as u32,
            claimable.least_key(),
            claimable.urgent_at_ns(),
            claimable.left_ns,
            self.traffic.boost_per_ns(),
        );
    }
}
