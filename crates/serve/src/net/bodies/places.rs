//! Places for large bodies: a few are read at a time, so that their memory is bounded over all connections.
//!
//! ```text
//! small body (64 KiB as sent, one batch decompressed)   no place
//! larger body, zstd                                      one of PLACES_COUNT
//! entry over LARGE_ENTRY_BYTES                           the one place for large entries, besides
//! ```
//!
//! Threads wait for places, a few at a time. A client that sends slowly cannot keep a place from them: while others wait,
//! a body that comes slower than [`CONTENDED_BYTES_S`] is given up.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Bodies that are read at a time, with a window of zstd and a batch each.
const PLACES_COUNT: usize = 4;
/// Bodies that wait for a place; further ones are refused.
const WAITING_MAX: usize = 64;
/// Decompressed size from which on a body takes a place, in bytes.
pub(crate) const LARGE_BODY_BYTES: u64 = 128 << 10;
/// Size of an entry from which on it takes the place for large entries, in bytes.
pub(crate) const LARGE_ENTRY_BYTES: u64 = 4 << 20;
/// Least rate of a body while others wait for its place, in bytes a second, and the time it may be behind.
pub(super) const CONTENDED_BYTES_S: u64 = 256 << 10;
pub(super) const CONTENDED_BEHIND_MAX: Duration = Duration::from_secs(2);
/// Interval at which a waiting thread looks whether its client is still there.
const LOOK: Duration = Duration::from_millis(100);
/// Interval at which a waiting task looks whether its client is still there; no thread wakes it.
const LOOK_OF_TASK: Duration = Duration::from_millis(20);

/// Places of one server.
#[derive(Debug)]
pub(crate) struct BodyPlaces {
    bodies: Counted,
    large_entries: Counted,
}

/// A number of places of one kind.
#[derive(Debug)]
struct Counted {
    free: Mutex<usize>,
    freed: Condvar,
    waiting: AtomicUsize,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// Too many threads wait already.
    Full,
    /// The client is gone.
    Gone,
}

/// Place that was taken, free again when dropped.
#[derive(Debug)]
pub(crate) struct Place<'a>(&'a Counted);

impl Default for BodyPlaces {
    fn default() -> BodyPlaces {
        BodyPlaces {
            bodies: Counted::new(PLACES_COUNT),
            large_entries: Counted::new(1),
        }
    }
}

impl BodyPlaces {
    /// Waits for a place of a body, until `is_over`.
    pub(crate) fn for_body(&self, is_over: impl Fn() -> bool) -> Result<Place<'_>, NoPlace> {
        self.bodies.take(is_over)
    }

    /// Waits for the place of a large entry, until `is_over`. Only a body with a place waits for it.
    pub(crate) fn for_large_entry(&self, is_over: impl Fn() -> bool) -> Result<Place<'_>, NoPlace> {
        self.large_entries.take(is_over)
    }

    /// Waits for a place of a body within a task.
    pub(super) async fn for_body_of_task(&self) -> Result<Place<'_>, NoPlace> {
        let mut waiting = None;
        loop {
            if let Some(place) = self.bodies.try_take() {
                return Ok(place);
            }
            if waiting.is_none() {
                waiting = Some(self.bodies.wait().ok_or(NoPlace::Full)?);
            }
            tokio::time::sleep(LOOK_OF_TASK).await;
        }
    }

    /// Returns whether anybody waits for a place.
    pub(super) fn are_wanted(&self) -> bool {
        let wanted = |places: &Counted| places.waiting.load(Ordering::Relaxed) > 0;
        wanted(&self.bodies) || wanted(&self.large_entries)
    }
}

impl Counted {
    fn new(count: usize) -> Counted {
        Counted {
            free: Mutex::new(count),
            freed: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    fn take(&self, is_over: impl Fn() -> bool) -> Result<Place<'_>, NoPlace> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if *free == 0 {
            let _waiting = self.wait().ok_or(NoPlace::Full)?;
            while *free == 0 {
                if is_over() {
                    return Err(NoPlace::Gone);
                }
                let waited = self.freed.wait_timeout(free, LOOK);
                free = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        *free -= 1;
        Ok(Place(self))
    }

    fn try_take(&self) -> Option<Place<'_>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = free.checked_sub(1)?;
        Some(Place(self))
    }

    /// Counts as waiting until the returned value is dropped; `None` where too many wait.
    fn wait(&self) -> Option<Waiting<'_>> {
        let next = |waiting: usize| (waiting < WAITING_MAX).then_some(waiting + 1);
        let counted = self
            .waiting
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        counted.is_ok().then_some(Waiting(self))
    }
}

/// Wait that is counted.
struct Waiting<'a>(&'a Counted);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_few_and_come_back() {
        let places = BodyPlaces::default();
        let mut taken: Vec<_> = (0..PLACES_COUNT)
            .map(|_| places.for_body(|| false).unwrap())
            .collect();
        assert!(places.for_body(|| true).is_err() && !places.are_wanted());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| places.for_body(|| false).is_ok());
            while !places.are_wanted() {
                std::thread::yield_now();
            }
            taken.pop();
            assert!(waiting.join().unwrap());
        });
        let large = places.for_large_entry(|| false);
        assert!(places.for_large_entry(|| true).is_err());
        drop(large);
        assert!(places.for_large_entry(|| true).is_ok());
    }
}
