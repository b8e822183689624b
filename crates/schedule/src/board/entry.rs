//! A query on the board.

use super::progress::Progress;
use super::visit::Visit;
use std::sync::Arc;

/// Slot of a query; used again after the query has finished.
pub type QueryId = usize;

/// A query that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Instant of arrival, in ns.
    pub arrived_ns: u64,
    /// Deadline, in ns; `u64::MAX` for none.
    pub deadline_ns: u64,
    /// Predicted time on one handler, in ns, if there is a prediction.
    pub likely_ns: Option<u64>,
}

/// Stage of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// No handler has begun it.
    Waiting,
    /// Its first handler prepares it: no other can help yet.
    Begun,
    /// Cut into ranges.
    Open,
}

/// Help of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Help {
    /// None was asked for.
    #[default]
    None,
    /// A further handler shortened it.
    Given,
    /// A further handler would have shortened it, but it stays sequential, to tell what help costs.
    Withheld,
}

/// A query on the board.
#[derive(Debug)]
pub struct Entry {
    /// Slot.
    pub id: QueryId,
    /// Number in order of arrival.
    pub number: u64,
    /// Instant of arrival, in ns.
    pub arrived_ns: u64,
    /// Instant at which its first handler began, in ns.
    pub begun_ns: u64,
    /// Deadline, in ns; `u64::MAX` for none.
    pub deadline_ns: u64,
    /// Instant from which it must not be kept waiting, whatever the order of the policy, in ns.
    pub urgent_ns: u64,
    /// Place in the order of the policy while no handler works on it: least first.
    pub key: u64,
    /// Stage.
    pub stage: Stage,
    /// Ranges and times, shared with the handlers at work.
    pub progress: Arc<Progress>,
    /// Number of handlers that work on the query.
    pub hands: u32,
    /// Visits so far, of owners and helpers.
    pub visits: u32,
    /// Upper limit on `hands`, from the policy.
    pub degree_max: u32,
    /// Help of a query that began in one piece.
    pub help: Help,
}

impl Entry {
    /// Returns whether no handler works on it: it waits, or is parked.
    pub fn is_claimable(&self) -> bool {
        match self.stage {
            Stage::Waiting => true,
            Stage::Begun => false,
            Stage::Open => self.hands == 0,
        }
    }

    /// Returns whether a further handler can take a range of it beside those at work.
    pub fn is_helpable(&self) -> bool {
        self.stage == Stage::Open
            && self.hands > 0
            && self.hands < self.degree_max
            && self.progress.live() > 0
    }

    /// Returns the expected handler time left, in ns.
    pub fn left_ns(&self) -> u64 {
        self.progress.left_ns()
    }

    /// Returns the state of the query for a handler at work on it, at the end of a range.
    pub fn visit(&self, now_ns: u64, is_owner: bool) -> Visit {
        Visit {
            now_ns,
            is_owner,
            arrived_ns: self.arrived_ns,
            left_ns: self.left_ns(),
            join_ns: self.progress.join_ns(),
            stay_ns: u64::MAX,
            deadline_ns: self.deadline_ns,
            urgent_ns: self.urgent_ns,
        }
    }

    /// Returns the instant from which it goes before the order of the policy, in ns: it has waited for long enough, or
    /// the time to its deadline is twice its work.
    pub fn urgent_at_ns(&self) -> u64 {
        let late_ns = self
            .deadline_ns
            .saturating_sub(self.left_ns().saturating_mul(2));
        self.urgent_ns.min(late_ns)
    }
}
