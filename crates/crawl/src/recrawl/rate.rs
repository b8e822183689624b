//! Change rates from revisits that found a page changed or unchanged (Cho & Garcia-Molina 2003).

/// Revisits of all pages of a host, the prior of each page's rate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostRate {
    /// Revisits.
    pub revisits: u64,
    /// Revisits that found the text unchanged.
    pub unchanged: u64,
    /// Sum of the gaps before them, in days.
    pub gaps_days: f64,
}

/// Rate assumed for a host without revisits: a change in 10 days.
const UNKNOWN_RATE: f64 = 0.1;
/// Weight of the host's mean, in visits.
const HOST_WEIGHT: f64 = 1.0;
/// Upper limit on an estimated rate, in changes a day.
const RATE_MAX: f64 = 24.0;

impl HostRate {
    /// Counts a revisit.
    pub fn revisited(&mut self, unchanged: bool, gap_days: f64) {
        self.revisits += 1;
        self.unchanged += u64::from(unchanged);
        self.gaps_days += gap_days.max(0.0);
    }

    /// Mean changes a day on the host.
    pub fn rate(&self) -> f64 {
        if self.revisits == 0 || self.gaps_days <= 0.0 {
            return UNKNOWN_RATE;
        }
        let (unchanged, revisits) = (self.unchanged as f64, self.revisits as f64);
        let observed = -((unchanged + 0.5) / (revisits + 0.5)).ln() * revisits / self.gaps_days;
        // Few revisits say little: the assumption counts as ten of them.
        let weight = revisits / (revisits + 10.0);
        (weight * observed + (1.0 - weight) * UNKNOWN_RATE).min(RATE_MAX)
    }
}

/// Changes a day of a page whose `revisits`, on average `mean_gap_days` apart, found it `unchanged` times the same.
/// The host's mean counts as one more visit.
pub fn change_rate(unchanged: u32, revisits: u32, mean_gap_days: f64, host_rate: f64) -> f64 {
    if revisits == 0 || mean_gap_days <= 0.0 {
        return host_rate;
    }
    let prior_unchanged = HOST_WEIGHT * (-host_rate * mean_gap_days).exp();
    let unchanged = f64::from(unchanged.min(revisits)) + prior_unchanged;
    let revisits = f64::from(revisits) + HOST_WEIGHT;
    // The prior already keeps the logarithm finite; a small constant keeps it so where it underflows.
    (-((unchanged + 1e-6) / (revisits + 1e-6)).ln() / mean_gap_days).clamp(0.0, RATE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_approach_the_true_rate() {
        for rate in [0.02_f64, 0.1, 0.5] {
            let revisits = 10_000;
            let unchanged = (f64::from(revisits) * (-rate * 3.0).exp()) as u32;
            let found = change_rate(unchanged, revisits, 3.0, 0.1);
            assert!((found / rate - 1.0).abs() < 0.02, "{found} for {rate}");
        }
    }

    #[test]
    fn without_revisits_the_host_decides_and_few_move_little() {
        assert_eq!(change_rate(0, 0, 0.0, 0.3), 0.3);
        let once = change_rate(1, 1, 10.0, 0.3);
        assert!(once < 0.3 && once > 0.0);
        assert!(change_rate(0, 1, 10.0, 0.3) > once);
        assert_eq!(HostRate::default().rate(), UNKNOWN_RATE);
    }
}
