//! One thing of several with names: open or not, and when it was last asked for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Time of no request after which an index is not looked at for newer generations, and its servers are not watched.
const FRESH: Duration = Duration::from_secs(60);

/// Entry of a name.
pub(crate) struct Entry<T> {
    pub(crate) name: Arc<str>,
    /// Held while the thing is opened, closed or dropped.
    state: Mutex<State<T>>,
    /// The thing of the state, for requests, which wait for nobody.
    open: RwLock<Option<Arc<T>>>,
    /// Time of the last request, in ms since the first entry of the process.
    used_ms: AtomicU64,
}

/// State of a thing while it is locked; what became of it is seen by requests when the lock is given back.
pub(crate) struct State<T> {
    pub(crate) open: Option<Arc<T>>,
    /// The entry is no longer among those of its kind.
    pub(super) is_gone: bool,
}

/// Lock of a state.
pub(crate) struct Locked<'a, T> {
    entry: &'a Entry<T>,
    state: MutexGuard<'a, State<T>>,
}

/// Open thing, and whether it was asked for of late.
pub(crate) struct Found<T> {
    pub(crate) open: Arc<T>,
    pub(crate) is_fresh: bool,
}

impl<T> Entry<T> {
    pub(super) fn new(name: Arc<str>) -> Entry<T> {
        Entry {
            name,
            state: Mutex::new(State {
                open: None,
                is_gone: false,
            }),
            open: RwLock::new(None),
            used_ms: AtomicU64::new(now_ms()),
        }
    }

    /// Locks the state; it waits for the opening or dropping under way.
    pub(super) fn state(&self) -> Locked<'_, T> {
        Locked {
            entry: self,
            state: self.state.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Locks the state, unless another thread has it.
    pub(super) fn try_state(&self) -> Option<Locked<'_, T>> {
        let state = self.state.try_lock().ok()?;
        Some(Locked { entry: self, state })
    }

    /// Returns the thing if it is open.
    pub(crate) fn opened(&self) -> Option<Arc<T>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.clone()
    }

    /// Returns the thing if it is open, for a request, which is noted.
    pub(super) fn asked(&self) -> Option<Found<T>> {
        let open = self.opened()?;
        let is_fresh = self.is_fresh();
        self.note_use();
        Some(Found { open, is_fresh })
    }

    pub(crate) fn note_use(&self) {
        self.used_ms.store(now_ms(), Ordering::Relaxed);
    }

    /// Returns whether there was a request of late.
    pub(crate) fn is_fresh(&self) -> bool {
        self.is_used_within(FRESH)
    }

    /// Returns whether there was a request within some time.
    pub(crate) fn is_used_within(&self, time: Duration) -> bool {
        now_ms().saturating_sub(self.used_ms()) < time.as_millis() as u64
    }

    /// Returns the time of the last request, in ms.
    pub(super) fn used_ms(&self) -> u64 {
        self.used_ms.load(Ordering::Relaxed)
    }
}

impl<T> std::ops::Deref for Locked<'_, T> {
    type Target = State<T>;

    fn deref(&self) -> &State<T> {
        &self.state
    }
}

impl<T> std::ops::DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut State<T> {
        &mut self.state
    }
}

impl<T> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        let mut open = self
            .entry
            .open
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        open.clone_from(&self.state.open);
    }
}

fn now_ms() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_millis() as u64
}
