//! Hedging delay, from the latency of calls.
//!
//! Hedged requests (Dean & Barroso, "The Tail at Scale", CACM 2013): a call that takes longer than most
//! is repeated at another replica, and the first answer counts. A budget limits the extra calls to a
//! twentieth, so that a slow cluster is not made slower.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Number of recent calls from which the delay is computed.
const REMEMBERED: usize = 256;
/// Number of calls between two computations of the quantile.
const RENEWED_AFTER: usize = 32;
/// Lower limit on the hedging delay, in microseconds: below it, the wake-up costs more than the wait.
const HEDGE_MIN_US: u64 = 1_000;

/// Latency of recent calls of one kind.
#[derive(Debug)]
pub(crate) struct Pace {
    recent: Mutex<Recent>,
    /// 95th percentile in microseconds; 0 until enough calls are known.
    p95_us: AtomicU64,
}

#[derive(Debug)]
struct Recent {
    us: Vec<u64>,
    next: usize,
    since: usize,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            recent: Mutex::new(Recent {
                us: Vec::with_capacity(REMEMBERED),
                next: 0,
                since: 0,
            }),
            p95_us: AtomicU64::new(0),
        }
    }
}

impl Pace {
    /// Records the latency of an answered call.
    pub(crate) fn note(&self, took: Duration) {
        let us = took.as_micros() as u64;
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.us.len() < REMEMBERED {
            recent.us.push(us);
        } else {
            let next = recent.next;
            recent.us[next] = us;
            recent.next = (next + 1) % REMEMBERED;
        }
        recent.since += 1;
        if recent.since >= RENEWED_AFTER {
            recent.since = 0;
            let mut sorted = recent.us.clone();
            let at = sorted.len() * 95 / 100;
            let (_, &mut p95, _) = sorted.select_nth_unstable(at);
            self.p95_us.store(p95, Ordering::Relaxed);
        }
    }

    /// Returns the 95th percentile of call latency, the hedging delay; `None` while too few calls are known.
    pub(crate) fn hedge_after(&self) -> Option<Duration> {
        match self.p95_us.load(Ordering::Relaxed) {
            0 => None,
            p95 => Some(Duration::from_micros(p95.max(HEDGE_MIN_US))),
        }
    }
}

/// Budget earned by a call, in thousandths of a hedge: at most a twentieth of the calls are repeated.
const EARNED_MAX: i64 = 50;
const HEDGE: i64 = 1_000;
/// Upper limit on the saved budget.
const SAVED_MAX: i64 = 10 * HEDGE;

/// Budget of hedged requests.
#[derive(Debug)]
pub(crate) struct HedgeBudget {
    saved: AtomicI64,
    earned: i64,
}

impl HedgeBudget {
    /// Returns a budget that allows hedged requests, or none.
    pub(crate) fn new(hedges: bool) -> HedgeBudget {
        HedgeBudget {
            saved: AtomicI64::new(0),
            earned: if hedges { EARNED_MAX } else { 0 },
        }
    }

    /// Adds the earnings of one call.
    pub(crate) fn earn(&self) {
        if self.saved.load(Ordering::Relaxed) < SAVED_MAX {
            self.saved.fetch_add(self.earned, Ordering::Relaxed);
        }
    }

    /// Takes the price of one hedge if the budget covers it; returns whether it did.
    pub(crate) fn spend(&self) -> bool {
        let spend = |saved: i64| (saved >= HEDGE).then_some(saved - HEDGE);
        self.saved
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend)
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_follows_what_calls_take() {
        let pace = Pace::default();
        assert_eq!(pace.hedge_after(), None);
        for call in 0..1_000u64 {
            let us = if call % 100 < 90 { 2_000 } else { 30_000 };
            pace.note(Duration::from_micros(us));
        }
        assert_eq!(pace.hedge_after(), Some(Duration::from_millis(30)));
        for _ in 0..1_000 {
            pace.note(Duration::from_micros(5));
        }
        assert_eq!(pace.hedge_after(), Some(Duration::from_millis(1)));
    }

    #[test]
    fn hedges_stay_under_a_twentieth() {
        let budget = HedgeBudget::new(true);
        assert!(!budget.spend());
        let mut hedges = 0;
        for _ in 0..10_000 {
            budget.earn();
            hedges += u32::from(budget.spend());
        }
        assert_eq!(hedges, 500);
        for _ in 0..10_000 {
            budget.earn();
        }
        let saved = (0..100).filter(|_| budget.spend()).count();
        assert_eq!(saved, 10);
        let none = HedgeBudget::new(false);
        (0..10_000).for_each(|_| none.earn());
        assert!(!none.spend());
    }
}
