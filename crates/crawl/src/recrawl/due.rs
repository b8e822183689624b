//! Due times: the age at which the value of a visit reaches the threshold.
use super::value::age_at_value;

/// Limits of the recrawl law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecrawlLaw {
    /// Longest age of a page, in days.
    pub age_days_max: f64,
    /// Shortest age at which a page is visited again, in days.
    pub age_days_min: f64,
    /// Value at which a page is due, until visits adapt it.
    pub threshold: f64,
    /// Revisits a day that the threshold aims at; 0 keeps the threshold as it is.
    pub revisits_a_day: f64,
}

impl Default for RecrawlLaw {
    fn default() -> RecrawlLaw {
        RecrawlLaw {
            age_days_max: 60.0,
            age_days_min: 1.0 / 24.0,
            // A page of importance 1 with a change in 10 days is due after 7.7 days.
            threshold: 1.8,
            revisits_a_day: 0.0,
        }
    }
}

impl RecrawlLaw {
    /// Days after a visit at which the page is due again.
    pub fn due_after_days(&self, m: f64, d: f64, threshold: f64) -> f64 {
        let (m, d) = (m.max(0.0), d.max(0.0));
        let age = age_at_value(m, d, threshold.max(0.0), self.age_days_max);
        age.unwrap_or(self.age_days_max)
            .clamp(self.age_days_min, self.age_days_max)
    }
}

/// Threshold of the value that keeps a budget of revisits: raised when more pages are due than the budget has, lowered
/// when fewer. It moves by at most a factor of 2 a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Value at which a page is due.
    pub value: f64,
    /// Days since it was adapted.
    days: f64,
    revisits: f64,
}

impl Threshold {
    /// Starts at the threshold of the law.
    pub fn new(law: &RecrawlLaw) -> Threshold {
        Threshold {
            value: law.threshold,
            days: 0.0,
            revisits: 0.0,
        }
    }

    /// Continues at `value`, as persisted.
    pub fn at(value: f64) -> Threshold {
        Threshold {
            value,
            days: 0.0,
            revisits: 0.0,
        }
    }

    /// Counts a page that fell due; `days` have passed since the last call.
    pub fn fell_due(&mut self, law: &RecrawlLaw, pages: u64, days: f64) {
        self.days += days.max(0.0);
        self.revisits += pages as f64;
        if law.revisits_a_day <= 0.0 || self.days < 1.0 {
            return;
        }
        // The number of visits goes with about the root of the value: its square would overshoot.
        let ratio = self.revisits / (law.revisits_a_day * self.days);
        self.value = (self.value * ratio.clamp(0.5, 2.0)).clamp(1e-9, 1e9);
        (self.days, self.revisits) = (0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_due_within_its_limits() {
        let law = RecrawlLaw::default();
        assert_eq!(law.due_after_days(1.0, 0.0, 1.8), 60.0);
        assert_eq!(law.due_after_days(0.0, 1.0, 1.8), 60.0);
        assert_eq!(law.due_after_days(1e12, 5.0, 1.8), law.age_days_min);
        let middle = law.due_after_days(1.0, 0.1, 1.8);
        assert!((7.0..8.5).contains(&middle), "{middle}");
    }

    #[test]
    fn the_threshold_follows_the_budget() {
        let law = RecrawlLaw {
            revisits_a_day: 100.0,
            ..RecrawlLaw::default()
        };
        let mut threshold = Threshold::new(&law);
        threshold.fell_due(&law, 150, 1.0);
        assert!((threshold.value - 2.7).abs() < 1e-9);
        threshold.fell_due(&law, 0, 2.0);
        assert!((threshold.value - 1.35).abs() < 1e-9);
    }
}
