//! Traffic of a server of late: rate of arrivals and times of queries.

/// Weight of a new query: 1/1024.
const NEW: f64 = 1.0 / 1024.0;
/// Factor of γ at a squared variation of 1, and its bounds.
const FACTOR: f64 = 6.5;
const FACTOR_BOUNDS: [f64; 2] = [0.003, 10.0];
/// Squared variation below which the factor does not grow.
const CV2_MIN: f64 = 0.3;

/// Running means of gaps between arrivals and of the handler time of queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traffic {
    handlers: f64,
    arrived_ns: u64,
    gap_ns: f64,
    time_ns: f64,
    /// Mean of squared times, in ns².
    square_ns2: f64,
}

impl Traffic {
    pub(super) fn new(handlers: usize) -> Traffic {
        Traffic {
            handlers: handlers as f64,
            arrived_ns: 0,
            gap_ns: 0.0,
            time_ns: 0.0,
            square_ns2: 0.0,
        }
    }

    pub(super) fn arrived(&mut self, now_ns: u64) {
        let gap_ns = now_ns.saturating_sub(self.arrived_ns) as f64;
        self.arrived_ns = now_ns;
        self.gap_ns += (gap_ns - self.gap_ns) * NEW;
    }

    pub(super) fn ran(&mut self, worked_ns: u64) {
        let worked_ns = worked_ns as f64;
        self.time_ns += (worked_ns - self.time_ns) * NEW;
        self.square_ns2 += (worked_ns * worked_ns - self.square_ns2) * NEW;
    }

    /// Returns the share of handler time in use.
    pub fn load(&self) -> f64 {
        match self.gap_ns > 0.0 {
            true => self.time_ns / self.gap_ns / self.handlers,
            false => 0.0,
        }
    }

    /// Returns the mean time of queries, in ns.
    pub(super) fn mean_ns(&self) -> f64 {
        self.time_ns
    }

    /// Returns the squared coefficient of variation of the times.
    pub fn cv2(&self) -> f64 {
        match self.time_ns > 0.0 {
            true => (self.square_ns2 / (self.time_ns * self.time_ns) - 1.0).max(0.0),
            false => 0.0,
        }
    }

    /// Returns the rate at which the tail of the work in the system decays, per ns: 2 (1 − ρ) c E[S] / (ρ E[S²]), of
    /// the M/G/1 queue in heavy traffic (Kingman 1962), with `handlers` c as one server of c times the speed.
    pub fn decay_per_ns(&self) -> f64 {
        let load = self.load().clamp(0.05, 0.95);
        match self.square_ns2 > 0.0 {
            true => 2.0 * (1.0 - load) * self.handlers * self.time_ns / (load * self.square_ns2),
            false => f64::INFINITY,
        }
    }

    /// Returns the decay rate γ with which [`Boost`](super::Boost) orders queries: [`Traffic::decay_per_ns`] times 6.5 / cv⁶.
    /// γ-Boost is optimal for the far tail of light-tailed times. At the 99th percentile of heavy-tailed ones the least
    /// time left is better, to which a small γ tends; the factor was chosen by simulation of lognormal times with
    /// cv² from 0.17 to 6.7 (`docs/parallelism.md`).
    pub fn boost_per_ns(&self) -> f64 {
        let cv2 = self.cv2().max(CV2_MIN);
        let [least, most] = FACTOR_BOUNDS;
        self.decay_per_ns() * (FACTOR / cv2.powi(3)).clamp(least, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_and_variation_are_followed() {
        let mut traffic = Traffic::new(2);
        for number in 1..20_000_u64 {
            traffic.arrived(number * 1_000_000);
            // Mean 1 ms, half of them 0.5 and half 1.5 ms.
            traffic.ran(500_000 + number % 2 * 1_000_000);
        }
        assert!((traffic.load() - 0.5).abs() < 0.01, "{}", traffic.load());
        assert!((traffic.cv2() - 0.25).abs() < 0.01, "{}", traffic.cv2());
        // 2 · 0.5 · 2 · 1 / (0.5 · 1.25) = 3.2 per ms.
        assert!(
            (traffic.decay_per_ns() * 1e6 - 3.2).abs() < 0.1,
            "{traffic:?}"
        );
        assert!(traffic.boost_per_ns() > traffic.decay_per_ns());
        assert!(Traffic::new(1).boost_per_ns() > 0.0);
    }
}
