//! The state of one connection, seen by those who answer it and by those who choose which to close.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// What a connection does.
///
/// ```text
/// idle ─ head read ─► working ─ response there ─► answering ─ body taken ─► idle
///   └─ room is needed ─► closed
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Stage {
    /// Between requests, or before the first.
    Idle,
    /// A request is being worked on; no byte of its answer is written.
    Working,
    /// Its answer is being written.
    Answering,
    /// Closed to make room.
    Closed,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    stage: AtomicU8,
    opened: Instant,
    /// When it became idle, in milliseconds after `opened`.
    idle_since_ms: AtomicU64,
    /// Whether bytes wait for the client to read.
    write_waits: AtomicBool,
    /// Whether the client speaks a version of HTTP that knows interim responses.
    knows_interim: AtomicBool,
    closed: Notify,
}

/// The answer to one request is under way. Dropped when it is over, or given up.
#[derive(Debug)]
pub(super) struct Answering(Arc<Connection>);

impl Connection {
    pub(super) fn new() -> Connection {
        Connection {
            stage: AtomicU8::new(Stage::Idle as u8),
            opened: Instant::now(),
            idle_since_ms: AtomicU64::new(0),
            write_waits: AtomicBool::new(false),
            knows_interim: AtomicBool::new(false),
            closed: Notify::new(),
        }
    }

    pub(super) fn is(&self, stage: Stage) -> bool {
        self.stage.load(Ordering::SeqCst) == stage as u8
    }

    fn pass(&self, from: Stage, to: Stage) -> bool {
        let (from, to) = (from as u8, to as u8);
        let exchanged = self
            .stage
            .compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
        exchanged.is_ok()
    }

    /// Notes that a request is there; `None` where the connection has just been closed.
    pub(super) fn begin(self: &Arc<Self>, knows_interim: bool) -> Option<Answering> {
        self.knows_interim.store(knows_interim, Ordering::Relaxed);
        self.pass(Stage::Idle, Stage::Working)
            .then(|| Answering(Arc::clone(self)))
    }

    /// Whether an interim response may be written now: nothing of the final one is, and the client knows such.
    pub(super) fn may_interim(&self) -> bool {
        self.is(Stage::Working) && self.knows_interim.load(Ordering::Relaxed)
    }

    /// Notes whether bytes wait for the client to read.
    pub(super) fn set_write_waits(&self, waits: bool) {
        self.write_waits.store(waits, Ordering::Relaxed);
    }

    /// Whether the client is still owed something.
    pub(super) fn is_owing(&self) -> bool {
        self.is(Stage::Working)
            || self.is(Stage::Answering)
            || self.write_waits.load(Ordering::Relaxed)
    }

    /// How long the connection has been without a request; `None` where it has one, or is closed.
    pub(super) fn idle_for(&self, now: Instant) -> Option<Duration> {
        if !self.is(Stage::Idle) || self.write_waits.load(Ordering::Relaxed) {
            return None;
        }
        let since = Duration::from_millis(self.idle_since_ms.load(Ordering::Relaxed));
        Some(now.saturating_duration_since(self.opened + since))
    }

    /// Closes the connection if it is still idle.
    pub(super) fn close(&self) -> bool {
        let is_closed = self.pass(Stage::Idle, Stage::Closed);
        if is_closed {
            self.closed.notify_one();
        }
        is_closed
    }

    /// Ready once the connection is closed to make room.
    pub(super) async fn closed(&self) {
        self.closed.notified().await;
    }
}

impl Answering {
    /// Notes that the response is there.
    pub(super) fn responds(&self) {
        self.0.pass(Stage::Working, Stage::Answering);
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let idle_since = self.0.opened.elapsed().as_millis() as u64;
        self.0.idle_since_ms.store(idle_since, Ordering::Relaxed);
        self.0.stage.store(Stage::Idle as u8, Ordering::SeqCst);
    }
}
