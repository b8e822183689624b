//! Flag of a server that is about to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once, seen by all parts of a server: health checks tell it, so that nobody sends work to come.
#[derive(Debug, Clone, Default)]
pub struct Draining(Arc<AtomicBool>);

impl Draining {
    /// Says that the server will end.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it will.
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
