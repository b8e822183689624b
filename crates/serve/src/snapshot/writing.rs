//! The writer of a served index: open from the start, or opened by the first write and closed after a pause.
//!
//! ```text
//! none ── set ─────────────► open for good            a server of one index
//!      └─ set_opener ─► closed ◄── first write ──► open     one of many: an idle index has no threads
//!                              └── a pause ───────┘
//! ```

use index::IndexError;
use ingest::ResumingWriter;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Opens the writer of an index; it waits for the disk.
pub(crate) type OpenWriter = dyn Fn() -> Result<ResumingWriter, IndexError> + Send + Sync;

/// Writer of an index, if its server writes.
#[derive(Default)]
pub(crate) struct WriterSlot {
    /// Writer that is open for good.
    lasting: OnceLock<Arc<ResumingWriter>>,
    open: OnceLock<Box<OpenWriter>>,
    /// Held while the writer is opened or closed.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    writer: Option<Arc<ResumingWriter>>,
    used: Option<Instant>,
    /// No writer is opened any more.
    has_ended: bool,
}

impl WriterSlot {
    /// Sets a writer that is open, for good.
    pub(crate) fn set(&self, writer: ResumingWriter) {
        // An index is given one writer, before it is served.
        let _ = self.lasting.set(Arc::new(writer));
    }

    /// Sets how a writer is opened when it is needed.
    pub(crate) fn set_opener(&self, open: Box<OpenWriter>) {
        // Likewise.
        let _ = self.open.set(open);
    }

    /// Returns whether the index can be written to.
    pub(crate) fn can_write(&self) -> bool {
        self.lasting.get().is_some() || self.open.get().is_some()
    }

    /// Returns the writer if it is open, and not about to be opened or closed. It never waits.
    pub(crate) fn opened(&self) -> Option<Arc<ResumingWriter>> {
        if let Some(writer) = self.lasting.get() {
            return Some(Arc::clone(writer));
        }
        match self.state.try_lock() {
            Ok(state) => state.writer.clone(),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().writer.clone(),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Returns when the writer was used last, if it is open and can be opened again.
    pub(crate) fn used(&self) -> Option<Instant> {
        let state = self.state.try_lock().ok()?;
        state.writer.is_some().then_some(state.used)?
    }

    /// Returns the writer, which is opened if it is not; `None` where the server does not write, or no longer does.
    ///
    /// # Errors
    /// The writer cannot be opened: another process writes, or what its log has cannot be recovered.
    pub(crate) fn get(&self) -> Result<Option<Arc<ResumingWriter>>, IndexError> {
        if let Some(writer) = self.lasting.get() {
            return Ok(Some(Arc::clone(writer)));
        }
        let mut state = self.state();
        state.used = Some(Instant::now());
        if let Some(writer) = &state.writer {
            return Ok(Some(Arc::clone(writer)));
        }
        let Some(open) = self.open.get().filter(|_| !state.has_ended) else {
            return Ok(None);
        };
        let writer = Arc::new(open()?);
        state.writer = Some(Arc::clone(&writer));
        Ok(Some(writer))
    }

    /// Closes a writer that can be opened again, if nobody has used it for a while, or opens or closes it now. Changes that
    /// wait are committed. It waits for the disk.
    pub(crate) fn close_idle(&self, pause: Duration) {
        let Ok(mut state) = self.state.try_lock() else {
            return;
        };
        let is_idle = state.used.is_none_or(|used| used.elapsed() >= pause);
        if is_idle
            && let Some(writer) = state
                .writer
                .take_if(|writer| Arc::strong_count(writer) == 1)
        {
            writer.close();
        }
    }

    /// Lets a writer be opened again after [`WriterSlot::close`].
    pub(crate) fn allow(&self) {
        self.state().has_ended = false;
    }

    /// Returns whether the writer was closed: no other is opened.
    pub(crate) fn has_ended(&self) -> bool {
        self.state().has_ended
    }

    /// Closes the writer, and lets none be opened.
    pub(crate) fn close(&self) {
        if let Some(writer) = self.lasting.get() {
            writer.close();
        }
        let mut state = self.state();
        state.has_ended = true;
        if let Some(writer) = state.writer.take() {
            writer.close();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
