//! Settings of a run of checks: its size, its seed and whether a protection is removed.

/// Settings of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// Whether the run has the full size; otherwise it is small.
    pub(crate) full: bool,
    /// Whether the protection that the check guards is removed.
    pub(crate) sabotage: bool,
    pub(crate) seed: u64,
}

impl Run {
    /// Returns a time limit in milliseconds. The small size gets more, because it runs beside other work wherever tests
    /// run.
    pub(crate) fn limit_ms(&self, limit_ms: f64) -> f64 {
        limit_ms * self.size(4.0, 1.0)
    }

    /// Returns `small` or `full`, according to the size of the run.
    pub(crate) fn size<T>(&self, small: T, full: T) -> T {
        if self.full { full } else { small }
    }
}
