//! The executors of a plan on a segment: one algorithm, or several that find hits and matches apart.
//!
//! ```text
//! all of some terms        conjunction       none skipped when counted
//! any of some terms        maxscore          and, when counted, union beside it; both also without what is excluded
//! the best of some terms   best of           a pattern, say, beside anything that is required, optional or excluded
//! such as score less       maxscore          than their sum otherwise; scored by the clause where the sum could enter
//! one term                 term              its count is in the dictionary
//! a phrase                 phrase
//! terms and rare values    values            tests of values that few documents pass lead
//! some required, and more  boolean           required words or phrases, beside which anything is optional or excluded
//! any of phrases, all      the above         in parts that have no document in common; beside them, terms
//! anything else            exhaustive
//! ```
//!
//! Each runs over a range of documents at a time, ranges in any order, with a threshold that may come
//! from outside and rise meanwhile. Each gives the hits, scores and counts of [`crate::exhaustive`].

use crate::algorithms::best_of::BestOf;
use crate::algorithms::boolean::state::Mixed;
use crate::algorithms::maxscore::MaxScore;
use crate::algorithms::term::Term;
use crate::algorithms::values::ByValues;
use crate::collect::asserting;
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::context::Context;
use crate::collect::executor::Executor;
use crate::context::counters;
use crate::context::wanted::Wanted;
use crate::count::difference::Counter;
use crate::count::union::Union;
use crate::exhaustive::search::Exhaustive;
use crate::join::conjunction::Conjunction;
use crate::join::phrase::search::Phrase;
use crate::plan::planner::Plan;
use index::{IndexError, Segment};
use std::ops::Range;

/// Executor chosen for one segment.
pub(super) enum Kind<'a> {
    Term(Term<'a>),
    Conjunction(Conjunction<'a>),
    Phrase(Phrase<'a>),
    /// Hits and matches are found apart; with nothing to count them, what searches counts too.
    Apart {
        searching: Option<Searching<'a>>,
        counting: Option<Counting<'a>>,
    },
    /// Documents put together of parts that have none in common.
    Parts {
        searching: Vec<Kind<'a>>,
        counting: Vec<Kind<'a>>,
    },
    Exhaustive(Box<Exhaustive<'a>>),
}

/// Executor that finds the hits of a combination.
pub(super) enum Searching<'a> {
    /// Led by a required clause.
    Boolean(Box<Mixed<'a>>),
    /// Led by the clauses that add most; required clauses are probed last.
    MaxScore(MaxScore<'a>),
    /// Led by a test of values that few documents pass; finds matches too.
    Values(Box<ByValues<'a>>),
    /// Led by the best of many lists, as patterns are.
    BestOf(Box<BestOf<'a>>),
}

/// Executor that finds the matches of a combination.
pub(super) enum Counting<'a> {
    Union(Union<'a>),
    Difference(Box<Counter<'a>>),
}

/// Writes out a call on whatever executor it is.
macro_rules! dispatch {
    ($of:expr, $kind:ident { $($variant:ident),+ }, $inner:ident => $call:expr) => {
        match $of {
            $($kind::$variant($inner) => $call),+
        }
    };
}

impl<'a> Kind<'a> {
    /// Opens exhaustive evaluation; `None` where no document can match.
    pub(super) fn exhaustive(
        plan: &'a Plan,
        segment: &'a Segment,
        context: &Context<'a>,
    ) -> Result<Option<Kind<'a>>, IndexError> {
        let opened = Exhaustive::open(plan, segment, context.stop())?;
        Ok(opened.map(Box::new).map(Kind::Exhaustive))
    }

    /// Collects the hits and matches that are wanted among the documents of a range.
    pub(super) fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        wanted: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        match self {
            // A count of all documents is in the dictionary; that of a part would be a walk of its own.
            Kind::Term(one) if wanted.is_counted() => {
                (top.stop()).whole(|| asserting::run(one, range, segment, wanted, top))
            }
            Kind::Term(one) => asserting::run(one, range, segment, wanted, top),
            Kind::Conjunction(all) => asserting::run(all, range, segment, wanted, top),
            Kind::Phrase(phrase) => asserting::run(phrase, range, segment, wanted, top),
            Kind::Exhaustive(cursor) => asserting::run(cursor, range, segment, wanted, top),
            Kind::Apart {
                searching,
                counting,
            } => {
                // Hits first: of what time there is they need more than the count does.
                if let Some(searching) = searching {
                    let wanted = match counting {
                        Some(_) => Wanted::Hits,
                        None => wanted,
                    };
                    dispatch!(searching, Searching { Boolean, MaxScore, Values, BestOf }, one =>
                        asserting::run(one, range.clone(), segment, wanted, top))?;
                }
                let Some(counting) = counting else {
                    return Ok(());
                };
                let run = |counting: &mut Counting<'a>, range, top: &mut Collectors<'a, H, M>| {
                    dispatch!(counting, Counting { Union, Difference }, one =>
                        asserting::run(one, range, segment, Wanted::Count, top))
                };
                if searching.is_none() {
                    return run(counting, range, top);
                }
                // Documents are counted as far as hits were searched for.
                let end = top.stop().is_split_at();
                let end = end.map_or(range.end, |at| at.clamp(range.start, range.end));
                (top.stop()).whole(|| run(counting, range.start..end, top))
            }
            Kind::Parts {
                searching,
                counting,
            } => top.stop().whole(|| {
                for part in searching {
                    part.run(range.clone(), segment, Wanted::Hits, top)?;
                }
                for part in counting {
                    part.run(range.clone(), segment, Wanted::Count, top)?;
                }
                Ok(())
            }),
        }
    }

    /// Upper bound on the scores of a range.
    pub(super) fn bound(&mut self, range: &Range<u32>) -> f32 {
        match self {
            Kind::Term(one) => one.bound(range),
            Kind::Conjunction(all) => all.bound(range),
            Kind::Phrase(phrase) => phrase.bound(range),
            Kind::Exhaustive(cursor) => cursor.bound(range),
            Kind::Apart {
                searching: Some(searching),
                ..
            } => {
                dispatch!(searching, Searching { Boolean, MaxScore, Values, BestOf }, one => one.bound(range))
            }
            Kind::Parts { searching, .. } if !searching.is_empty() => {
                let bounds = searching.iter_mut().map(|part| part.bound(range));
                bounds.fold(0.0, f32::max)
            }
            Kind::Apart { .. } | Kind::Parts { .. } => f32::INFINITY,
        }
    }

    /// Upper bound on the work of a search of all documents, in postings.
    pub(super) fn cost(&self) -> u64 {
        match self {
            Kind::Term(one) => one.cost(),
            Kind::Conjunction(all) => all.cost(),
            Kind::Phrase(phrase) => phrase.cost(),
            Kind::Exhaustive(cursor) => cursor.cost(),
            Kind::Apart {
                searching,
                counting,
            } => {
                let searched = searching.as_ref().map_or(
                    0,
                    |one| dispatch!(one, Searching { Boolean, MaxScore, Values, BestOf }, one => one.cost()),
                );
                searched
                    + counting.as_ref().map_or(
                        0,
                        |one| dispatch!(one, Counting { Union, Difference }, one => one.cost()),
                    )
            }
            Kind::Parts {
                searching,
                counting,
            } => searching.iter().chain(counting).map(Kind::cost).sum(),
        }
    }

    /// Records the names of its algorithms for profiles.
    pub(super) fn tell(&self) {
        match self {
            Kind::Term(one) => counters::runs(one.name()),
            Kind::Conjunction(all) => counters::runs(all.name()),
            Kind::Phrase(phrase) => counters::runs(phrase.name()),
            Kind::Exhaustive(cursor) => counters::runs(cursor.name()),
            Kind::Apart {
                searching,
                counting,
            } => {
                if let Some(one) = searching {
                    dispatch!(one, Searching { Boolean, MaxScore, Values, BestOf }, one => counters::runs(one.name()));
                }
                match (searching, counting) {
                    (_, Some(Counting::Union(union))) => counters::runs(union.name()),
                    // A difference beside a search is a detail of its count.
                    (None, Some(Counting::Difference(one))) => counters::runs(one.name()),
                    _ => {}
                }
            }
            Kind::Parts {
                searching,
                counting,
            } => searching.iter().chain(counting).for_each(Kind::tell),
        }
    }
}
