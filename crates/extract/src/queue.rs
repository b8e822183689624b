//! Queue of the results of one file, between the thread that reads it and the one that takes them.
//!
//! A file that is read before its turn leaves its results here, up to 1 MiB, and its child goes on to the next file.

use corpus::Extracted;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes that may wait while the thread goes on. A longer result waits alone.
const WAITING_BYTES_MAX: usize = 1 << 20;

#[derive(Debug, Default)]
struct State {
    results: VecDeque<Extracted>,
    bytes: usize,
    /// Whether the other side has gone.
    ended: bool,
    abandoned: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change while `waits` holds.
    fn wait(&self, waits: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let guard = self.changed.wait_while(self.lock(), |state| waits(state));
        guard.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns both sides of a new queue.
pub(crate) fn queue() -> (Put, Take) {
    let shared = Arc::new(Shared::default());
    (Put(shared.clone()), Take(shared))
}

/// Side of the thread that reads. Dropping it ends the results.
pub(crate) struct Put(Arc<Shared>);

impl Put {
    /// Appends a result, once there is room. Returns whether the results are still wanted.
    pub(crate) fn put(&self, result: Extracted) -> bool {
        let bytes = size(&result);
        let mut state = self.0.wait(|state| {
            let is_full = state.bytes + bytes > WAITING_BYTES_MAX;
            is_full && !state.results.is_empty() && !state.abandoned
        });
        if state.abandoned {
            return false;
        }
        state.bytes += bytes;
        state.results.push_back(result);
        self.0.changed.notify_all();
        true
    }

    /// Waits until few enough bytes of results are left, or the results are no longer wanted.
    pub(crate) fn settle(&self) {
        drop(
            self.0
                .wait(|state| state.bytes > WAITING_BYTES_MAX && !state.abandoned),
        );
    }

    /// Returns whether the results are no longer wanted.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.0.lock().abandoned
    }
}

impl Drop for Put {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_all();
    }
}

/// Side that takes the results. Dropping it abandons the file.
pub(crate) struct Take(Arc<Shared>);

impl Iterator for Take {
    type Item = Extracted;

    fn next(&mut self) -> Option<Extracted> {
        let mut state = self
            .0
            .wait(|state| state.results.is_empty() && !state.ended);
        let result = state.results.pop_front()?;
        state.bytes -= size(&result);
        self.0.changed.notify_all();
        Some(result)
    }
}

impl Drop for Take {
    fn drop(&mut self) {
        self.0.lock().abandoned = true;
        self.0.changed.notify_all();
    }
}

/// Returns roughly the bytes of a result.
fn size(result: &Extracted) -> usize {
    let text = match result {
        Extracted::Document {
            path, title, body, ..
        } => path.len() + title.len() + body.len(),
        Extracted::Bad { path, reason } => path.len() + reason.len(),
        Extracted::LeftOut { name } => name.len(),
    };
    text + size_of::<Extracted>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn result(bytes: usize) -> Extracted {
        Extracted::LeftOut {
            name: "x".repeat(bytes),
        }
    }

    #[test]
    fn results_come_in_order_and_never_wait_beyond_the_limit() {
        let (put, take) = queue();
        let shared = put.0.clone();
        let sizes = [10, 2 << 20, 5, 400_000, 400_000, 400_000, 3 << 20, 1];
        let thread = thread::spawn(move || {
            for bytes in sizes {
                assert!(put.put(result(bytes)));
            }
            put.settle();
        });
        for (bytes, taken) in sizes.into_iter().zip(take) {
            assert_eq!(taken, result(bytes));
            let state = shared.lock();
            assert!(state.bytes <= WAITING_BYTES_MAX || state.results.len() == 1);
        }
        thread.join().unwrap();
    }

    #[test]
    fn small_results_wait_without_their_thread() {
        let (put, take) = queue();
        assert!(put.put(result(1)) && put.put(result(2)));
        put.settle();
        drop(put);
        assert_eq!(take.count(), 2);
    }

    #[test]
    fn nobody_waits_for_what_is_abandoned() {
        let (put, take) = queue();
        assert!(put.put(result(3 << 20)));
        let thread = thread::spawn(move || {
            let taken = put.put(result(1));
            put.settle();
            taken || !put.is_abandoned()
        });
        drop(take);
        assert!(!thread.join().unwrap());
    }
}
