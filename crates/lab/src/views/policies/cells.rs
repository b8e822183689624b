//! Figures of the runs of a policy under one load, and their text.
use super::super::jackknife;
use crate::policies::{ServedCell, ServedRound};
use load::Times;

impl ServedRound {
    /// Returns whether the server decided a percentile of this run.
    pub(super) fn is_valid_at(&self, percentile: f64) -> bool {
        self.is_whole && !self.summary.is_client_limited_at(percentile)
    }
}

/// Returns the response times of all rounds, or of all but one.
pub(super) fn merged(cell: &ServedCell, without: Option<usize>) -> Times {
    let rounds = cell.rounds.iter();
    jackknife::merged(rounds.map(|round| &round.summary.response_of_all), without)
}

/// Formats a time in µs, if it is known.
pub(super) fn cell_ms(us: Option<f64>) -> String {
    us.map_or_else(|| "-".to_owned(), super::super::ms)
}

/// Returns the headings of a table.
pub(super) fn headings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}
