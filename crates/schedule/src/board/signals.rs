//! Signals from the board to working handlers: read at the end of every range, without a lock.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Signals of a board, on a cache line of their own. Relaxed: a handler that reads old values decides one range later.
#[derive(Debug)]
#[repr(align(64))]
pub struct Signals {
    /// Queries that wait or are parked.
    claimable: AtomicU32,
    /// Idle handlers not woken yet.
    idle: AtomicU32,
    /// Least key of the policy among claimable queries; `u64::MAX` without any.
    least_key: AtomicU64,
    /// Instant from which a claimable query must not be kept waiting, in ns; `u64::MAX` for never.
    urgent_at_ns: AtomicU64,
    /// Expected handler time of claimable queries, in ns.
    claimable_ns: AtomicU64,
    /// Decay rate of the traffic, per ns, as bits.
    decay: AtomicU64,
    /// Whether each handler is called back to the board, for a swap.
    called: Vec<AtomicBool>,
}

/// Signals as one handler saw them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Queries that wait or are parked.
    pub claimable: u32,
    /// Idle handlers not woken yet.
    pub idle: u32,
    /// Least key of the policy among claimable queries; `u64::MAX` without any.
    pub least_key: u64,
    /// Instant from which a claimable query must not be kept waiting, in ns; `u64::MAX` for never.
    pub urgent_at_ns: u64,
    /// Decay rate of the traffic, per ns.
    pub decay_per_ns: f64,
    /// Whether this handler is called back to the board.
    pub is_called: bool,
}

impl Signals {
    /// Returns the signals of an empty board.
    pub(super) fn new(handlers: usize) -> Signals {
        Signals {
            claimable: AtomicU32::new(0),
            idle: AtomicU32::new(0),
            least_key: AtomicU64::new(u64::MAX),
            urgent_at_ns: AtomicU64::new(u64::MAX),
            claimable_ns: AtomicU64::new(0),
            decay: AtomicU64::new(0),
            called: (0..handlers).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// Reads the signals for a handler.
    pub fn seen(&self, handler: usize) -> Seen {
        Seen {
            claimable: self.claimable.load(Relaxed),
            idle: self.idle.load(Relaxed),
            least_key: self.least_key.load(Relaxed),
            urgent_at_ns: self.urgent_at_ns.load(Relaxed),
            decay_per_ns: f64::from_bits(self.decay.load(Relaxed)),
            is_called: self
                .called
                .get(handler)
                .is_some_and(|one| one.load(Relaxed)),
        }
    }

    /// Returns the number of queries that wait or are parked.
    pub fn claimable(&self) -> u32 {
        self.claimable.load(Relaxed)
    }

    /// Returns the number of idle handlers not woken yet.
    pub fn idle(&self) -> u32 {
        self.idle.load(Relaxed)
    }

    /// Returns the expected handler time of queries that wait or are parked, in ns.
    pub fn claimable_ns(&self) -> u64 {
        self.claimable_ns.load(Relaxed)
    }

    pub(super) fn publish(
        &self,
        claimable: u32,
        idle: u32,
        least_key: u64,
        urgent_at_ns: u64,
        claimable_ns: u64,
        decay_per_ns: f64,
    ) {
        self.decay.store(decay_per_ns.to_bits(), Relaxed);
        self.claimable_ns.store(claimable_ns, Relaxed);
        self.claimable.store(claimable, Relaxed);
        self.idle.store(idle, Relaxed);
        self.least_key.store(least_key, Relaxed);
        self.urgent_at_ns.store(urgent_at_ns, Relaxed);
    }

    pub(super) fn call(&self, handler: usize, is_called: bool) {
        if let Some(one) = self.called.get(handler) {
            one.store(is_called, Relaxed);
        }
    }
}
