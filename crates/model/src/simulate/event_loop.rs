//! Event loop of the simulation.

use super::engine::{Engine, Live, NONE};
use super::machine::{Layout, NextCore};
use super::report::Report;
use crate::simulate::assignment::{Assignment, Idle, Load, Query};

/// Part number in `Waiting` for the next part of the query.
const ANY_PART: u32 = u32::MAX;

impl<A: Assignment + ?Sized> Engine<'_, A> {
    /// Runs from the first arrival until the last query has left.
    pub(super) fn run(&mut self) -> Report {
        let total = self.settings.queries as u64;
        let mut arrived = 0u64;
        let mut arrival_ms = self.next_arrival();
        let sampling_ms = self.assignment.sampling_ms();
        let mut sample_ms = sampling_ms.unwrap_or(f64::INFINITY);
        let mut disturbance_ms = self.next_disturbance();
        self.tally.report.core_busy_ms = vec![0.0; self.cores.len()];
        self.tally
            .report
            .responses_ms
            .reserve(self.settings.queries);
        loop {
            let end_ms = self.ends.instant_ms();
            if end_ms <= arrival_ms
                && end_ms <= sample_ms
                && end_ms <= self.next_change(disturbance_ms)
            {
                if end_ms == f64::INFINITY {
                    break;
                }
                self.pass_to(end_ms);
                self.part_done(self.ends.core());
                continue;
            }
            if arrival_ms <= sample_ms && arrival_ms <= self.next_change(disturbance_ms) {
                self.pass_to(arrival_ms);
                self.arrive(arrived);
                arrived += 1;
                arrival_ms = if arrived < total {
                    self.next_arrival()
                } else {
                    f64::INFINITY
                };
                if arrived == total {
                    self.tally.counting = false;
                }
                continue;
            }
            if arrived == total && self.tally.in_system == 0 {
                break;
            }
            if sample_ms <= self.next_change(disturbance_ms) {
                self.pass_to(sample_ms);
                self.remap();
                sample_ms += sampling_ms.unwrap_or(f64::INFINITY);
            } else if disturbance_ms <= self.disturbance_ends.instant_ms() {
                self.pass_to(disturbance_ms);
                self.disturb();
                disturbance_ms = self.next_disturbance();
            } else {
                self.pass_to(self.disturbance_ends.instant_ms());
                self.calm(self.disturbance_ends.core());
            }
        }
        self.tally.report.duration_ms = self.now_ms;
        std::mem::take(&mut self.tally).finish(self.cores.len())
    }

    fn next_arrival(&mut self) -> f64 {
        self.arrivals.next_ms(&mut self.arrivals_stream)
    }

    pub(super) fn pass_to(&mut self, instant_ms: f64) {
        self.tally.pass(instant_ms - self.now_ms, self.idle);
        self.now_ms = instant_ms;
    }

    // ---- arrivals ------------------------------------------------------------------------------

    fn arrive(&mut self, number: u64) {
        if number == self.settings.warm_up as u64 {
            self.tally.counting = true;
        }
        let counted = number >= self.settings.warm_up as u64;
        if counted {
            self.tally.report.offered += 1;
            self.tally.found_all_busy += u64::from(self.idle == 0);
        }
        let slot = self.admit(number);
        self.tally.in_system += 1;
        match self.settings.layout {
            Layout::Shared | Layout::Gang => {
                self.queues[0].push_back((slot, ANY_PART));
                self.begin_shared();
                if self.waiting(0) > self.settings.queue_max.unwrap_or(usize::MAX) {
                    self.queues[0].pop_back();
                    self.refuse(slot, counted);
                }
            }
            Layout::Pinned { groups } => {
                if (0..groups).any(|queue| self.is_full(queue)) {
                    self.refuse(slot, counted);
                    return;
                }
                for part in 0..self.parts {
                    self.queues[part % groups].push_back((slot, part as u32));
                }
                for queue in 0..groups {
                    self.begin_in(queue);
                }
            }
            Layout::PerCore(next) => {
                for part in 0..self.parts {
                    let core = self.core_for(next);
                    if part == 0 && self.is_full(core) {
                        self.refuse(slot, counted);
                        return;
                    }
                    self.queues[core].push_back((slot, part as u32));
                    self.begin_in(core);
                }
            }
        }
    }

    /// Assigns a slot to a query and draws its part times.
    fn admit(&mut self, number: u64) -> u32 {
        let live = Live {
            number,
            arrived_ms: self.now_ms,
            began_ms: f64::NAN,
            unfinished: self.parts as u32,
            ..Live::default()
        };
        let slot = if let Some(slot) = self.free.pop() {
            self.live[slot as usize] = live;
            slot
        } else {
            self.live.push(live);
            self.work_ms.resize(self.live.len() * self.parts, 0.0);
            self.live.len() as u32 - 1
        };
        let first = slot as usize * self.parts;
        let work_ms = &mut self.work_ms[first..first + self.parts];
        self.source.fill(&mut self.times_stream, work_ms);
        slot
    }

    fn refuse(&mut self, slot: u32, counted: bool) {
        self.tally.in_system -= 1;
        self.tally.report.refused += u64::from(counted);
        if self.settings.keep_order {
            self.keep(slot, f64::NAN);
        }
        self.free.push(slot);
    }

    /// Returns the number of queries in a queue that have not started.
    fn waiting(&self, queue: usize) -> usize {
        let queue = &self.queues[queue];
        let begun = queue
            .front()
            .is_some_and(|&(slot, _)| self.live[slot as usize].lanes > 0);
        queue.len() - usize::from(begun)
    }

    /// Returns whether a queue of parts is full.
    fn is_full(&self, queue: usize) -> bool {
        let Some(max) = self.settings.queue_max else {
            return false;
        };
        self.queues[queue].len() >= max && self.idle_in(queue).is_none()
    }

    pub(super) fn core_for(&mut self, next: NextCore) -> usize {
        let cores = self.cores.len();
        match next {
            NextCore::RoundRobin => {
                self.next_core = (self.next_core + 1) % cores;
                self.next_core
            }
            NextCore::Random => self.machine_stream.index(cores),
            NextCore::Shortest => {
                let length = |core: &usize| {
                    self.queues[*core].len() + usize::from(self.cores[*core].slot != NONE)
                };
                (0..cores).min_by_key(length).unwrap_or(0)
            }
        }
    }

    // ---- begin ---------------------------------------------------------------------------------

    /// Starts waiting parts of the shared queue on idle cores.
    fn begin_shared(&mut self) {
        while self.idle > 0 {
            let Some(&(slot, _)) = self.queues[0].front() else {
                return;
            };
            let parts = self.parts as u32;
            let live = &self.live[slot as usize];
            if self.is_late(slot) {
                self.queues[0].pop_front();
                let left = parts - live.next_part;
                self.live[slot as usize].next_part = parts;
                self.live[slot as usize].lanes = 0;
                self.drop_parts(slot, left);
                continue;
            }
            let query = Query {
                parts: self.parts,
                waited_ms: self.now_ms - live.arrived_ms,
                expected_ms: None,
            };
            if live.lanes == 0 {
                let load = Load {
                    waiting: self.queues[0].len() - 1,
                    idle: self.idle,
                    handlers: self.cores.len(),
                };
                let most = if self.settings.layout == Layout::Gang {
                    self.parts.min(self.cores.len())
                } else {
                    self.parts
                };
                let degree = self.assignment.degree(&query, &load).clamp(1, most);
                if self.settings.layout == Layout::Gang && self.idle < degree {
                    return;
                }
                self.live[slot as usize].lanes = degree as u32;
            }
            let chosen = self.assignment.handler(&query, Idle::new(&self.idle_words));
            let Some(core) = chosen.filter(|&core| self.is_idle(core)) else {
                // The assignment left all idle handlers idle; it is asked again at the next event.
                return;
            };
            let live = &mut self.live[slot as usize];
            let part = live.next_part;
            live.next_part += 1;
            live.lanes -= 1;
            if live.lanes == 0 || live.next_part == parts {
                live.lanes = 0;
                self.queues[0].pop_front();
            }
            self.begin(core, slot, part);
        }
    }

    /// Starts waiting parts of a queue on its idle cores.
    fn begin_in(&mut self, queue: usize) {
        while let Some(&(slot, part)) = self.queues[queue].front() {
            if self.is_late(slot) {
                self.queues[queue].pop_front();
                self.drop_parts(slot, 1);
                continue;
            }
            let Some(core) = self.idle_in(queue) else {
                return;
            };
            self.queues[queue].pop_front();
            self.begin(core, slot, part);
        }
    }

    fn is_idle(&self, core: usize) -> bool {
        self.idle_words[core / 64] >> (core % 64) & 1 == 1
    }

    /// Returns the lowest-numbered idle core of a queue of parts.
    fn idle_in(&self, queue: usize) -> Option<usize> {
        match self.settings.layout {
            Layout::PerCore(_) => Some(queue).filter(|&core| self.is_idle(core)),
            _ => {
                let groups = self.queues.len();
                (queue..self.cores.len())
                    .step_by(groups)
                    .find(|&core| self.is_idle(core))
            }
        }
    }

    fn is_late(&self, slot: u32) -> bool {
        let deadline_ms = self.settings.deadline_ms.unwrap_or(f64::INFINITY);
        self.now_ms - self.live[slot as usize].arrived_ms > deadline_ms
    }

    fn begin(&mut self, core: usize, slot: u32, part: u32) {
        let live = &mut self.live[slot as usize];
        if live.began_ms.is_nan() {
            live.began_ms = self.now_ms;
        }
        let began_ms = live.began_ms;
        self.idle_words[core / 64] &= !(1 << (core % 64));
        self.idle -= 1;
        self.busy += 1;
        self.cores[core].slot = slot;
        self.cores[core].query_began_ms = began_ms;
        self.cores[core].busy_since_ms = self.now_ms;
        self.take_part(core, slot, part);
        self.others_feel(core);
    }

    /// Starts a part on a core that has already left the idle set.
    fn take_part(&mut self, core: usize, slot: u32, part: u32) {
        let speed = self.speed_of(core);
        let state = &mut self.cores[core];
        state.left_ms = self.work_ms[slot as usize * self.parts + part as usize];
        state.since_ms = self.now_ms;
        state.speed = speed;
        let end_ms = self.now_ms + state.left_ms / speed;
        self.ends.set(core, end_ms);
    }

    // ---- end -----------------------------------------------------------------------------------

    fn part_done(&mut self, core: usize) {
        let slot = self.cores[core].slot;
        let parts = self.parts as u32;
        let shared = matches!(self.settings.layout, Layout::Shared | Layout::Gang);
        let late = self.is_late(slot);
        let live = &mut self.live[slot as usize];
        live.unfinished -= 1;
        if shared && live.next_part < parts {
            // A handler stays with its query while parts of it remain.
            let part = live.next_part;
            live.next_part = if late { parts } else { part + 1 };
            if live.next_part == parts && live.lanes > 0 {
                live.lanes = 0;
                self.queues[0].pop_front();
            }
            if !late {
                self.take_part(core, slot, part);
                return;
            }
            live.unfinished -= parts - part;
            live.dropped += parts - part;
        }
        let done = live.unfinished == 0;
        self.ends.set(core, f64::INFINITY);
        self.busy -= 1;
        self.add_busy_time(core);
        if self.settings.layout == Layout::Gang {
            self.cores[core].held = true;
            self.others_feel(core);
            if done {
                self.release_gang(slot);
            }
        } else {
            self.make_idle(core);
            self.others_feel(core);
        }
        if done {
            self.leave(slot);
        }
        match self.settings.layout {
            Layout::Shared | Layout::Gang => self.begin_shared(),
            Layout::Pinned { groups } => self.begin_in(core % groups),
            Layout::PerCore(_) => self.begin_in(core),
        }
    }

    /// Adds the busy time of a core that stops searching or whose work moves.
    pub(super) fn add_busy_time(&mut self, core: usize) {
        let busy_ms = self.now_ms - self.cores[core].busy_since_ms;
        self.tally.report.core_busy_ms[core] += busy_ms;
    }

    fn make_idle(&mut self, core: usize) {
        self.cores[core].slot = NONE;
        self.cores[core].held = false;
        self.idle_words[core / 64] |= 1 << (core % 64);
        self.idle += 1;
    }

    fn release_gang(&mut self, slot: u32) {
        for core in 0..self.cores.len() {
            if self.cores[core].slot == slot && self.cores[core].held {
                self.make_idle(core);
            }
        }
    }

    fn drop_parts(&mut self, slot: u32, count: u32) {
        let live = &mut self.live[slot as usize];
        live.unfinished -= count;
        live.dropped += count;
        if live.unfinished == 0 {
            self.leave(slot);
        }
    }

    /// Removes a query whose last part is done or dropped.
    fn leave(&mut self, slot: u32) {
        let live = &self.live[slot as usize];
        let spent_ms = self.now_ms - live.arrived_ms;
        let answered = live.dropped < self.parts as u32;
        let partial = answered && live.dropped > 0;
        let wait_ms = live.began_ms - live.arrived_ms;
        let counted = live.number >= self.settings.warm_up as u64;
        self.tally.in_system -= 1;
        self.tally.report.system_time_ms += spent_ms;
        self.tally.report.system_queries += u64::from(answered);
        let response_ms = if answered {
            spent_ms + self.settings.fixed_ms
        } else {
            f64::NAN
        };
        if counted {
            let report = &mut self.tally.report;
            report.partial += u64::from(partial);
            report.expired += u64::from(!answered);
            if answered {
                report.responses_ms.push(response_ms);
                self.tally.waits_ms += wait_ms;
            }
        }
        if self.settings.keep_order {
            self.keep(slot, response_ms);
        }
        self.free.push(slot);
    }

    fn keep(&mut self, slot: u32, response_ms: f64) {
        let number = self.live[slot as usize].number as usize;
        let kept = &mut self.tally.report.in_order_ms;
        if kept.len() <= number {
            kept.resize(number + 1, f64::NAN);
        }
        kept[number] = response_ms;
    }
}
