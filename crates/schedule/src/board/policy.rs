//! Decisions of scheduling policies, and what they are based on.

use super::entry::QueryId;

/// Ranges of a query at most.
pub const RANGES_MAX: u32 = 256;
/// Wanted time of a range, in ns: the 99th percentile is flat from 90 to 300 µs on up to four handlers.
const RANGE_NS: u64 = 150_000;
/// Wanted time of a range, in ns, where more than [`MANY`] handlers share queries.
const RANGE_MANY_NS: u64 = 100_000;
const MANY: usize = 8;

/// Time between two instants at which a search in one piece hears requests for a part, in ns: that of 32 blocks of postings.
pub const BLOCK_NS: u64 = 32_000;
/// Time of a visit before which requests for a half are not heard, in ns: shorter ones end before a helper has come.
pub const UNHEARD_NS: u64 = 64_000;

/// Load of the server at the start of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Queries that wait or are parked, without this one.
    pub claimable: usize,
    /// Idle handlers, without the one that begins.
    pub idle: usize,
    /// Handlers.
    pub handlers: usize,
}

/// Decision at the start of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Wanted time of a range, in ns; `u64::MAX` leaves the query in one piece.
    pub range_ns: u64,
    /// Handlers at once, at most.
    pub degree_max: u32,
}

impl Start {
    /// A query in one piece, for one handler.
    pub const WHOLE: Start = Start {
        range_ns: u64::MAX,
        degree_max: 1,
    };

    /// Returns the start of a query in one piece, of which its handler gives parts away where the policy says so
    /// ([`Policy::gives`](super::Policy::gives)).
    pub(super) fn on_request(load: &Load) -> Start {
        Start {
            range_ns: u64::MAX,
            degree_max: load.handlers as u32,
        }
    }

    /// Returns whether a query in one piece may be shared later.
    pub fn is_on_request(&self) -> bool {
        self.range_ns == u64::MAX && self.degree_max > 1
    }

    /// Returns the start of a query in ranges, for `degree_max` handlers at most.
    pub(super) fn in_ranges(load: &Load, degree_max: u32) -> Start {
        let range_ns = match load.handlers > MANY {
            true => RANGE_MANY_NS,
            false => RANGE_NS,
        };
        Start {
            range_ns,
            degree_max,
        }
    }

    /// Returns the start of a query in ranges, for all handlers.
    pub(super) fn for_all(load: &Load) -> Start {
        Start::in_ranges(load, load.handlers as u32)
    }

    /// Returns the start of a query that stays with the handlers it gets: whole for one.
    pub(super) fn of_degree(load: &Load, degree: u32) -> Start {
        match degree {
            0 | 1 => Start::WHOLE,
            _ => Start::in_ranges(load, degree),
        }
    }

    /// Returns the number of ranges of a query that takes `high_ns` at most.
    pub fn ranges(&self, high_ns: u64) -> u32 {
        match self.range_ns {
            u64::MAX => 1,
            range_ns => (high_ns.div_ceil(range_ns.max(1))).clamp(1, u64::from(RANGES_MAX)) as u32,
        }
    }
}

/// What a handler gives away of the piece that it searches, between two of its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Give {
    /// Nothing: it goes on.
    Nothing,
    /// The upper half of what is left, if a further handler shortens the query.
    Half,
    /// All that is left: it leaves.
    All,
}

/// Next action of a free handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Begins a waiting query.
    Begin(QueryId),
    /// Resumes a parked query.
    Resume(QueryId),
    /// Takes ranges of a query beside its handlers.
    Help(QueryId),
    /// Rests until it is woken.
    Rest,
}
