//! Progress of a running load test, and its stop signal.
use crate::Sample;
use hdrhistogram::Histogram;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// State shared between a run and its observer. Counters include the warm-up.
#[derive(Debug, Default)]
pub struct Live {
    offered: AtomicU64,
    sent: AtomicU64,
    ended: AtomicU64,
    answered: AtomicU64,
    dropped: AtomicU64,
    elapsed_ns: AtomicU64,
    stop: AtomicBool,
    /// Response times of answers since the last look, in microseconds; `None` before the first one.
    recent: Mutex<Option<Histogram<u64>>>,
}

/// Progress of a run at one instant.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Seconds since the run began.
    pub elapsed_s: f64,
    /// Requests whose intended instant has passed.
    pub offered: u64,
    /// Requests sent.
    pub sent: u64,
    /// Requests answered with a 2xx status.
    pub answered: u64,
    /// Requests that ended in any other way.
    pub failed: u64,
    /// Requests never sent because all connections were busy.
    pub dropped: u64,
    /// Requests sent and not finished.
    pub in_flight: u64,
    /// Median and 99th percentile of the answers since the last look, in microseconds.
    pub recent_us: Option<(u64, u64)>,
}

impl Live {
    /// Stops the run: it sends no further requests and waits for no further answers.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Returns whether the run was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Returns the current progress. Counters are read one after the other, so they may differ by a
    /// request.
    pub fn look(&self) -> Progress {
        let ended = self.ended.load(Relaxed);
        let answered = self.answered.load(Relaxed);
        let dropped = self.dropped.load(Relaxed);
        let sent = self.sent.load(Relaxed);
        let recent = self.recent.lock().ok().and_then(|mut recent| recent.take());
        Progress {
            elapsed_s: self.elapsed_ns.load(Relaxed) as f64 / 1e9,
            offered: self.offered.load(Relaxed),
            sent,
            answered,
            failed: (ended - dropped.min(ended)).saturating_sub(answered),
            dropped,
            in_flight: sent.saturating_sub(ended - dropped.min(ended)),
            recent_us: recent.map(|h| (h.value_at_quantile(0.5), h.value_at_quantile(0.99))),
        }
    }

    pub(crate) fn offer(&self, now_ns: u64) {
        self.offered.fetch_add(1, Relaxed);
        self.tick(now_ns);
    }

    pub(crate) fn tick(&self, now_ns: u64) {
        self.elapsed_ns.fetch_max(now_ns, Relaxed);
    }

    pub(crate) fn send(&self) {
        self.sent.fetch_add(1, Relaxed);
    }

    pub(crate) fn end(&self, sample: &Sample) {
        if sample.sent_ns.is_none() {
            self.dropped.fetch_add(1, Relaxed);
        }
        if sample.ending.is_answer() {
            self.answered.fetch_add(1, Relaxed);
            if let (Some(response_ns), Ok(mut recent)) = (sample.response_ns(), self.recent.lock())
            {
                let histogram = recent.get_or_insert_with(crate::times::empty_histogram);
                histogram.saturating_record(response_ns / 1000);
            }
        }
        self.ended.fetch_add(1, Relaxed);
    }
}
