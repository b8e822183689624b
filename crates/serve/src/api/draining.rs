//! Flag of a server that is about to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Drain flag, shared by all parts of a server. Health checks report it, so that new work goes
/// elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Draining(Arc<AtomicBool>);

impl Draining {
    /// Marks the server as about to end.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the server is about to end.
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
