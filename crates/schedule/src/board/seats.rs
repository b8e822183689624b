//! Seats of handlers: which idle handler is woken first, and from which time left it helps.
//!
//! ```text
//! 1. fast cores before slow ones
//! 2. cores without another handler at work before SMT siblings of busy ones
//! 3. the last-level cache, then the NUMA node, of whoever works on the query
//! ```
//!
//! Handlers that are not pinned have no seats: the kernel chooses their CPUs, and they are woken in order of their numbers.

use super::entry::Entry;
use super::handlers::Handler;
use super::law::Learnt;
use super::policy::Turn;
use super::seat::{Distance, Seat};
use super::state::Board;

/// Efficiency of a handler on the SMT sibling of a busy core, as its addition to the work of the core: (1 + e) / d − 1,
/// at an efficiency of 0.9 of whole cores and a slow-down d of 1.5.
const SIBLING_EFFICIENCY: f64 = 0.27;
/// Time left from which a query is helped from another NUMA node, in ns.
const OTHER_NODE_NS: u64 = 1_000_000;

impl Board {
    /// Sets the seats of the handlers, by their number.
    ///
    /// # Panics
    /// If some handlers have none.
    pub fn seated(mut self, seats: Vec<Seat>) -> Board {
        assert_eq!(seats.len(), self.handlers.len(), "a seat for each handler");
        self.seats = seats;
        self
    }

    /// Returns the idle handler to wake, if one has something to do.
    pub(super) fn idle_to_wake(&self) -> Option<usize> {
        let does_something = |&one: &usize| self.policy.turn(one, self) != Turn::Rest;
        // Handlers are numbered as they should be used: fast ones first.
        let first = self.handlers.iter().position(Handler::is_idle)?;
        if self.seats.is_empty() {
            return Some(first).filter(does_something);
        }
        let near = self.nearest_work();
        let busy = self.busy_cores();
        let kind = |handler: usize| {
            let seat = &self.seats[handler];
            let distance = near.map_or(Distance::Cache, |near| near.distance(seat));
            (busy.binary_search(&seat.core).is_ok(), distance)
        };
        let idle = (0..self.handlers.len()).filter(|&one| self.handlers[one].is_idle());
        let mut idle: Vec<usize> = idle.collect();
        idle.sort_by(|&one, &other| {
            let speed = |handler: usize| self.handlers[handler].speed;
            let faster_first = speed(other).total_cmp(&speed(one));
            faster_first.then_with(|| (kind(one), one).cmp(&(kind(other), other)))
        });
        // What a handler does depends on its kind alone: of each one is asked.
        let mut asked = Vec::new();
        idle.retain(|&one| {
            let is_new = !asked.contains(&kind(one));
            asked.push(kind(one));
            is_new
        });
        idle.into_iter().find(does_something)
    }

    /// Returns the seat of a handler at work on the query that a further one on a core of its own would help; `None` where
    /// queries wait.
    fn nearest_work(&self) -> Option<&Seat> {
        if self.claimable_count() > 0 {
            return None;
        }
        let helped = self.running().filter(|one| {
            one.is_helpable() && one.left_ns() >= self.costs_of(one).worth_ns(one.hands, false)
        });
        let id = helped.min_by_key(|one| one.number)?.id;
        self.seats_at(id).next()
    }

    /// Returns the time left of a query from which a handler shortens it, in ns.
    pub(super) fn worth_ns(&self, handler: usize, entry: &Entry) -> u64 {
        let is_awake = !self.handlers[handler].is_resting;
        let costs = self.costs_of(entry);
        let Some(seat) = self.seats.get(handler) else {
            return costs.worth_ns(entry.hands, is_awake);
        };
        let has_busy_sibling = self.at_work(Some(handler)).any(|one| one.core == seat.core);
        let worth_ns = match has_busy_sibling {
            true => costs.worth_at_ns(entry.hands, is_awake, SIBLING_EFFICIENCY),
            false => costs.worth_ns(entry.hands, is_awake),
        };
        let nearest = self.seats_at(entry.id).map(|one| one.distance(seat)).min();
        match nearest {
            Some(Distance::Far) => worth_ns.max(OTHER_NODE_NS),
            _ => worth_ns,
        }
    }

    /// Returns the costs of help for a query: queries of many lists take longer to join than the mean.
    fn costs_of(&self, entry: &Entry) -> Learnt {
        let join_ns = entry.progress.join_ns() as f64;
        Learnt {
            join_ns: join_ns.max(self.learnt.join_ns),
            ..self.learnt
        }
    }

    /// Returns the seats of the handlers that work on a query.
    fn seats_at(&self, id: usize) -> impl Iterator<Item = &Seat> {
        let all = self.handlers.iter().zip(&self.seats);
        all.filter_map(move |(one, seat)| (one.query == Some(id)).then_some(seat))
    }

    /// Returns the seats of handlers at work or about to be, except `but`.
    fn at_work(&self, but: Option<usize>) -> impl Iterator<Item = &Seat> {
        let all = self.handlers.iter().zip(&self.seats).enumerate();
        all.filter_map(move |(number, (one, seat))| {
            (Some(number) != but && (one.query.is_some() || one.is_woken)).then_some(seat)
        })
    }

    /// Returns the cores with a handler at work, in order.
    fn busy_cores(&self) -> Vec<u32> {
        let mut cores: Vec<u32> = self.at_work(None).map(|one| one.core).collect();
        cores.sort_unstable();
        cores.dedup();
        cores
    }
}
