//! Writes at a fixed rate, and the times until they are seen.

use super::document;
use super::pace::{Random, until};
use crate::Result;
use ingest::{Change, LiveWriter, Outcome};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Writes at a fixed rate: of twenty 13 are new, 5 replace a document at random, 2 delete one.
pub(super) struct Writes<'a> {
    pub(super) lines: &'a [&'a str],
    pub(super) half: usize,
    pub(super) rate: u64,
    pub(super) total: usize,
}

/// What the writer did.
pub(super) struct Written {
    /// The next line of the corpus.
    pub(super) next: usize,
    /// Time by which the last write was late.
    pub(super) late_s: f64,
    /// Times of the calls, each of the writes due by then.
    pub(super) calls_us: Vec<f64>,
}

impl Writes<'_> {
    fn due(&self, start: Instant, number: usize) -> Instant {
        start + Duration::from_secs_f64(number as f64 / self.rate as f64)
    }

    pub(super) fn apply(&self, writer: &LiveWriter, start: Instant) -> Result<Written> {
        let (mut random, mut next, mut number) = (Random(99), self.half, 0);
        let mut calls_us = Vec::new();
        while number < self.total {
            until(self.due(start, number));
            let mut changes = Vec::new();
            while number < self.total && self.due(start, number) <= Instant::now() {
                let change = match number % 20 {
                    0..=12 => {
                        next += 1;
                        Change::Put(document(self.lines[next - 1])?)
                    }
                    13..=17 => Change::Put(document(self.lines[random.below(next)])?),
                    _ => Change::Delete {
                        url: document(self.lines[random.below(next)])?.url,
                    },
                };
                changes.push(change.into());
                number += 1;
            }
            let asked = Instant::now();
            let outcomes = writer.apply(changes)?;
            calls_us.push(asked.elapsed().as_secs_f64() * 1e6);
            if !outcomes.iter().all(Outcome::is_made) {
                return Err(format!("a write was not made: {outcomes:?}").into());
            }
        }
        let late = start.elapsed().as_secs_f64() - self.total as f64 / self.rate as f64;
        Ok(Written {
            next,
            late_s: late.max(0.0),
            calls_us,
        })
    }

    /// Returns the times from the instants at which writes were due until searches see them, in microseconds.
    pub(super) fn watch(
        &self,
        writer: &LiveWriter,
        start: Instant,
        is_written: &AtomicBool,
    ) -> Vec<f64> {
        let mut times = Vec::with_capacity(self.total);
        loop {
            let is_last = is_written.load(Ordering::SeqCst);
            let status = writer.status();
            let searchable = status.changes_accepted - status.changes_pending;
            let now = Instant::now();
            while times.len() < searchable as usize {
                let waited = now.saturating_duration_since(self.due(start, times.len()));
                times.push(waited.as_secs_f64() * 1e6);
            }
            if is_last && status.changes_pending == 0 || status.failure.is_some() {
                return times;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
