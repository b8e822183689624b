//! Script of the events of a board, with the decisions that it took.
//!
//! A server or a simulation records what happened to its board. [`play`] gives the same events to another board, whose
//! decisions must be the same: a board has no clock, no threads and no chance. A record is written as a line:
//!
//! ```text
//! 120.0 us  arrive likely 300.0 us -> query 0
//! 152.0 us  turn of 0 -> begin 0
//! 152.0 us  start 0 likely 310.0 us -> ranges of 150.0 us, degree 2
//! 152.0 us  open 0 in 3 ranges
//! 152.0 us  take of 0, live 2
//! 302.0 us  done by 0 in 150.0 us -> stays
//! 452.0 us  leave by 0 -> parked
//! ```

use super::entry::{Arrival, QueryId};
use super::events::Left;
use super::policy::{Start, Turn};
use super::state::Board;
use std::fmt;

/// Something that happens to a board. Instants and times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// [`Board::arrive`].
    Arrive(Arrival),
    /// [`Board::turn`].
    Turn {
        /// Instant of the event, in ns.
        now_ns: u64,
        /// The free handler.
        handler: usize,
    },
    /// [`Board::start`].
    Start {
        /// The begun query.
        query: QueryId,
        /// Its predicted time on one handler.
        likely_ns: u64,
    },
    /// [`Board::open`].
    Open {
        /// Instant of the event, in ns.
        now_ns: u64,
        /// The begun query.
        query: QueryId,
        /// Number of its ranges.
        ranges: u32,
        /// Time that a handler takes before its first range.
        join_ns: u64,
    },
    /// A handler takes a range.
    RangeTaken {
        /// The open query.
        query: QueryId,
        /// Ranges left that may hold a hit.
        live: u32,
    },
    /// A handler has searched a range, and asks whether it stays.
    RangeDone {
        /// Instant of the event, in ns.
        now_ns: u64,
        /// The handler at work.
        handler: usize,
        /// Time that the range took.
        worked_ns: u64,
    },
    /// [`Board::shares`].
    Share {
        /// Instant of the event, in ns.
        now_ns: u64,
        /// The query that is asked for.
        query: QueryId,
        /// Expected handler time left, in ns.
        left_ns: u64,
    },
    /// [`Board::leave`].
    Leave {
        /// Instant of the event, in ns.
        now_ns: u64,
        /// The handler at work.
        handler: usize,
        /// Whether all ranges are taken.
        is_exhausted: bool,
    },
    /// [`Board::withdraw`].
    Withdraw {
        /// The query.
        query: QueryId,
    },
    /// [`Board::wake`], or [`Board::wake_handler`] of one handler.
    Wake {
        /// Instant of the event, in ns.
        now_ns: u64,
        /// The only handler that may be woken; `None` for any.
        handler: Option<usize>,
    },
    /// [`Board::swap`].
    Swap {
        /// Instant of the event, in ns.
        now_ns: u64,
    },
}

/// Decision of the board on an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The event needed no decision.
    Noted,
    /// The slot of the query that arrived.
    Slot(QueryId),
    /// Next action of the free handler.
    Turn(Turn),
    /// Division of the query into ranges.
    Start(Start),
    /// Whether the handler stays at its query.
    Stays(bool),
    /// Whether a half is given away.
    Shares(bool),
    /// State of the query that the handler has left.
    Left(Left),
    /// Whether the query was withdrawn.
    Withdrawn(bool),
    /// The handlers to wake.
    Woken(Vec<usize>),
}

/// An event and the decision on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The event.
    pub event: Event,
    /// The decision.
    pub decision: Decision,
}

/// Gives an event to a board. Returns its decision.
///
/// # Panics
/// If the event names a handler that the board does not have.
pub fn play(board: &mut Board, event: Event) -> Decision {
    match event {
        Event::Arrive(arrival) => Decision::Slot(board.arrive(arrival)),
        Event::Turn { now_ns, handler } => Decision::Turn(board.turn(now_ns, handler)),
        Event::Start { query, likely_ns } => Decision::Start(board.start(query, likely_ns)),
        Event::Open {
            now_ns,
            query,
            ranges,
            join_ns,
        } => {
            board.open(now_ns, query, ranges, join_ns);
            Decision::Noted
        }
        Event::RangeTaken { query, live } => {
            if let Some(entry) = board.query(query) {
                entry.progress.range_taken(live);
            }
            Decision::Noted
        }
        Event::RangeDone {
            now_ns,
            handler,
            worked_ns,
        } => Decision::Stays(range_done(board, now_ns, handler, worked_ns)),
        Event::Share {
            now_ns,
            query,
            left_ns,
        } => Decision::Shares(board.shares(now_ns, query, left_ns)),
        Event::Leave {
            now_ns,
            handler,
            is_exhausted,
        } => Decision::Left(board.leave(now_ns, handler, is_exhausted)),
        Event::Withdraw { query } => Decision::Withdrawn(board.withdraw(query)),
        Event::Wake { now_ns, handler } => Decision::Woken(match handler {
            None => board.wake(now_ns).into_iter().collect(),
            Some(handler) => match board.wake_handler(now_ns, handler) {
                true => vec![handler],
                false => Vec::new(),
            },
        }),
        Event::Swap { now_ns } => Decision::Woken(board.swap(now_ns)),
    }
}

/// Notes a searched range. Returns whether the handler stays at its query, as the policy wants it.
fn range_done(board: &Board, now_ns: u64, handler: usize, worked_ns: u64) -> bool {
    let state = &board.handlers()[handler];
    let Some(entry) = state.query.and_then(|id| board.query(id)) else {
        return false;
    };
    entry.progress.range_done(worked_ns);
    let visit = entry.visit(now_ns, state.is_owner);
    board.policy().stays(&visit, &board.signals().seen(handler))
}

/// Returns the events with the decisions of a board on them.
pub fn play_all(board: &mut Board, events: impl IntoIterator<Item = Event>) -> Vec<Record> {
    let record = |event| Record {
        event,
        decision: play(board, event),
    };
    events.into_iter().map(record).collect()
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.event, self.decision)
    }
}

/// A time in µs with one decimal.
struct Us(u64);

impl fmt::Display for Us {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.0 / 100;
        write!(f, "{}.{} us", tenths / 10, tenths % 10)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Event::Arrive(arrival) => {
                write!(f, "{}  arrive", Us(arrival.arrived_ns))?;
                if let Some(likely_ns) = arrival.likely_ns {
                    write!(f, " likely {}", Us(likely_ns))?;
                }
                match arrival.deadline_ns {
                    u64::MAX => Ok(()),
                    deadline_ns => write!(f, " deadline {}", Us(deadline_ns)),
                }
            }
            Event::Turn { now_ns, handler } => write!(f, "{}  turn of {handler}", Us(now_ns)),
            Event::Start { query, likely_ns } => {
                write!(f, "start {query} likely {}", Us(likely_ns))
            }
            Event::Open {
                now_ns,
                query,
                ranges,
                join_ns,
            } => {
                write!(f, "{}  open {query} in {ranges} ranges", Us(now_ns))?;
                match join_ns {
                    0 => Ok(()),
                    _ => write!(f, ", joined in {}", Us(join_ns)),
                }
            }
            Event::RangeTaken { query, live } => write!(f, "take of {query}, live {live}"),
            Event::RangeDone {
                now_ns,
                handler,
                worked_ns,
            } => write!(f, "{}  done by {handler} in {}", Us(now_ns), Us(worked_ns)),
            Event::Share {
                now_ns,
                query,
                left_ns,
            } => write!(f, "{}  share {query}, left {}", Us(now_ns), Us(left_ns)),
            Event::Leave {
                now_ns,
                handler,
                is_exhausted,
            } => {
                let rest = if is_exhausted { ", none left" } else { "" };
                write!(f, "{}  leave by {handler}{rest}", Us(now_ns))
            }
            Event::Withdraw { query } => write!(f, "withdraw {query}"),
            Event::Wake { now_ns, handler } => match handler {
                None => write!(f, "{}  wake", Us(now_ns)),
                Some(handler) => write!(f, "{}  wake {handler}", Us(now_ns)),
            },
            Event::Swap { now_ns } => write!(f, "{}  swap", Us(now_ns)),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decision::Noted => Ok(()),
            Decision::Slot(id) => write!(f, " -> query {id}"),
            Decision::Turn(Turn::Begin(id)) => write!(f, " -> begin {id}"),
            Decision::Turn(Turn::Resume(id)) => write!(f, " -> resume {id}"),
            Decision::Turn(Turn::Help(id)) => write!(f, " -> help {id}"),
            Decision::Turn(Turn::Rest) => write!(f, " -> rest"),
            Decision::Start(start) if start.range_ns == u64::MAX => {
                write!(f, " -> whole, degree {}", start.degree_max)
            }
            Decision::Start(start) => {
                let range = Us(start.range_ns);
                write!(f, " -> ranges of {range}, degree {}", start.degree_max)
            }
            Decision::Stays(true) => write!(f, " -> stays"),
            Decision::Stays(false) => write!(f, " -> leaves"),
            Decision::Shares(true) => write!(f, " -> a half"),
            Decision::Shares(false) => write!(f, " -> nothing"),
            Decision::Left(Left::Others) => write!(f, " -> others go on"),
            Decision::Left(Left::Parked) => write!(f, " -> parked"),
            Decision::Left(Left::Finished) => write!(f, " -> finished"),
            Decision::Withdrawn(is_gone) => {
                let text = if *is_gone { "gone" } else { "kept" };
                write!(f, " -> {text}")
            }
            Decision::Woken(handlers) if handlers.is_empty() => write!(f, " -> nobody"),
            Decision::Woken(handlers) => {
                let numbers: Vec<String> = handlers.iter().map(usize::to_string).collect();
                write!(f, " -> {}", numbers.join(", "))
            }
        }
    }
}
