//! Clock of one host or address: average fetch time, delays, the earliest allowed instant.
use super::TimeMs;

/// Limits of the politeness law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// Shortest gap between two visits, in milliseconds.
    pub gap_ms_min: u64,
    /// Longest gap that slow answers alone lead to, in milliseconds.
    pub gap_ms_max: u64,
    /// Gap as a multiple of the average fetch time.
    pub gap_per_fetch_time: f64,
    /// Longest Crawl-delay obeyed, in milliseconds; a host that wants more is parked.
    pub crawl_delay_ms_max: u64,
    /// First backoff after 429 or 503, in milliseconds.
    pub backoff_ms_first: u64,
    /// Longest backoff by doubling, in milliseconds.
    pub backoff_ms_max: u64,
    /// Longest Retry-After obeyed, in milliseconds; more counts as this.
    pub retry_after_ms_max: u64,
    /// Good answers that halve the backoff.
    pub good_answers: u8,
    /// Visits in flight on a host of our own.
    pub owned_in_flight_max: u8,
}

impl Default for Law {
    fn default() -> Law {
        Law {
            gap_ms_min: 500,
            gap_ms_max: 30_000,
            gap_per_fetch_time: 2.0,
            crawl_delay_ms_max: 300_000,
            backoff_ms_first: 1_000,
            backoff_ms_max: 3_600_000,
            retry_after_ms_max: 7 * 86_400_000,
            good_answers: 10,
            owned_in_flight_max: 8,
        }
    }
}

/// Weight of the latest fetch time in the average.
const LATEST_WEIGHT: f64 = 0.2;
/// Weight of a longer fetch time in the base latency: one quick answer must not hold a window down for ever.
const BASE_RISE: f64 = 0.01;
/// Time above the base latency that closes no window, in milliseconds: answers from memory differ by more than twice.
const SLACK_MS: f64 = 50.0;

/// Politeness state of one host or address.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pace {
    /// Exponentially weighted fetch time, in milliseconds; 0 before the first answer.
    pub average_ms: f64,
    /// Crawl-delay of robots.txt, in milliseconds.
    pub crawl_delay_ms: u64,
    /// Backoff in force, in milliseconds.
    pub backoff_ms: u64,
    /// Earliest next visit.
    pub allowed_at: TimeMs,
    /// Good answers since the backoff changed.
    good: u8,
    /// Base latency, in milliseconds: falls to the shortest fetch time, rises slowly.
    base_ms: f64,
    /// Window of visits in flight, for hosts of our own.
    window: f64,
}

impl Pace {
    /// Gap after a visit, in milliseconds. Hosts of our own have none beside their backoff.
    pub fn gap_ms(&self, law: &Law, owned: bool) -> u64 {
        if owned {
            return self.backoff_ms;
        }
        let wanted_ms = (self.average_ms * law.gap_per_fetch_time) as u64;
        let gap_ms = wanted_ms.min(law.gap_ms_max).max(law.gap_ms_min);
        gap_ms.max(self.crawl_delay_ms).max(self.backoff_ms)
    }

    /// Visits that may be in flight together.
    pub fn in_flight_max(&self, law: &Law, owned: bool) -> u32 {
        if !owned {
            return 1;
        }
        (self.window as u32).clamp(1, u32::from(law.owned_in_flight_max.max(1)))
    }

    /// Charges an answer that took `took_ms` and ended at `now`.
    pub fn answered(&mut self, law: &Law, owned: bool, took_ms: u64, now: TimeMs) {
        self.measure(law, took_ms);
        if self.backoff_ms > 0 {
            self.good += 1;
            if self.good >= law.good_answers {
                self.good = 0;
                self.backoff_ms /= 2;
                if self.backoff_ms < law.backoff_ms_first {
                    self.backoff_ms = 0;
                }
            }
        }
        self.allow_after(law, owned, now);
    }

    /// Charges an answer 429 or 503, with its Retry-After in seconds if it had one.
    pub fn throttled(&mut self, law: &Law, owned: bool, retry_after_s: Option<u64>, now: TimeMs) {
        self.good = 0;
        self.window = (self.window / 2.0).max(1.0);
        if retry_after_s.is_none() {
            let doubled_ms = self.backoff_ms.saturating_mul(2);
            let first_ms = law.backoff_ms_first.max(self.gap_ms(law, owned));
            self.backoff_ms = doubled_ms.max(first_ms).min(law.backoff_ms_max);
        }
        self.allow_after(law, owned, now);
        if let Some(seconds) = retry_after_s {
            let wait_ms = seconds.saturating_mul(1_000).min(law.retry_after_ms_max);
            self.allowed_at = self.allowed_at.max(now.plus_ms(wait_ms));
        }
    }

    /// Charges a visit without an answer: refused connection, timeout, broken body.
    pub fn failed(&mut self, law: &Law, owned: bool, took_ms: u64, now: TimeMs) {
        self.measure(law, took_ms);
        self.window = (self.window / 2.0).max(1.0);
        self.allow_after(law, owned, now);
    }

    /// Takes over the Crawl-delay of robots.txt, in seconds. False when it is longer than the law obeys.
    pub fn set_crawl_delay(&mut self, law: &Law, seconds: Option<f64>) -> bool {
        let wanted = seconds.filter(|s| s.is_finite() && *s > 0.0).unwrap_or(0.0);
        let wanted_ms = (wanted * 1_000.0).ceil() as u64;
        self.crawl_delay_ms = wanted_ms.min(law.crawl_delay_ms_max);
        wanted_ms <= law.crawl_delay_ms_max
    }

    /// Makes the next visit wait for the gap from `now` on.
    pub fn allow_after(&mut self, law: &Law, owned: bool, now: TimeMs) {
        let allowed_at = now.plus_ms(self.gap_ms(law, owned));
        self.allowed_at = self.allowed_at.max(allowed_at);
    }

    fn measure(&mut self, law: &Law, took_ms: u64) {
        let took_ms = took_ms as f64;
        if self.average_ms == 0.0 {
            self.average_ms = took_ms;
        } else {
            self.average_ms += LATEST_WEIGHT * (took_ms - self.average_ms);
        }
        if self.base_ms == 0.0 || took_ms < self.base_ms {
            self.base_ms = took_ms.max(1.0);
        } else {
            self.base_ms += BASE_RISE * (took_ms - self.base_ms);
        }
        // One more visit in flight per window of answers; half as many once latency doubles.
        let window = self.window.max(1.0);
        self.window = if took_ms > (2.0 * self.base_ms).max(self.base_ms + SLACK_MS) {
            (window / 2.0).max(1.0)
        } else {
            (window + 1.0 / window).min(f64::from(law.owned_in_flight_max.max(1)))
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_twice_the_fetch_time_within_its_limits() {
        let law = Law::default();
        for (took_ms, gap_ms) in [
            (1, 500),
            (250, 500),
            (400, 800),
            (15_000, 30_000),
            (90_000, 30_000),
        ] {
            let mut pace = Pace::default();
            pace.answered(&law, false, took_ms, TimeMs(1_000));
            assert_eq!(pace.gap_ms(&law, false), gap_ms, "{took_ms} ms");
            assert_eq!(pace.allowed_at, TimeMs(1_000 + gap_ms));
        }
    }

    #[test]
    fn crawl_delay_is_a_lower_bound_and_too_long_a_one_is_said() {
        let (law, mut pace) = (Law::default(), Pace::default());
        assert!(pace.set_crawl_delay(&law, Some(7.5)));
        assert_eq!(pace.gap_ms(&law, false), 7_500);
        assert!(pace.set_crawl_delay(&law, Some(300.0)));
        assert!(!pace.set_crawl_delay(&law, Some(300.1)));
        assert!(pace.set_crawl_delay(&law, Some(f64::NAN)) && pace.crawl_delay_ms == 0);
        assert!(pace.set_crawl_delay(&law, None));
    }

    #[test]
    fn throttling_doubles_to_an_hour_and_ten_good_answers_halve_it() {
        let (law, mut pace) = (Law::default(), Pace::default());
        let mut seen = Vec::new();
        for _ in 0..14 {
            pace.throttled(&law, false, None, TimeMs(0));
            seen.push(pace.gap_ms(&law, false) / 1_000);
        }
        assert_eq!(&seen[..5], &[1, 2, 4, 8, 16]);
        assert_eq!(seen.last(), Some(&3_600));
        for _ in 0..9 {
            pace.answered(&law, false, 10, TimeMs(0));
        }
        assert_eq!(pace.backoff_ms, 3_600_000);
        pace.answered(&law, false, 10, TimeMs(0));
        assert_eq!(pace.backoff_ms, 1_800_000);
    }

    #[test]
    fn retry_after_is_obeyed_to_the_second() {
        let (law, mut pace) = (Law::default(), Pace::default());
        pace.throttled(&law, true, Some(120), TimeMs(5));
        assert_eq!(pace.allowed_at, TimeMs(120_005));
        pace.throttled(&law, true, Some(u64::MAX), TimeMs(5));
        assert_eq!(pace.allowed_at, TimeMs(5 + law.retry_after_ms_max));
    }

    #[test]
    fn a_window_of_our_own_host_grows_to_eight_and_halves_on_latency() {
        let (law, mut pace) = (Law::default(), Pace::default());
        for _ in 0..60 {
            pace.answered(&law, true, 20, TimeMs(0));
        }
        assert_eq!(pace.in_flight_max(&law, true), 8);
        assert_eq!(pace.in_flight_max(&law, false), 1);
        pace.answered(&law, true, 69, TimeMs(0));
        assert_eq!(pace.in_flight_max(&law, true), 8, "within the slack");
        pace.answered(&law, true, 80, TimeMs(0));
        assert_eq!(pace.in_flight_max(&law, true), 4);
        assert_eq!(pace.gap_ms(&law, true), 0);
    }

    #[test]
    fn one_quick_answer_does_not_hold_the_window_down() {
        let (law, mut pace) = (Law::default(), Pace::default());
        pace.answered(&law, true, 1, TimeMs(0));
        for _ in 0..60 {
            pace.answered(&law, true, 40, TimeMs(0));
        }
        assert_eq!(pace.in_flight_max(&law, true), 8);
        // Also where answers are slow by themselves.
        for _ in 0..200 {
            pace.answered(&law, true, 400, TimeMs(0));
        }
        assert_eq!(pace.in_flight_max(&law, true), 8);
    }
}
