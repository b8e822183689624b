//! Events that change the board.

use super::entry::{Arrival, Entry, Help, QueryId, Stage};
use super::guard::Guard;
use super::handlers::Handler;
use super::policy::{Load, Start, Turn};
use super::progress::Progress;
use super::state::Board;
use std::sync::Arc;

/// Weight of a new prediction in the running mean: 1/64.
const MEAN_SHIFT: u32 = 6;
/// Share of its time to the deadline that a query may wait while others run: a tenth.
const URGENT_SHARE: u64 = 10;

/// State of a query that a handler has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Others still work on it.
    Others,
    /// No handler works on it and ranges are left: it is parked.
    Parked,
    /// All ranges are taken and no handler works on it: the caller merges and replies. It is off the board.
    Finished,
}

impl Board {
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
            help: Help::None,
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
        let reserved = reserved.and_then(|(id, number)| self.turn_to(id, number));
        let turn = reserved.unwrap_or_else(|| self.policy.turn(handler, self));
        match turn {
            Turn::Begin(id) => self.enter(handler, id, true),
            Turn::Resume(id) => self.enter(handler, id, true),
            // After a swap the other handler leaves at the end of its range: the query belongs to this one.
            Turn::Help(id) => self.enter(handler, id, reserved.is_some()),
            Turn::Rest => self.handlers[handler].is_resting = true,
        }
        self.publish();
        turn
    }

    /// Lets the thread that brought a query begin it in the place of an idle handler, which goes on sleeping; where nothing else
    /// waits. Returns the number of the handler: after its visit, call [`Board::rests`].
    pub fn begin_in_place(&mut self, now_ns: u64, id: QueryId) -> Option<usize> {
        if self.claimable_count() != 1 {
            return None;
        }
        let idle = self.idle_to_wake()?;
        (self.policy.turn(idle, self) == Turn::Begin(id)).then_some(())?;
        self.turn(now_ns, idle);
        Some(idle)
    }

    /// Notes that a handler without a query sleeps. Wake others afterwards.
    pub fn rests(&mut self, now_ns: u64, handler: usize) {
        self.now_ns = self.now_ns.max(now_ns);
        self.handlers[handler].is_resting = true;
        self.publish();
    }

    /// Returns how a handler can work on the query of a slot, if it still is the one of this number.
    fn turn_to(&self, id: QueryId, number: u64) -> Option<Turn> {
        let entry = self.query(id).filter(|entry| entry.number == number)?;
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
        if entry.hands > 0 {
            entry.progress.part_taken();
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

    /// Returns whether a handler shall give a half of what is left of a query to an idle one: `left_ns` of it are left, in the
    /// time of a handler. If so, give it and call [`Board::open`] with the number of parts that others can take.
    pub fn shares(&mut self, now_ns: u64, id: QueryId, left_ns: u64) -> bool {
        self.now_ns = self.now_ns.max(now_ns);
        let Some(entry) = self.query(id) else {
            return false;
        };
        entry.progress.note_left(left_ns);
        let idle = self.handlers.iter().enumerate();
        let idle = idle.filter(|(_, one)| Handler::is_idle(one));
        let worth_ns = idle.map(|(idle, _)| self.worth_ns(idle, entry)).min();
        let busy_share = self.traffic.load().max(self.learnt.busy_share);
        let longer_ns = Guard::longer_ns(busy_share, self.traffic.mean_ns());
        let pays = self.claimable_count() == 0
            && self.has_room_for_help()
            && entry.hands < entry.degree_max
            && worth_ns.is_some_and(|worth_ns| left_ns >= worth_ns.saturating_add(longer_ns));
        let cpus_count = self.at_work_max.min(self.handlers.len());
        if !pays || !self.guard.allows(self.now_ns, cpus_count, busy_share) {
            return false;
        }
        let is_control = Guard::is_control(entry.number);
        if let Some(entry) = self.slots[id].as_mut() {
            entry.help = match is_control {
                true => Help::Withheld,
                false => Help::Given,
            };
        }
        !is_control
    }

    /// Notes that a begun query is cut into `ranges`, and that its first handler took `join_ns` to open it: others may
    /// help from now on. Wake helpers afterwards.
    pub fn open(&mut self, now_ns: u64, id: QueryId, ranges: u32, join_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
        if let Some(entry) = self.slots[id].as_mut() {
            entry.progress.cut(ranges, join_ns);
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
        if is_exhausted {
            // Whoever searches the last range has not counted it yet, and meanwhile nobody can help.
            entry.progress.range_taken(0);
        }
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
                let likely_ns = entry.progress.likely_ns();
                self.guard
                    .ran(self.now_ns, entry.help, worked_ns, likely_ns);
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

    /// Takes a query that no handler works on off the board: it has expired, or its client has gone. Returns whether it was
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
        let idle = self.idle_to_wake()?;
        self.handlers[idle].is_woken = true;
        self.publish();
        Some(idle)
    }

    /// Wakes this handler if it is idle and has something to do, as [`Board::wake`] does with the first idle one. Returns
    /// whether it did.
    pub fn wake_handler(&mut self, now_ns: u64, handler: usize) -> bool {
        self.now_ns = self.now_ns.max(now_ns);
        if !self.handlers[handler].is_idle() || self.policy.turn(handler, self) == Turn::Rest {
            return false;
        }
        self.handlers[handler].is_woken = true;
        self.publish();
        true
    }

    /// Lets the policy swap queries between handlers: those busy are called back at the end of their ranges. Returns
    /// the idle handlers to wake.
    pub fn swap(&mut self, now_ns: u64) -> Vec<usize> {
        self.now_ns = self.now_ns.max(now_ns);
        let mut wakes = Vec::new();
        for (from, to) in self.policy.swaps(self) {
            let query_of = |handler: usize| {
                let entry = self.handlers[handler].query.and_then(|id| self.query(id))?;
                Some((entry.id, entry.number))
            };
            let (moved, back) = (query_of(from), query_of(to));
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
}
