//! Cancellation of what takes long, from any thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Token by which another thread cancels searches, commits and optimizations. Clones are the same token.
///
/// ```
/// use shorttail::CancelToken;
///
/// let token = CancelToken::new();
/// let of_another_thread = token.clone();
/// std::thread::spawn(move || of_another_thread.cancel()).join().unwrap();
/// assert!(token.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Returns a token that is not cancelled.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Cancels all work that has the token, for good. The work ends with [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the token was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
