//! Executors: the algorithms that run a plan on a segment, one range of documents at a time.
//!
//! ```text
//! all of some terms        conjunction       none skipped when counted
//! any of some terms        maxscore          and, when counted, union beside it; both also without what is excluded
//! one term                 single            its count is in the dictionary
//! a phrase                 phrase
//! some required, and more  mixed             required words or phrases, beside which anything is optional or excluded
//! any of phrases, terms    the above         in parts that have no document in common
//! anything else            exhaustive
//! ```
//!
//! Each runs over a range of documents at a time, ranges in any order, with a threshold that may come
//! from outside and rise meanwhile. Each gives the hits, scores and counts of [`crate::exhaustive`].

use crate::algorithms::boolean::state::Mixed;
use crate::algorithms::maxscore::MaxScore;
use crate::algorithms::term;
use crate::block::term_scorer::Lists;
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::context::counters;
use crate::context::counters::Name;
use crate::context::wanted::Wanted;
use crate::count::difference::Counter;
use crate::count::union::{self, Union};
use crate::exhaustive::cursor::any::Cursor;
use crate::exhaustive::cursor::walk::DocCursor;
use crate::exhaustive::search;
use crate::join::conjunction::Conjunction;
use crate::join::phrase::search::Phrase;
use crate::plan::planner::Plan;
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// What runs a plan on a segment.
pub(super) enum Kind<'a> {
    /// One list.
    Single(Lists<'a>),
    All(Conjunction<'a>),
    Any {
        counting: Option<Union<'a>>,
        searching: Option<MaxScore<'a>>,
    },
    Phrase(Phrase<'a>),
    /// Counts by itself, unless there is a counter.
    Mixed {
        counting: Option<Box<Counter<'a>>>,
        searching: Option<Searching<'a>>,
    },
    /// Documents put together of parts that have none in common.
    Parts {
        searching: Vec<Kind<'a>>,
        counting: Vec<Kind<'a>>,
    },
    /// The cursor, and the end of the range that it walked last.
    Other(Box<Cursor<'a>>, u32),
}

/// Who leads the search of a combination.
pub(super) enum Searching<'a> {
    /// What is required.
    Required(Box<Mixed<'a>>),
    /// What adds most; what is required is asked about last.
    Best(MaxScore<'a>),
}

impl<'a> Kind<'a> {
    /// Collects the hits and matches that are wanted among the documents of a range.
    pub(super) fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        plan: &'a Plan,
        segment: &'a Segment,
        wanted: Wanted,
        range: Range<u32>,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        match self {
            Kind::Single(one) => {
                if wanted.has_hits() {
                    term::search(&mut one[0], range.clone(), segment, top)?;
                }
                match wanted.is_counted() {
                    true => {
                        let (stop, matches) = (top.stop(), &mut top.matches);
                        let lists = std::slice::from_mut(&mut one[0]);
                        union::collect_lists(lists, range, segment, stop, matches)
                    }
                    false => Ok(()),
                }
            }
            Kind::All(both) if wanted == Wanted::Count => {
                both.collect(range, segment, top.stop(), &mut top.matches)
            }
            Kind::All(both) => both.search(range, segment, top, wanted),
            Kind::Any {
                counting,
                searching,
            } => {
                // Hits first: of what time there is they need more than the count does.
                if let Some(searching) = searching {
                    searching.search(range.clone(), segment, top)?;
                }
                match counting {
                    Some(union) => union.collect(range, segment, top.stop(), &mut top.matches),
                    None => Ok(()),
                }
            }
            Kind::Phrase(phrase) => phrase.search(range, segment, top, wanted),
            Kind::Mixed {
                counting,
                searching,
            } => {
                let wanted = match counting {
                    Some(_) => Wanted::Hits,
                    None => wanted,
                };
                match searching {
                    Some(Searching::Required(mixed)) => {
                        mixed.search(range.clone(), segment, top, wanted)?;
                    }
                    Some(Searching::Best(any)) => any.search(range.clone(), segment, top)?,
                    None => {}
                }
                if let Some(counter) = counting {
                    let count = counter.count(range, segment, top.stop())?;
                    top.matches.count(count);
                }
                Ok(())
            }
            Kind::Parts {
                searching,
                counting,
            } => {
                for part in searching {
                    part.run(plan, segment, Wanted::Hits, range.clone(), top)?;
                }
                for part in counting {
                    part.run(plan, segment, Wanted::Count, range.clone(), top)?;
                }
                Ok(())
            }
            Kind::Other(cursor, walked) => {
                if range.start < *walked {
                    // Cursors go forward only.
                    **cursor = Cursor::open(plan, &plan.root, segment, top.stop())?;
                }
                *walked = range.end;
                search::search_range(cursor, range, segment, top, wanted)
            }
        }
    }

    pub(super) fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
        match self {
            Kind::Single(one) => one[0].bound_in(base, end),
            Kind::All(both) => both.bound_in(base, end),
            Kind::Any {
                searching: Some(searching),
                ..
            } => searching.bound_in(base, end),
            Kind::Phrase(phrase) => phrase.bound_in(base, end),
            Kind::Mixed {
                searching: Some(Searching::Required(mixed)),
                ..
            } => mixed.bound_in(base, end),
            Kind::Mixed {
                searching: Some(Searching::Best(any)),
                ..
            } => any.bound_in(base, end),
            Kind::Parts { searching, .. } if !searching.is_empty() => {
                let bounds = searching.iter_mut().map(|part| part.bound_in(base, end));
                bounds.fold(0.0, f32::max)
            }
            Kind::Any { .. } | Kind::Mixed { .. } | Kind::Parts { .. } | Kind::Other(..) => {
                f32::INFINITY
            }
        }
    }

    pub(super) fn postings(&self) -> u64 {
        /// Positions of a document, and a step of a cursor, take as long as so many postings.
        const SLOW: u64 = 16;
        let led = |lists: &Lists<'_>, each: u64| u64::from(lists[0].cost()) * each;
        match self {
            Kind::Single(one) => led(one, 1),
            Kind::All(both) => led(&both.lists, both.lists.len() as u64),
            Kind::Any {
                counting,
                searching,
            } => {
                let counted = counting.as_ref().map_or(0, Union::postings);
                counted + searching.as_ref().map_or(0, MaxScore::postings)
            }
            Kind::Phrase(phrase) => led(&phrase.words.lists, SLOW),
            Kind::Mixed {
                counting,
                searching,
            } => {
                let counted = counting.as_ref().map_or(0, |counter| counter.postings());
                counted
                    + match searching {
                        Some(Searching::Required(mixed)) => led(mixed.lists(), SLOW),
                        Some(Searching::Best(any)) => any.postings(),
                        None => 0,
                    }
            }
            Kind::Parts {
                searching,
                counting,
            } => searching.iter().chain(counting).map(Kind::postings).sum(),
            Kind::Other(cursor, _) => u64::from(cursor.cost()) * SLOW,
        }
    }

    /// Says what runs, to whoever profiles it.
    pub(super) fn tell(&self) {
        match self {
            Kind::Single(_) => counters::runs(Name::Single),
            Kind::All(_) => counters::runs(Name::Conjunction),
            Kind::Any {
                counting,
                searching,
            } => {
                if searching.is_some() {
                    counters::runs(Name::MaxScore);
                }
                if counting.is_some() {
                    counters::runs(Name::Union);
                }
            }
            Kind::Phrase(_) => counters::runs(Name::Phrase),
            Kind::Mixed {
                searching: Some(Searching::Best(_)),
                ..
            } => counters::runs(Name::MaxScore),
            Kind::Mixed { .. } => counters::runs(Name::Mixed),
            Kind::Parts {
                searching,
                counting,
            } => searching.iter().chain(counting).for_each(Kind::tell),
            Kind::Other(..) => counters::runs(Name::Exhaustive),
        }
    }
}
