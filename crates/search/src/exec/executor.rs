//! Which algorithm runs a plan on a segment?
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

mod opening;
mod shape;

use self::shape::shape;
use crate::conjunction::Conjunction;
use crate::counter::Counter;
use crate::cursor::{Cursor, DocCursor};
use crate::list::Lists;
use crate::maxscore::MaxScore;
use crate::mixed::Mixed;
use crate::phrase::Phrase;
use crate::profile::{self, Name};
use crate::union::Union;
use crate::{Plan, TopK, exhaustive, single};
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// What a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Hits,
    HitsAndCount,
    Count,
}

impl Wanted {
    pub(crate) fn is_counted(self) -> bool {
        self != Wanted::Hits
    }
    pub(crate) fn has_hits(self) -> bool {
        self != Wanted::Count
    }
}

/// A plan opened on one segment: one look-up a term, whatever the ranges.
pub(crate) struct Algorithm<'a> {
    plan: &'a Plan,
    segment: &'a Segment,
    wanted: Wanted,
    kind: Kind<'a>,
}

enum Kind<'a> {
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
enum Searching<'a> {
    /// What is required.
    Required(Box<Mixed<'a>>),
    /// What adds most; what is required is asked about last.
    Best(MaxScore<'a>),
}

impl<'a> Algorithm<'a> {
    /// Opens a plan; `None` where no document of the segment can match. Tells `top` what is known of its
    /// threshold before anything is read.
    pub(crate) fn open(
        plan: &'a Plan,
        segment: &'a Segment,
        top: &mut TopK<'a>,
        wanted: Wanted,
    ) -> Result<Option<Algorithm<'a>>, IndexError> {
        let kind = Kind::open(plan, shape(&plan.root), segment, top, wanted)?;
        // What was opened without a clause that takes too long would match other documents.
        let kind = kind.filter(|_| !top.stop().is_aborted());
        if let Some(kind) = &kind {
            kind.tell();
        }
        Ok(kind.map(|kind| Algorithm {
            plan,
            segment,
            wanted,
            kind,
        }))
    }

    /// Keeps the best documents of a range in `top`, which entered the segment; how many match, where that
    /// is wanted.
    pub(crate) fn run(&mut self, range: Range<u32>, top: &mut TopK<'a>) -> Result<u64, IndexError> {
        self.kind
            .run(self.plan, self.segment, self.wanted, range, top)
    }

    /// As long as going through about so many postings a search of all documents takes at most.
    pub(crate) fn postings(&self) -> u64 {
        self.kind.postings()
    }

    /// The most that a document of a range can score, as far as it is known without reading postings.
    pub(crate) fn bound(&mut self, range: &Range<u32>) -> f32 {
        self.kind.bound_in(DocId(range.start), DocId(range.end))
    }
}

impl<'a> Kind<'a> {
    fn run(
        &mut self,
        plan: &'a Plan,
        segment: &'a Segment,
        wanted: Wanted,
        range: Range<u32>,
        top: &mut TopK<'a>,
    ) -> Result<u64, IndexError> {
        match self {
            Kind::Single(one) => {
                if wanted.has_hits() {
                    single::search(&mut one[0], range.clone(), segment, top)?;
                }
                match wanted.is_counted() {
                    true => single::count(&mut one[0], range, segment, top.stop()),
                    false => Ok(0),
                }
            }
            Kind::All(both) if wanted == Wanted::Count => both.count(range, segment, top.stop()),
            Kind::All(both) => both.search(range, segment, top, wanted.is_counted()),
            Kind::Any {
                counting,
                searching,
            } => {
                // Hits first: of what time there is they need more than the count does.
                if let Some(searching) = searching {
                    searching.search(range.clone(), segment, top)?;
                }
                match counting {
                    Some(union) => union.count(range, segment, top.stop()),
                    None => Ok(0),
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
                let count = match searching {
                    Some(Searching::Required(mixed)) => {
                        mixed.search(range.clone(), segment, top, wanted)?
                    }
                    Some(Searching::Best(any)) => {
                        any.search(range.clone(), segment, top)?;
                        0
                    }
                    None => 0,
                };
                match counting {
                    Some(counter) => counter.count(range, segment, top.stop()),
                    None => Ok(count),
                }
            }
            Kind::Parts {
                searching,
                counting,
            } => {
                let mut count = 0;
                for part in searching {
                    part.run(plan, segment, Wanted::Hits, range.clone(), top)?;
                }
                for part in counting {
                    count += part.run(plan, segment, Wanted::Count, range.clone(), top)?;
                }
                Ok(count)
            }
            Kind::Other(cursor, walked) => {
                if range.start < *walked {
                    // Cursors go forward only.
                    **cursor = Cursor::open(plan, &plan.root, segment, top.stop())?;
                }
                *walked = range.end;
                exhaustive::search_range(cursor, range, segment, top, wanted.has_hits())
            }
        }
    }

    fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
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

    fn postings(&self) -> u64 {
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
    fn tell(&self) {
        match self {
            Kind::Single(_) => profile::runs(Name::Single),
            Kind::All(_) => profile::runs(Name::Conjunction),
            Kind::Any {
                counting,
                searching,
            } => {
                if searching.is_some() {
                    profile::runs(Name::MaxScore);
                }
                if counting.is_some() {
                    profile::runs(Name::Union);
                }
            }
            Kind::Phrase(_) => profile::runs(Name::Phrase),
            Kind::Mixed {
                searching: Some(Searching::Best(_)),
                ..
            } => profile::runs(Name::MaxScore),
            Kind::Mixed { .. } => profile::runs(Name::Mixed),
            Kind::Parts {
                searching,
                counting,
            } => searching.iter().chain(counting).for_each(Kind::tell),
            Kind::Other(..) => profile::runs(Name::Exhaustive),
        }
    }
}
