//! Rate of a count over the last seconds.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Time that the rate covers.
const WINDOW: Duration = Duration::from_secs(10);

/// Samples of a count that only grows, each with its time.
#[derive(Debug, Default)]
pub(super) struct RecentRate(VecDeque<(Instant, u64)>);

impl RecentRate {
    /// Adds a sample. Returns the growth per second since the sample at the beginning of the window; 0 at the first one.
    pub(super) fn sample(&mut self, at: Instant, count: u64) -> f64 {
        self.0.push_back((at, count));
        // One sample at or before the beginning of the window stays, so that the window is covered whole.
        while self.0.len() > 2 && at.duration_since(self.0[1].0) >= WINDOW {
            self.0.pop_front();
        }
        let (first, before) = self.0[0];
        let seconds = at.duration_since(first).as_secs_f64();
        match seconds > 0.0 {
            true => count.saturating_sub(before) as f64 / seconds,
            false => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ten_seconds_count() {
        let mut rate = RecentRate::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(rate.sample(start, 0), 0.0);
        assert_eq!(rate.sample(at(2), 100), 50.0);
        // 100 pages a second for as long as the window, then none: the fast seconds leave it.
        for second in 3..=13 {
            rate.sample(at(second), 100 * (second - 1));
        }
        assert_eq!(rate.sample(at(14), 1_300), 100.0);
        assert_eq!(rate.sample(at(19), 1_300), 50.0);
        assert_eq!(rate.sample(at(24), 1_300), 0.0);
        assert_eq!(rate.0.len(), 3);
    }
}
