//! Stays of handlers at a traced search, and the schedule made of them.

use crate::handlers::shared_board::Visiting;
use crate::handlers::thread_times::ThreadTimes;
use schedule::board::Turn;
use std::time::Instant;
use wire::schedule::{End, Role, Visit};

/// Stay of a handler at a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stay {
    pub(super) handler: usize,
    pub(super) turn: Turn,
    /// Number among the stays, in the order in which handlers came.
    pub(super) number: u32,
    pub(super) start: Instant,
    pub(super) end: Instant,
    pub(super) ranges_searched: u64,
    pub(super) ranges_skipped: usize,
    pub(super) times: Option<ThreadTimes>,
    /// Whether its deadline or its client ended it.
    pub(super) is_stopped: bool,
    /// Whether no range was left when it ended.
    pub(super) is_exhausted: bool,
}

impl Stay {
    /// Returns the stay of a guest that planned a search and left it whole, as it started.
    pub(super) fn of_guest(handler: usize, visiting: &Visiting, started: Instant) -> Stay {
        Stay {
            handler,
            turn: visiting.turn,
            number: visiting.number,
            start: started,
            end: started,
            ranges_searched: 0,
            ranges_skipped: 0,
            times: None,
            is_stopped: false,
            is_exhausted: false,
        }
    }
}

/// Returns the visits of a search that began at an instant, in the order in which handlers came.
pub(super) fn visits(mut stays: Vec<Stay>, began: Instant) -> Vec<Visit> {
    stays.sort_by_key(|stay| stay.number);
    let mut visits: Vec<Visit> = stays.iter().map(|stay| visit(stay, began)).collect();
    // Each resumption follows a time without handlers: all that came before had left, and the last one had parked the
    // search. (Starts do not tell: a thread may lose its CPU between the board and its first instruction.)
    for (resumed, stay) in stays.iter().enumerate() {
        let last = (0..resumed).max_by_key(|&before| stays[before].end);
        if let (Turn::Resume(_), Some(last)) = (stay.turn, last) {
            visits[last].end = End::Parked;
        }
    }
    visits
}

fn visit(stay: &Stay, began: Instant) -> Visit {
    let us = |from: Instant, to: Instant| to.saturating_duration_since(from).as_micros() as u64;
    Visit {
        handler: u32::try_from(stay.handler).unwrap_or(u32::MAX),
        role: match stay.turn {
            Turn::Begin(_) | Turn::Rest => Role::Begins,
            Turn::Resume(_) => Role::Resumes,
            Turn::Help(_) => Role::Helps,
        },
        end: match (stay.is_stopped, stay.is_exhausted) {
            (true, _) => End::Stopped,
            (_, true) => End::Finished,
            (_, false) => End::Left,
        },
        start_us: us(began, stay.start),
        duration_us: us(stay.start.max(began), stay.end),
        ranges_searched: u32::try_from(stay.ranges_searched).unwrap_or(u32::MAX),
        ranges_skipped: u32::try_from(stay.ranges_skipped).unwrap_or(u32::MAX),
        cpu_us: stay.times.map(|times| times.cpu.as_micros() as u64),
        run_queue_us: stay.times.map(|times| times.run_queue.as_micros() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_leaves_last_before_a_resumption_has_parked() {
        let began = Instant::now();
        let stay = |handler, number, turn, from_us, to_us, is_exhausted| Stay {
            handler,
            number,
            turn,
            start: began + Duration::from_micros(from_us),
            end: began + Duration::from_micros(to_us),
            ranges_searched: 1,
            ranges_skipped: 0,
            times: None,
            is_stopped: false,
            is_exhausted,
        };
        let stays = vec![
            stay(1, 2, Turn::Help(0), 10, 40, false),
            stay(0, 1, Turn::Begin(0), 0, 30, false),
            // It lost its CPU before it began; meanwhile others did the rest.
            stay(2, 3, Turn::Resume(0), 90, 120, true),
            stay(3, 4, Turn::Help(0), 50, 80, true),
        ];
        let ends: Vec<_> = visits(stays, began)
            .into_iter()
            .map(|one| {
                (
                    one.handler,
                    one.role,
                    one.end,
                    one.start_us,
                    one.duration_us,
                )
            })
            .collect();
        let expected = [
            (0, Role::Begins, End::Left, 0, 30),
            (1, Role::Helps, End::Parked, 10, 30),
            (2, Role::Resumes, End::Finished, 90, 30),
            (3, Role::Helps, End::Finished, 50, 30),
        ];
        assert_eq!(ends, expected);
    }
}
