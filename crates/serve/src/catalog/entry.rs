//! One index of a catalog: open or not, and when it was last asked for.

use crate::http::app::App;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Time of no request after which an index is not looked at for newer generations.
const FRESH: Duration = Duration::from_secs(60);

/// Index of a catalog.
pub(super) struct Entry {
    pub(super) name: Arc<str>,
    /// Held while the index is opened, closed or dropped.
    state: Mutex<State>,
    /// The index of the state, for requests, which wait for nobody.
    open: RwLock<Option<Arc<App>>>,
    /// Time of the last request, in ms since the first entry of the process.
    used_ms: AtomicU64,
}

/// State of an index while it is locked; what became of it is seen by requests when the lock is given back.
#[derive(Default)]
pub(super) struct State {
    pub(super) app: Option<Arc<App>>,
    /// The entry is no longer in the catalog.
    pub(super) is_gone: bool,
}

/// Lock of a state.
pub(super) struct Locked<'a> {
    entry: &'a Entry,
    state: MutexGuard<'a, State>,
}

/// Open index, and whether it was asked for of late.
pub(super) struct Found {
    pub(super) app: Arc<App>,
    pub(super) is_fresh: bool,
}

impl Entry {
    pub(super) fn new(name: Arc<str>) -> Entry {
        Entry {
            name,
            state: Mutex::default(),
            open: RwLock::default(),
            used_ms: AtomicU64::new(now_ms()),
        }
    }

    /// Locks the state; it waits for the opening or dropping under way.
    pub(super) fn state(&self) -> Locked<'_> {
        Locked {
            entry: self,
            state: self.state.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Locks the state, unless another thread has it.
    pub(super) fn try_state(&self) -> Option<Locked<'_>> {
        let state = self.state.try_lock().ok()?;
        Some(Locked { entry: self, state })
    }

    /// Returns the index if it is open.
    pub(super) fn opened(&self) -> Option<Arc<App>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.clone()
    }

    /// Returns the index if it is open, for a request, which is noted.
    pub(super) fn asked(&self) -> Option<Found> {
        let app = self.opened()?;
        let is_fresh = self.is_fresh();
        self.note_use();
        Some(Found { app, is_fresh })
    }

    pub(super) fn note_use(&self) {
        self.used_ms.store(now_ms(), Ordering::Relaxed);
    }

    /// Returns whether there was a request of late.
    pub(super) fn is_fresh(&self) -> bool {
        now_ms().saturating_sub(self.used_ms()) < FRESH.as_millis() as u64
    }

    /// Returns the time of the last request, in ms.
    pub(super) fn used_ms(&self) -> u64 {
        self.used_ms.load(Ordering::Relaxed)
    }
}

impl std::ops::Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl std::ops::DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let mut open = self
            .entry
            .open
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        open.clone_from(&self.state.app);
    }
}

fn now_ms() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_millis() as u64
}
