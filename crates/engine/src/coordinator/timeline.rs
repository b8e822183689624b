//! Steps of one query and schedules of its searches, where requested, and the clock of its phases.

use crate::calls::HandlerTimes;
use search::FilterRun;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use wire::Schedule;
use wire::answer::Span;

/// Recorder of the steps of a query.
#[derive(Debug)]
pub struct Timeline {
    arrived: Instant,
    steps: Option<Mutex<Steps>>,
    /// Times of all searches whose handlers were measured.
    handlers_us: Mutex<Option<HandlerTimes>>,
}

/// Contents of a timeline.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// Steps.
    pub spans: Vec<Span>,
    /// Schedules of the searches.
    pub schedules: Vec<Schedule>,
}

impl Timeline {
    /// Returns a timeline that begins at the arrival of a query; it stays empty unless `wanted`.
    pub fn new(arrived: Instant, wanted: bool) -> Timeline {
        Timeline {
            arrived,
            steps: wanted.then(Mutex::default),
            handlers_us: Mutex::default(),
        }
    }

    /// Records a step that began at `start` and ends now.
    pub fn note(&self, name: &str, part: impl FnOnce() -> String, start: Instant) {
        let duration_us = start.elapsed().as_micros() as u64;
        self.note_of(name, part, self.since_us(start), duration_us, &[]);
    }

    /// Records a step by its start and duration, with how its tests of values ran.
    pub fn note_of(
        &self,
        name: &str,
        part: impl FnOnce() -> String,
        start_us: u64,
        duration_us: u64,
        filters: &[FilterRun],
    ) {
        if let Some(steps) = &self.steps {
            let span = Span {
                name: name.to_owned(),
                part: part(),
                start_us,
                duration_us,
                filters: filters.iter().map(FilterRun::to_string).collect(),
            };
            lock(steps).spans.push(span);
        }
    }

    /// Records how handlers shared a search of a part that began at `start_us`: each stay is a step of its own.
    pub fn note_schedule(&self, part: String, start_us: u64, schedule: &Schedule) {
        let Some(steps) = &self.steps else {
            return;
        };
        let mut schedule = schedule.clone();
        let mut steps = lock(steps);
        for visit in &mut schedule.visits {
            visit.start_us = visit.start_us.saturating_add(start_us);
            steps.spans.push(Span {
                name: format!("handler {} {}", visit.handler, visit.role.verb()),
                part: part.clone(),
                start_us: visit.start_us,
                duration_us: visit.duration_us,
                filters: Vec::new(),
            });
        }
        schedule.part = part;
        steps.schedules.push(schedule);
    }

    /// Adds the measured times of the handlers of a search.
    pub fn note_handlers(&self, times: Option<HandlerTimes>) {
        if let Some(times) = times {
            let mut sum = lock(&self.handlers_us);
            let sum = sum.get_or_insert_default();
            sum.cpu = sum.cpu.saturating_add(times.cpu);
            sum.run_queue = sum.run_queue.saturating_add(times.run_queue);
        }
    }

    /// Returns the measured times of the handlers of all searches.
    pub fn handlers_us(&self) -> Option<HandlerTimes> {
        *lock(&self.handlers_us)
    }

    /// Returns the microseconds from the arrival of the query to `moment`.
    pub fn since_us(&self, moment: Instant) -> u64 {
        moment.saturating_duration_since(self.arrived).as_micros() as u64
    }

    /// Returns the steps by start time; `None` if they were not requested.
    pub(crate) fn take_steps(&self) -> Option<Steps> {
        let mut steps = std::mem::take(&mut *lock(self.steps.as_ref()?));
        // An enclosing step comes before its parts.
        let order = |span: &Span| (span.start_us, u64::MAX - span.duration_us);
        steps.spans.sort_by_key(order);
        Some(steps)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
