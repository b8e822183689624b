//! Request and report of ranges that spin in place of searches, in a process of their own.
//!
//! The process is `shorttail lab spin FILE`, a hidden command: the engine is not linked here. It reads a [`SpinRequest`]
//! and prints a [`SpinReport`], both as JSON.
use serde::{Deserialize, Serialize};

/// Clock that tells when a range has spun for its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpinClock {
    /// Wall-clock time, which passes while other threads have the core: judges queues.
    Wall,
    /// Time of the thread on a core: judges the scheduler too.
    Processor,
}

/// A run of ranges that spin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpinRequest {
    /// Policy by name.
    pub policy: String,
    /// Number of handlers.
    pub handlers: usize,
    /// Clock of the ranges.
    pub clock: SpinClock,
    /// Queries by instant.
    pub queries: Vec<SpinQuery>,
}

/// A query that spins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpinQuery {
    /// Instant at which it is due, from the start of the run, in µs.
    pub at_us: f64,
    /// Time on one handler, in µs.
    pub time_us: f64,
    /// Predicted time, in µs.
    pub likely_us: f64,
    /// Predicted 90th percentile of its time, in µs.
    pub high_us: f64,
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpinReport {
    /// Answers in the order of the queries.
    pub answers: Vec<SpinAnswer>,
    /// Time from a wake-up to the first instruction of a handler, of late, in µs.
    pub wake_us: f64,
}

/// Times of a query that spun.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpinAnswer {
    /// Time from the instant at which it was due to sending, in µs.
    pub lag_us: f64,
    /// Time from sending to the end of its last range, in µs; `None` without an answer.
    pub response_us: Option<f64>,
    /// Number of handlers that took ranges.
    pub handlers: u32,
}

impl SpinClock {
    /// Returns the name of the clock in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SpinClock::Wall => "wall clock",
            SpinClock::Processor => "processor time",
        }
    }
}
