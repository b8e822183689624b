//! Simulation by recursion, the slow and obvious twin of [`super::run`].
//!
//! Queries are served in order of arrival, each part on the core that is free first (Kiefer & Wolfowitz
//! 1955). Cores are equal and of speed 1; there is no deadline and no queue limit. Tests compare the
//! two query by query. For one part and one core this is Lindley's recursion.

/// Assignment of a query's parts to cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Each part on the core that is free first.
    Shared,
    /// All parts start together and hold their cores until the last is done.
    Gang,
    /// Part p on the core of group p mod groups that is free first; core c is in group c mod groups.
    Pinned {
        /// Number of core groups.
        groups: usize,
    },
}

/// Cores with the time at which each is free.
#[derive(Debug, Clone)]
pub struct Cores {
    sharing: Sharing,
    free_ms: Vec<f64>,
}

impl Cores {
    /// Returns idle cores.
    pub fn new(cores: usize, sharing: Sharing) -> Cores {
        Cores {
            sharing,
            free_ms: vec![0.0; cores],
        }
    }

    /// Returns the response time of the next query, which arrives at `arrived_ms`.
    pub fn respond_ms(&mut self, arrived_ms: f64, parts_ms: &[f64]) -> f64 {
        match self.sharing {
            Sharing::Gang => self.respond_as_gang_ms(arrived_ms, parts_ms),
            Sharing::Shared => self.respond_by_parts_ms(arrived_ms, parts_ms, 1),
            Sharing::Pinned { groups } => self.respond_by_parts_ms(arrived_ms, parts_ms, groups),
        }
    }

    fn respond_by_parts_ms(&mut self, arrived_ms: f64, parts_ms: &[f64], groups: usize) -> f64 {
        let mut done_ms = arrived_ms;
        for (part, part_ms) in parts_ms.iter().enumerate() {
            let mut first = part % groups;
            for core in (part % groups..self.free_ms.len()).step_by(groups) {
                if self.free_ms[core] < self.free_ms[first] {
                    first = core;
                }
            }
            let end_ms = self.free_ms[first].max(arrived_ms) + part_ms;
            self.free_ms[first] = end_ms;
            done_ms = done_ms.max(end_ms);
        }
        done_ms - arrived_ms
    }

    fn respond_as_gang_ms(&mut self, arrived_ms: f64, parts_ms: &[f64]) -> f64 {
        let cores = parts_ms.len().min(self.free_ms.len());
        self.free_ms.sort_by(f64::total_cmp);
        let began_ms = self.free_ms[cores - 1].max(arrived_ms);
        let slowest_ms = parts_ms.iter().copied().fold(0.0, f64::max);
        self.free_ms[..cores].fill(began_ms + slowest_ms);
        began_ms + slowest_ms - arrived_ms
    }
}
