//! Pool of connections, bounded over all hosts together.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::connection::{Connection, Key};

struct Idle {
    key: Key,
    connection: Connection,
    since: Instant,
}

#[derive(Default)]
struct Entries {
    /// Idle connections in the order in which they became idle.
    by_age: BTreeMap<u64, Idle>,
    by_key: HashMap<Key, Vec<u64>>,
    next: u64,
}

impl Entries {
    fn remove(&mut self, number: u64) -> Option<Idle> {
        let idle = self.by_age.remove(&number)?;
        if let Some(numbers) = self.by_key.get_mut(&idle.key) {
            numbers.retain(|&known| known != number);
            if numbers.is_empty() {
                self.by_key.remove(&idle.key);
            }
        }
        Some(idle)
    }

    fn remove_oldest(&mut self) -> Option<Idle> {
        let number = *self.by_age.first_key_value()?.0;
        self.remove(number)
    }
}

/// Idle connections, and the permits that all connections hold.
pub(super) struct Pool {
    entries: Mutex<Entries>,
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    idle_max: Duration,
}

impl Pool {
    pub(super) fn new(connections_max: usize, idle_max: Duration) -> Self {
        Self {
            entries: Mutex::default(),
            permits: Arc::new(Semaphore::new(connections_max.max(1))),
            waiting: AtomicUsize::new(0),
            idle_max,
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut Entries) -> T) -> T {
        change(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the connection to `key` that was in use last, if there is one still open.
    pub(super) fn take(&self, key: &Key) -> Option<Connection> {
        let mut expired = Vec::new();
        let found = self.with(|entries| {
            while let Some((_, oldest)) = entries.by_age.first_key_value()
                && oldest.since.elapsed() > self.idle_max
            {
                expired.extend(entries.remove_oldest());
            }
            while let Some(&number) = entries.by_key.get(key).and_then(|numbers| numbers.last()) {
                let idle = entries.remove(number)?;
                if idle.connection.is_usable() {
                    return Some(idle.connection);
                }
                expired.push(idle);
            }
            None
        });
        drop(expired);
        found
    }

    /// Keeps `connection` for a later fetch, or closes it where others wait for its permit.
    pub(super) fn put(&self, key: Key, connection: Connection) {
        if self.waiting.load(Ordering::Acquire) > 0 || !connection.is_usable() {
            return;
        }
        self.with(|entries| {
            let number = entries.next;
            entries.next += 1;
            entries.by_key.entry(key.clone()).or_default().push(number);
            entries.by_age.insert(
                number,
                Idle {
                    key,
                    connection,
                    since: Instant::now(),
                },
            );
        });
        if self.waiting.load(Ordering::Acquire) > 0 {
            drop(self.with(Entries::remove_oldest));
        }
    }

    /// Waits for the permit of a new connection; the connection idle for longest gives way.
    pub(super) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Some(permit);
        }
        let _waiting = Waiting::new(&self.waiting);
        drop(self.with(Entries::remove_oldest));
        self.permits.clone().acquire_owned().await.ok()
    }

    pub(super) fn open_count(&self, connections_max: usize) -> usize {
        connections_max.saturating_sub(self.permits.available_permits())
    }
}

/// Counts a wait, also one that is cancelled.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
