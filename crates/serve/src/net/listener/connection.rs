//! State of one connection, shared by its own task and the choice of a connection to close.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Stage of a connection.
///
/// ```text
/// idle ─ head read ─► working ─ response there ─► answering ─ body taken ─► idle
///   └─ room is needed ─► closed ◄─ room is needed ─┘ while the body of the request is waited for
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
    /// Time at which a wait for the body of the request began, in milliseconds after `opened`, plus one; 0 without one.
    body_since_ms: AtomicU64,
    /// Time by which the body was behind the rate of a prompt client before this wait, in milliseconds.
    body_behind_ms: AtomicU64,
    closed: Notify,
}

/// Rate of a body from which on its client counts as prompt, in bytes a second.
const PROMPT_BYTES_S: u64 = 256 << 10;

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
            body_since_ms: AtomicU64::new(0),
            body_behind_ms: AtomicU64::new(0),
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

    /// Records that the body of the request is waited for from now on.
    pub(super) fn waits_for_body(&self) {
        self.body_since_ms
            .store(self.age_ms() + 1, Ordering::Relaxed);
    }

    /// Records that a part of the body has come, after `waited` for `bytes` in all.
    pub(super) fn body_came(&self, waited: Duration, bytes: u64) {
        let due_ms = bytes.saturating_mul(1000) / PROMPT_BYTES_S;
        let behind_ms = (waited.as_millis() as u64).saturating_sub(due_ms);
        self.body_behind_ms.store(behind_ms, Ordering::Relaxed);
        self.body_since_ms.store(0, Ordering::Relaxed);
    }

    /// Returns whether the body of the request is waited for.
    pub(super) fn is_receiving(&self) -> bool {
        self.body_since_ms.load(Ordering::Relaxed) > 0
    }

    fn age_ms(&self) -> u64 {
        self.opened.elapsed().as_millis() as u64
    }

    /// Returns the time for which the client has let the connection wait: since it became idle, or that by which the
    /// body of its request is late. `None` if the connection is busy or closed.
    pub(super) fn idle_for(&self, now: Instant) -> Option<Duration> {
        if self.write_waits.load(Ordering::Relaxed) {
            return None;
        }
        let since = |ms| now.saturating_duration_since(self.opened + Duration::from_millis(ms));
        if self.is(Stage::Idle) {
            return Some(since(self.idle_since_ms.load(Ordering::Relaxed)));
        }
        let body_since_ms = self.body_since_ms.load(Ordering::Relaxed);
        let behind = Duration::from_millis(self.body_behind_ms.load(Ordering::Relaxed));
        (self.is(Stage::Working) && body_since_ms > 0).then(|| since(body_since_ms - 1) + behind)
    }

    /// Closes the connection if its client still lets it wait; returns whether it did.
    pub(super) fn close(&self) -> bool {
        let is_closed = self.pass(Stage::Idle, Stage::Closed)
            || self.is_receiving() && self.pass(Stage::Working, Stage::Closed);
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
        self.0
            .idle_since_ms
            .store(self.0.age_ms(), Ordering::Relaxed);
        let idle = Stage::Idle;
        // One that was closed meanwhile stays closed.
        let _ = self.0.pass(Stage::Working, idle) || self.0.pass(Stage::Answering, idle);
    }
}
