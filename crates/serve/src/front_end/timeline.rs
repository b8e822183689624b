//! Steps of one query, where requested, and the clock of its phases.

use search::FilterRun;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use wire::answer::Span;

/// Recorder of the steps of a query.
#[derive(Debug)]
pub(crate) struct Timeline {
    arrived: Instant,
    spans: Option<Mutex<Vec<Span>>>,
}

impl Timeline {
    /// Returns a timeline that begins at the arrival of a query; it stays empty unless `wanted`.
    pub(crate) fn new(arrived: Instant, wanted: bool) -> Timeline {
        Timeline {
            arrived,
            spans: wanted.then(Mutex::default),
        }
    }

    /// Records a step that began at `start` and ends now.
    pub(crate) fn note(&self, name: &str, part: impl FnOnce() -> String, start: Instant) {
        let duration_us = start.elapsed().as_micros() as u64;
        self.note_of(name, part, self.since_us(start), duration_us, &[]);
    }

    /// Records a step by its start and duration, with how its tests of values ran.
    pub(crate) fn note_of(
        &self,
        name: &str,
        part: impl FnOnce() -> String,
        start_us: u64,
        duration_us: u64,
        filters: &[FilterRun],
    ) {
        if let Some(spans) = &self.spans {
            let span = Span {
                name: name.to_owned(),
                part: part(),
                start_us,
                duration_us,
                filters: filters.iter().map(FilterRun::to_string).collect(),
            };
            spans
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(span);
        }
    }

    /// Returns the microseconds from the arrival of the query to `moment`.
    pub(crate) fn since_us(&self, moment: Instant) -> u64 {
        moment.saturating_duration_since(self.arrived).as_micros() as u64
    }

    /// Returns the steps by start time; `None` if they were not requested.
    pub(crate) fn into_spans(self) -> Option<Vec<Span>> {
        let mut spans = self
            .spans?
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        // An enclosing step comes before its parts.
        spans.sort_by_key(|span| (span.start_us, u64::MAX - span.duration_us));
        Some(spans)
    }
}

/// Clock that measures one phase after another.
pub(crate) struct Stopwatch(pub(crate) Instant);

impl Stopwatch {
    /// Returns the microseconds since the last lap and begins the next.
    pub(crate) fn lap_us(&mut self) -> u64 {
        let now = Instant::now();
        let lap = now - self.0;
        self.0 = now;
        lap.as_micros() as u64
    }
}
