//! Progress of an open query, written at the ends of its ranges and read by every handler.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Progress of a query over its ranges. All figures are advisory: they steer handlers and decide nothing about hits.
#[derive(Debug, Default)]
pub struct Progress {
    /// Ranges not taken yet that may still hold a hit.
    live: AtomicU32,
    /// Ranges searched.
    done: AtomicU32,
    /// Handler time spent on the searched ranges, in ns.
    worked_ns: AtomicU64,
    /// Predicted time of all ranges on one handler, in ns.
    likely_ns: AtomicU64,
    /// Time that a handler takes before its first range, in ns.
    join_ns: AtomicU64,
    /// Expected time left of a query that began in one piece, in ns; 0 until noted.
    noted_left_ns: AtomicU64,
}

impl Progress {
    /// Returns the progress of a query that is not cut yet.
    pub fn new(likely_ns: u64) -> Progress {
        Progress {
            likely_ns: AtomicU64::new(likely_ns),
            ..Progress::default()
        }
    }

    /// Replaces the prediction.
    pub fn predict(&self, likely_ns: u64) {
        self.likely_ns.store(likely_ns, Relaxed);
    }

    /// Notes the number of ranges, and the time that a handler takes before its first one, in ns: 0 where unknown.
    pub fn cut(&self, ranges: u32, join_ns: u64) {
        self.live.store(ranges, Relaxed);
        self.join_ns.store(join_ns, Relaxed);
    }

    /// Returns the time that a handler takes before its first range, in ns: it opens the lists. 0 where unknown.
    pub fn join_ns(&self) -> u64 {
        self.join_ns.load(Relaxed)
    }

    /// Notes that a range was taken and that `live` others are left that may hold a hit. The number never rises: a handler
    /// that lost its CPU since it counted would make an exhausted query look helpable.
    pub fn range_taken(&self, live: u32) {
        self.live.fetch_min(live, Relaxed);
    }

    /// Notes the expected handler time left, in ns, of a query that began in one piece.
    pub fn note_left(&self, left_ns: u64) {
        self.noted_left_ns.store(left_ns.max(1), Relaxed);
    }

    /// Notes that a further handler takes a part of a query that began in one piece.
    pub(super) fn part_taken(&self) {
        if self.noted_left_ns.load(Relaxed) > 0 {
            let less = |live: u32| Some(live.saturating_sub(1));
            let _ = self.live.fetch_update(Relaxed, Relaxed, less);
        }
    }

    /// Notes that a range was searched in `worked_ns`.
    pub fn range_done(&self, worked_ns: u64) {
        if self.noted_left_ns.load(Relaxed) > 0 {
            let less = |left_ns: u64| Some(left_ns.saturating_sub(worked_ns).max(1));
            let _ = self.noted_left_ns.fetch_update(Relaxed, Relaxed, less);
        }
        self.worked_ns.fetch_add(worked_ns, Relaxed);
        self.done.fetch_add(1, Relaxed);
    }

    /// Returns the number of ranges not taken yet that may still hold a hit.
    pub fn live(&self) -> u32 {
        self.live.load(Relaxed)
    }

    /// Returns the number of ranges searched.
    pub fn done(&self) -> u32 {
        self.done.load(Relaxed)
    }

    /// Returns the handler time spent so far, in ns.
    pub fn worked_ns(&self) -> u64 {
        self.worked_ns.load(Relaxed)
    }

    /// Returns the predicted time of the whole query, in ns.
    pub fn likely_ns(&self) -> u64 {
        self.likely_ns.load(Relaxed)
    }

    /// Returns the expected handler time of the ranges left, in ns: as noted, else live ranges × measured time of a range,
    /// and the prediction before the first range is done.
    pub fn left_ns(&self) -> u64 {
        match (self.noted_left_ns.load(Relaxed), self.done()) {
            (0, 0) => self.likely_ns(),
            (0, done) => self.worked_ns() / u64::from(done) * u64::from(self.live()),
            (left_ns, _) => left_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_count_of_ranges_is_not_believed() {
        let progress = Progress::new(900);
        progress.cut(8, 0);
        progress.range_taken(0);
        progress.range_taken(3);
        assert_eq!(progress.live(), 0);
    }

    #[test]
    fn what_is_left_is_predicted_and_then_measured() {
        let progress = Progress::new(900);
        assert_eq!(progress.left_ns(), 900);
        progress.cut(8, 0);
        progress.range_taken(7);
        assert_eq!(progress.left_ns(), 900);
        progress.range_done(200);
        assert_eq!(progress.left_ns(), 1400);
        // The threshold rose: four of seven cannot hold a hit any more.
        progress.range_taken(3);
        progress.range_done(400);
        assert_eq!(progress.left_ns(), 900);
    }
}
