//! Speed changes of cores and moves of work between them.

use super::engine::{CoreState, Engine, NONE};
use super::machine::{Layout, NextCore};
use crate::simulate::assignment::{Assignment, Running, Swap};

impl<A: Assignment + ?Sized> Engine<'_, A> {
    pub(super) fn speed_of(&self, core: usize) -> f64 {
        let machine = &self.settings.machine;
        let mut speed = machine.cores[core].speed;
        if !self.coupled {
            return speed;
        }
        if let Some(sibling) = machine.cores[core].sibling
            && self.searches(sibling)
        {
            speed /= machine.smt_slowdown;
        }
        if machine.contention > 0.0 && self.cores.len() > 1 {
            let others = self.busy.saturating_sub(1) as f64 / (self.cores.len() - 1) as f64;
            speed /= 1.0 + machine.contention * others;
        }
        if let Some(disturbances) = machine.disturbances
            && self.cores[core].disturbed
        {
            speed /= disturbances.slowdown;
        }
        speed
    }

    pub(super) fn searches(&self, core: usize) -> bool {
        let CoreState { slot, held, .. } = self.cores[core];
        slot != NONE && !held
    }

    /// Updates the speed of the cores that `core` slows, after it started or stopped searching.
    pub(super) fn others_feel(&mut self, core: usize) {
        if !self.coupled {
            return;
        }
        if self.settings.machine.contention > 0.0 {
            for other in (0..self.cores.len()).filter(|&other| other != core) {
                self.change_speed(other);
            }
        } else if let Some(sibling) = self.settings.machine.cores[core].sibling {
            self.change_speed(sibling);
        }
    }

    pub(super) fn change_speed(&mut self, core: usize) {
        if !self.searches(core) {
            return;
        }
        let speed = self.speed_of(core);
        let state = &mut self.cores[core];
        if state.speed == speed {
            return;
        }
        state.left_ms = (state.left_ms - (self.now_ms - state.since_ms) * state.speed).max(0.0);
        state.since_ms = self.now_ms;
        state.speed = speed;
        let end_ms = self.now_ms + state.left_ms / speed;
        self.ends.set(core, end_ms);
    }

    // ---- disturbances --------------------------------------------------------------------------

    /// Returns the earlier of the next disturbance and the next end of one.
    pub(super) fn next_change(&self, disturbance_ms: f64) -> f64 {
        disturbance_ms.min(self.disturbance_ends.instant_ms())
    }

    pub(super) fn next_disturbance(&mut self) -> f64 {
        let disturbances = self.settings.machine.disturbances;
        let per_ms = disturbances.map_or(0.0, |d| d.per_core_per_s * self.cores.len() as f64 / 1e3);
        if per_ms == 0.0 {
            return f64::INFINITY;
        }
        self.now_ms + self.machine_stream.exponential() / per_ms
    }

    pub(super) fn disturb(&mut self) {
        let Some(disturbances) = self.settings.machine.disturbances else {
            return;
        };
        let core = self.core_for(NextCore::Random);
        let length_ms = disturbances.length_ms * self.machine_stream.exponential();
        self.cores[core].disturbed = true;
        self.disturbance_ends.set(core, self.now_ms + length_ms);
        self.change_speed(core);
    }

    pub(super) fn calm(&mut self, core: usize) {
        self.cores[core].disturbed = false;
        self.disturbance_ends.set(core, f64::INFINITY);
        self.change_speed(core);
    }

    // ---- moving work ---------------------------------------------------------------------------

    pub(super) fn remap(&mut self) {
        let running = |(handler, state): (usize, &CoreState)| Running {
            handler,
            elapsed_ms: (state.slot != NONE && !state.held)
                .then_some(self.now_ms - state.query_began_ms),
        };
        let handlers: Vec<Running> = self.cores.iter().enumerate().map(running).collect();
        let mut swaps = Vec::new();
        self.assignment.remap(&handlers, &mut swaps);
        for Swap { from, to } in swaps {
            // A part pinned to a group of cores must stay there.
            let may_move = matches!(self.settings.layout, Layout::Shared);
            if may_move && from != to && self.searches(from) {
                self.swap(from, to);
            }
        }
    }

    pub(super) fn swap(&mut self, from: usize, to: usize) {
        for core in [from, to] {
            if self.searches(core) {
                self.add_busy_time(core);
            }
            let now_ms = self.now_ms;
            let state = &mut self.cores[core];
            state.left_ms = (state.left_ms - (now_ms - state.since_ms) * state.speed).max(0.0);
            state.since_ms = now_ms;
            state.busy_since_ms = now_ms;
        }
        let (a, b) = (self.cores[from].clone(), self.cores[to].clone());
        self.cores[from] = CoreState {
            disturbed: a.disturbed,
            ..b
        };
        self.cores[to] = CoreState {
            disturbed: b.disturbed,
            ..a
        };
        for core in [from, to] {
            let bit = 1u64 << (core % 64);
            if self.cores[core].slot == NONE {
                self.idle_words[core / 64] |= bit;
                self.ends.set(core, f64::INFINITY);
            } else {
                self.idle_words[core / 64] &= !bit;
                // No core has speed 0, so `change_speed` recomputes the completion time.
                self.cores[core].speed = 0.0;
                self.change_speed(core);
            }
        }
        self.others_feel(from);
        self.others_feel(to);
        self.tally.report.moved += 1;
    }
}
