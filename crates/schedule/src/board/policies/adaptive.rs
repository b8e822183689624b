//! Degree that minimizes the predicted time of a query and of those behind it.

use super::order::{lacking, oldest, take_or_help};
use crate::board::entry::Entry;
use crate::board::law::speed_up;
use crate::board::policy::{Load, Start, Turn};
use crate::board::signals::Seen;
use crate::board::state::{Board, Policy};
use crate::board::visit::Visit;

/// Work of a helper per unit of its time, as the policy assumes it.
const EFFICIENCY: f64 = 0.9;

/// Order of arrival; the degree P minimizes T(P)·(1 + K·P/N) with K queries waiting and N handlers (Jeon et al.,
/// EuroSys 2013). It is chosen at the start, and helpers stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adaptive;

impl Policy for Adaptive {
    fn name(&self) -> String {
        "adaptive".to_owned()
    }

    fn begins(&self, query: &Entry, load: &Load) -> Start {
        let likely_ns = query.progress.likely_ns() as f64;
        let ranges = (likely_ns / Start::for_all(load).range_ns as f64)
            .ceil()
            .max(1.0);
        let cost = |degree: u32| {
            let time = 1.0 / speed_up(degree, EFFICIENCY);
            time * (1.0 + load.claimable as f64 * f64::from(degree) / load.handlers as f64)
        };
        let most = (load.handlers as f64).min(ranges) as u32;
        let best = (1..=most).min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
        Start::of_degree(load, best.unwrap_or(1))
    }

    fn stays(&self, _visit: &Visit, _seen: &Seen) -> bool {
        true
    }

    fn turn(&self, _handler: usize, board: &Board) -> Turn {
        take_or_help(oldest(board), || lacking(board))
    }

    fn calls_helpers(&self) -> bool {
        true
    }
}
