//! State of one connection, shared by its own task and the choice of a connection to close.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Stage of a connection.
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
    /// A request is in work; no byte of its answer is written.
    Working,
    /// The answer is being written.
    Answering,
    /// The connection was closed to make room.
    Closed,
}

/// Shared state of one connection.
#[derive(Debug)]
pub(super) struct Connection {
    stage: AtomicU8,
    opened: Instant,
    /// Time at which the connection became idle, in milliseconds after `opened`.
    idle_since_ms: AtomicU64,
    /// Whether a write waits for the client to read.
    write_waits: AtomicBool,
    /// Whether the client's version of HTTP has interim responses.
    knows_interim: AtomicBool,
    closed: Notify,
}

/// Guard of an answer under way, dropped when the answer is complete or abandoned.
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

    /// Records the arrival of a request; `None` if the connection has just been closed.
    pub(super) fn begin(self: &Arc<Self>, knows_interim: bool) -> Option<Answering> {
        self.knows_interim.store(knows_interim, Ordering::Relaxed);
        self.pass(Stage::Idle, Stage::Working)
            .then(|| Answering(Arc::clone(self)))
    }

    /// Returns whether an interim response may be written: no byte of the final one is written, and the
    /// client supports it.
    pub(super) fn may_interim(&self) -> bool {
        self.is(Stage::Working) && self.knows_interim.load(Ordering::Relaxed)
    }

    /// Records whether a write waits for the client to read.
    pub(super) fn set_write_waits(&self, waits: bool) {
        self.write_waits.store(waits, Ordering::Relaxed);
    }

    /// Returns whether the client is owed an answer.
    pub(super) fn is_owing(&self) -> bool {
        self.is(Stage::Working)
            || self.is(Stage::Answering)
            || self.write_waits.load(Ordering::Relaxed)
    }

    /// Returns the time since the connection became idle; `None` if it is busy or closed.
    pub(super) fn idle_for(&self, now: Instant) -> Option<Duration> {
        if !self.is(Stage::Idle) || self.write_waits.load(Ordering::Relaxed) {
            return None;
        }
        let since = Duration::from_millis(self.idle_since_ms.load(Ordering::Relaxed));
        Some(now.saturating_duration_since(self.opened + since))
    }

    /// Closes the connection if it is still idle; returns whether it did.
    pub(super) fn close(&self) -> bool {
        let is_closed = self.pass(Stage::Idle, Stage::Closed);
        if is_closed {
            self.closed.notify_one();
        }
        is_closed
    }

    /// Completes when the connection is closed to make room.
    pub(super) async fn closed(&self) {
        self.closed.notified().await;
    }
}

impl Answering {
    /// Records that the response has begun.
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
