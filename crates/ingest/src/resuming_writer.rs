//! Writer that goes on after a failure of its log.
//!
//! A log that failed takes no further batch: after a failed sync nobody knows what is on the disk. The way on is that of a
//! start after a kill: the changes that the log has are committed, and a new log begins. It is tried again and again, since
//! a full disk may have room later.

use crate::LiveWriter;
use index::IndexError;
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Least pause before a recovery.
const PAUSE_MIN: Duration = Duration::from_millis(200);
/// Longest pause before a recovery, where the device gets no room meanwhile.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// Bytes of room that end a pause: others also write and remove files.
const ROOM_BYTES: u64 = 16 << 20;

/// Writer that recovers and goes on after a failure of its log.
pub struct ResumingWriter {
    kept: Arc<Kept>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Kept {
    current: RwLock<Arc<LiveWriter>>,
    is_closed: Mutex<bool>,
    closed: Condvar,
}

impl ResumingWriter {
    /// Watches over a writer.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn new(writer: LiveWriter) -> Result<ResumingWriter, IndexError> {
        let path = writer.location();
        let kept = Arc::new(Kept {
            current: RwLock::new(Arc::new(writer)),
            is_closed: Mutex::new(false),
            closed: Condvar::new(),
        });
        let watched = Arc::clone(&kept);
        let thread = std::thread::Builder::new().name("resume".to_owned());
        let thread = thread.spawn(move || watched.watch());
        let thread = thread
            .map_err(|source| vfs::StorageError::from_io("start a thread for", &path, source))?;
        Ok(ResumingWriter {
            kept,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Returns the writer of this moment. After a failure of its log another one takes its place.
    pub fn current(&self) -> Arc<LiveWriter> {
        self.kept.current()
    }

    /// Closes the writer for good, as [`LiveWriter::close`] does.
    pub fn close(&self) {
        *self.kept.is_closed() = true;
        self.kept.closed.notify_all();
        self.current().close();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // Its panic leaves a writer without a watch, which holds no information here.
            let _ = thread.join();
        }
    }
}

impl Drop for ResumingWriter {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for ResumingWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ResumingWriter")
            .field(&self.current())
            .finish()
    }
}

impl Kept {
    fn current(&self) -> Arc<LiveWriter> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    fn is_closed(&self) -> std::sync::MutexGuard<'_, bool> {
        self.is_closed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Recovers after each failure, until the writer is closed.
    fn watch(&self) {
        while let Some(reason) = self.current().wait_for_failure() {
            let (mut pause, mut told) = (PAUSE_MIN, reason);
            loop {
                self.pause(pause);
                if *self.is_closed() {
                    return;
                }
                let begun = Instant::now();
                let Err(error) = self.resume() else {
                    tracing::info!("the changes of the log are recovered, and more are accepted");
                    break;
                };
                // A failure that repeats is logged once.
                let reason = error.to_string();
                if reason != told {
                    tracing::error!(%reason, "the changes of the log cannot be recovered; it is tried again");
                    told = reason;
                }
                // So recoveries that fail take at most half of the time.
                pause = begun.elapsed().clamp(PAUSE_MIN, PAUSE_MAX);
            }
        }
    }

    /// Puts a recovered writer in place of the one whose log has failed.
    fn resume(&self) -> Result<(), IndexError> {
        let resumed = self.current().resume()?;
        let is_closed = self.is_closed();
        if *is_closed {
            resumed.close();
        }
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(resumed);
        Ok(())
    }

    /// Waits for `pause`, or until the device gets room or the writer is closed.
    fn pause(&self, pause: Duration) {
        let available = || self.current().available_bytes();
        let (begun, enough) = (Instant::now(), available().map(|bytes| bytes + ROOM_BYTES));
        loop {
            let left = pause.saturating_sub(begun.elapsed()).min(PAUSE_MIN);
            let closed = &self.closed;
            let waited = closed.wait_timeout_while(self.is_closed(), left, |is_closed| !*is_closed);
            let (is_closed, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let has_room = enough.is_some() && available() >= enough;
            if *is_closed || has_room || begun.elapsed() >= pause {
                return;
            }
        }
    }
}
