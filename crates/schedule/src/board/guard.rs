//! Guard of help: some queries stay sequential, and help pauses while it costs more than they show.
//!
//! Help adds work: lists are opened again, thresholds rise apart, and two CPUs share a cache and a memory bus. How much it adds
//! differs by machine and by load, so it is measured where it happens: of the queries that would be helped, one of sixteen is
//! not. Both kinds are compared by their handler time over their predicted time.

use super::entry::Help;

/// Of this number of queries that would be helped, one is not.
const CONTROL: u64 = 16;
/// Share of the time of the CPUs from which only longer queries are helped, and their time left, in means of all queries, for each
/// unit of use beyond. What help adds is paid by others, the more the busier the CPUs are; who gains are the longest ones.
const FREE_SHARE: f64 = 0.2;
const LONGER: f64 = 3.0;
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
/// Weight of a new query: 1/512.
const NEW: f64 = 1.0 / 512.0;
/// Standard errors by which the difference must be beyond chance: predictions are off by a factor of 1.3 to 1.6.
const ERRORS: f64 = 3.0;
/// Multiplier of Fibonacci hashing, 2^64 over the golden ratio.
const HASH: u64 = 0x9e37_79b9_7f4a_7c15;

/// Costs of help, as queries of late show them.
#[derive(Debug, Clone, Default)]
pub(super) struct Guard {
    helped: Cost,
    control: Cost,
    paused_until_ns: u64,
}

/// Mean and variance of ln(handler time / predicted time).
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    mean: f64,
    variance: f64,
    count: u32,
}

impl Cost {
    fn add(&mut self, ratio: f64) {
        self.count = self.count.saturating_add(1);
        // The mean of the first ones, then of those of late.
        let weight = NEW.max(1.0 / f64::from(self.count));
        let difference = ratio.ln() - self.mean;
        self.mean += difference * weight;
        // West, "Updating mean and variance estimates", CACM 22(9), 1979.
        let square = difference * difference * (1.0 - weight);
        self.variance += (square - self.variance) * weight;
    }

    /// Returns the squared standard error of the mean.
    fn error2(&self) -> f64 {
        self.variance / f64::from(self.count.max(1)).min(1.0 / NEW)
    }
}

impl Guard {
    /// Returns whether a query, by its number, is of the control and stays sequential.
    pub(super) fn is_control(number: u64) -> bool {
        // The highest bits are the most mixed ones.
        number.wrapping_mul(HASH) / (u64::MAX / CONTROL) == CONTROL - 1
    }

    /// Returns whether queries are helped now, on `cpus_count` CPUs that are busy for a share of the time.
    pub(super) fn allows(&self, now_ns: u64, cpus_count: usize, busy_share: f64) -> bool {
        let idle_count = (1.0 - busy_share) * cpus_count as f64;
        now_ns >= self.paused_until_ns && busy_share <= BUSY_MAX && idle_count >= IDLE_MIN
    }

    /// Returns the time left, in ns, by which a query must be longer than pays for itself, where queries take `mean_ns`.
    pub(super) fn longer_ns(busy_share: f64, mean_ns: f64) -> u64 {
        ((busy_share - FREE_SHARE).max(0.0) * LONGER * mean_ns).round() as u64
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
        let error = (self.helped.error2() + self.control.error2()).sqrt();
        let more = self.helped.mean - self.control.mean;
        if are_known && more > COST_MAX.ln() + ERRORS * error {
            self.paused_until_ns = now_ns.saturating_add(PAUSE_NS);
            self.helped = Cost::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_busy_cpus_only_longer_queries_are_helped() {
        assert_eq!(Guard::longer_ns(0.1, 1e6), 0);
        assert_eq!(Guard::longer_ns(0.5, 1e6) / 1000, 900);
    }

    #[test]
    fn one_of_sixteen_is_the_control() {
        let count = (0..16_000).filter(|&one| Guard::is_control(one)).count();
        assert!((900..1100).contains(&count), "{count}");
    }

    /// Runs queries whose predictions are off by some factor, by turns.
    fn run(guard: &mut Guard, helped_share: f64) {
        for number in 0..2_000_u32 {
            let off = [0.5, 1.0, 0.7, 1.9, 1.3][number as usize % 5];
            let worked = |share: f64| (1e6 * off * share) as u64;
            guard.ran(0, Help::None, worked(9.0), 1_000_000);
            match number.is_multiple_of(16) {
                true => guard.ran(0, Help::Withheld, worked(1.0), 1_000_000),
                false => guard.ran(0, Help::Given, worked(helped_share), 1_000_000),
            }
        }
    }

    #[test]
    fn help_pauses_where_it_costs_more_than_it_may() {
        let mut guard = Guard::default();
        run(&mut guard, 1.1);
        assert!(guard.allows(0, 2, 0.6) && !guard.allows(0, 2, 0.7));
        assert!(guard.allows(0, 16, 0.8) && !guard.allows(0, 16, 0.9));
        run(&mut guard, 1.7);
        assert!(!guard.allows(PAUSE_NS - 1, 2, 0.5));
        // Then it is tried again.
        assert!(guard.allows(PAUSE_NS, 2, 0.5));
    }
}
