//! Interface of algorithms, which run a plan, or a part of it, on one segment.

use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::context::counters::Name;
use crate::context::wanted::Wanted;
use index::{IndexError, Segment};
use std::ops::Range;

/// Algorithm with the lists of one segment open. Ranges may come in any order, each document once.
pub(crate) trait Executor<'a> {
    /// Collects the wanted hits and matches among the documents of `range`. An executor may support
    /// only one kind; the opener of plans ensures that each wanted kind has an executor.
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        wanted: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError>;

    /// Returns an upper bound on the scores in a range, without reading postings; infinity if none is
    /// known.
    fn bound(&mut self, range: &Range<u32>) -> f32;

    /// Returns the upper bound on the work of a search of all documents, in postings.
    fn cost(&self) -> u64;

    /// Returns the name in profiles.
    fn name(&self) -> Name;
}

impl<'a, E: Executor<'a>> Executor<'a> for Box<E> {
    #[inline]
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        wanted: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        (**self).run(range, segment, wanted, top)
    }

    fn bound(&mut self, range: &Range<u32>) -> f32 {
        (**self).bound(range)
    }

    fn cost(&self) -> u64 {
        (**self).cost()
    }

    fn name(&self) -> Name {
        (**self).name()
    }
}

/// Number of postings that take as long as the positions of one document, or one step of a cursor.
pub(crate) const SLOW: u64 = 16;
