//! Instants in milliseconds since the epoch.

/// An instant, in milliseconds since 1970-01-01 UTC. The caller brings it; nothing here reads a clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeMs(pub u64);

impl TimeMs {
    /// Later than every visit.
    pub const NEVER: TimeMs = TimeMs(u64::MAX);
    /// Last instant before it.
    pub const LATEST: TimeMs = TimeMs(u64::MAX - 1);

    /// Returns the instant `ms` milliseconds later; saturates.
    pub fn plus_ms(self, ms: u64) -> TimeMs {
        TimeMs(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this instant, 0 if it is later.
    pub fn since_ms(self, earlier: TimeMs) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
