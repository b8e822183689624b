//! Speed-up of a query on several handlers, and the test whether a further one pays.

/// Time from a wake-up to the first instruction of a sleeping handler, in ns, until measured.
const WAKE_NS: u64 = 32_000;
/// Time that a joining handler takes before its first range, in ns: it opens the lists anew.
const JOIN_NS: u64 = 5_000;
/// Work of a helper per unit of its time, until measured.
const EFFICIENCY: f64 = 0.9;
/// Efficiency below which no handler helps: SMT siblings that share one busy core, or a starved memory bus.
const EFFICIENCY_MIN: f64 = 0.6;

/// Share of their time for which handlers have a CPU below which no handler helps: the CPUs are busy with other threads, and a
/// helper would take what the owner, or the sender of the answer, needs. (At 0.85, with a client and the front-end on the same
/// two cores, nobody helped from a load of 0.5 on, where help still took a third off the 99th percentile.)
const CPU_SHARE_MIN: f64 = 0.6;

/// Costs of help as measured on this machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learnt {
    /// Time from a wake-up to the first instruction of the handler, in ns.
    pub wake_ns: f64,
    /// Time that joining takes, in ns.
    pub join_ns: f64,
    /// Work of a helper per unit of its time, the owner's being 1.
    pub efficiency: f64,
    /// Share of their time in ranges for which handlers had a CPU: less than 1 where other threads took it.
    pub cpu_share: f64,
    /// Share of the time of their CPUs of late in which these were busy, whoever had them; 0 where unknown.
    pub busy_share: f64,
}

impl Default for Learnt {
    fn default() -> Learnt {
        Learnt {
            wake_ns: WAKE_NS as f64,
            join_ns: JOIN_NS as f64,
            efficiency: EFFICIENCY,
            cpu_share: 1.0,
            busy_share: 0.0,
        }
    }
}

/// Returns the speed-up of a query on `handlers` handlers: S(d) = 1 + e·(d − 1).
pub(super) fn speed_up(handlers: u32, efficiency: f64) -> f64 {
    1.0 + efficiency * f64::from(handlers.saturating_sub(1))
}

impl Learnt {
    /// Returns the time left from which a further handler shortens a query with `hands` at work, in ns: what it saves,
    /// L·e / (S(d)·S(d+1)), is at least twice what its start costs.
    pub fn worth_ns(&self, hands: u32, is_awake: bool) -> u64 {
        match self.efficiency < EFFICIENCY_MIN {
            true => u64::MAX,
            false => self.worth_at_ns(hands, is_awake, self.efficiency),
        }
    }

    /// Returns the same for a handler of an efficiency of its own.
    pub(super) fn worth_at_ns(&self, hands: u32, is_awake: bool, e: f64) -> u64 {
        if self.cpu_share < CPU_SHARE_MIN {
            return u64::MAX;
        }
        let start_ns = self.join_ns + if is_awake { 0.0 } else { self.wake_ns };
        (2.0 * start_ns * speed_up(hands, e) * speed_up(hands + 1, e) / e) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_handlers_must_pay() {
        let learnt = Learnt::default();
        // 2 (32 + 5) µs × 1.9 / 0.9, and × 2.8 × 3.7 / 0.9.
        assert_eq!(learnt.worth_ns(1, false) / 1000, 156);
        assert_eq!(learnt.worth_ns(3, false) / 1000, 851);
        assert!(learnt.worth_ns(1, true) < learnt.worth_ns(1, false));
        let slow = Learnt {
            efficiency: 0.5,
            ..learnt
        };
        assert_eq!(slow.worth_ns(1, true), u64::MAX);
        let crowded = Learnt {
            cpu_share: 0.5,
            ..learnt
        };
        assert_eq!(crowded.worth_ns(1, true), u64::MAX);
    }
}
