//! Guard of help: some queries stay sequential, and help pauses while it costs more than they show.
//!
//! Help adds work: lists are opened again, thresholds rise apart, and two CPUs share a cache and a memory bus. How much it adds
//! differs by machine and by load, so it is measured where it happens: of the queries that would be helped, one of sixteen is
//! not. Both kinds are compared by their handler time over their predicted time.

use super::entry::Help;

/// One of so many queries that would be helped is not.
const CONTROL: u64 = 16;
/// Handler time of helped queries over that of the control from which help pauses.
const COST_MAX: f64 = 1.15;
/// CPUs that idle on average below which nobody helps: the next query comes before the helper has paid for its way.
const IDLE_MIN: f64 = 0.7;
/// Share of the time of the CPUs from which nobody helps, however many idle.
const BUSY_MAX: f64 = 0.85;
/// Time for which help pauses, in ns.
const PAUSE_NS: u64 = 10_000_000_000;
/// Queries of a kind before it is judged.
const COUNT_MIN: u32 = 64;
/// Weight of a new query: 1/64.
const NEW: f64 = 1.0 / 64.0;
/// Multiplier of Fibonacci hashing, 2^64 over the golden ratio.
const HASH: u64 = 0x9e37_79b9_7f4a_7c15;

/// Costs of help, as queries of late show them.
#[derive(Debug, Clone, Default)]
pub(super) struct Guard {
    helped: Cost,
    control: Cost,
    paused_until_ns: u64,
}

/// Mean of ln(handler time / predicted time).
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    mean: f64,
    count: u32,
}

impl Cost {
    fn add(&mut self, ratio: f64) {
        self.count = self.count.saturating_add(1);
        // The mean of the first ones, then of those of late.
        let weight = NEW.max(1.0 / f64::from(self.count));
        self.mean += (ratio.ln() - self.mean) * weight;
    }
}

impl Guard {
    /// Returns whether a query of the control stays sequential.
    pub(super) fn is_control(number: u64) -> bool {
        // The highest bits are the most mixed ones.
        number.wrapping_mul(HASH) / (u64::MAX / CONTROL) == CONTROL - 1
    }

    /// Returns whether queries are helped now, on `cpus_count` CPUs that are busy for a share of the time.
    pub(super) fn allows(&self, now_ns: u64, cpus_count: usize, busy_share: f64) -> bool {
        let idle_count = (1.0 - busy_share) * cpus_count as f64;
        now_ns >= self.paused_until_ns && busy_share <= BUSY_MAX && idle_count >= IDLE_MIN
    }

    /// Notes a query that has ended.
    pub(super) fn ran(&mut self, now_ns: u64, help: Help, worked_ns: u64, likely_ns: u64) {
        let cost = match help {
            Help::None => return,
            Help::Given => &mut self.helped,
            Help::Withheld => &mut self.control,
        };
        if worked_ns == 0 || likely_ns == 0 {
            return;
        }
        cost.add(worked_ns as f64 / likely_ns as f64);
        let are_known = self.helped.count.min(self.control.count) >= COUNT_MIN;
        if are_known && self.helped.mean - self.control.mean > COST_MAX.ln() {
            self.paused_until_ns = now_ns.saturating_add(PAUSE_NS);
            self.helped = Cost::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_sixteen_is_the_control() {
        let count = (0..16_000).filter(|&one| Guard::is_control(one)).count();
        assert!((900..1100).contains(&count), "{count}");
    }

    #[test]
    fn help_pauses_where_it_costs_more_than_it_may() {
        let mut guard = Guard::default();
        let run = |guard: &mut Guard, helped_ns: u64| {
            for number in 0..200 {
                // Times vary alike in both kinds.
                let likely_ns = 1000 + number % 7 * 400;
                guard.ran(0, Help::Withheld, likely_ns * 2, likely_ns);
                guard.ran(0, Help::Given, likely_ns * helped_ns / 1000, likely_ns);
                guard.ran(0, Help::None, likely_ns * 9, likely_ns);
            }
        };
        run(&mut guard, 2200);
        assert!(guard.allows(0, 2, 0.6) && !guard.allows(0, 2, 0.7));
        assert!(guard.allows(0, 16, 0.8) && !guard.allows(0, 16, 0.9));
        run(&mut guard, 2500);
        assert!(!guard.allows(PAUSE_NS - 1, 2, 0.5));
        // Then it is tried again.
        assert!(guard.allows(PAUSE_NS, 2, 0.5));
    }
}
