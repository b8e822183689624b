//! A plan opened on one segment.

use super::executor::Kind;
use super::open;
use super::shape::shape;
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::context::Context;
use crate::context::wanted::Wanted;
use crate::plan::planner::Plan;
use index::{IndexError, Segment};
use std::ops::Range;

/// A plan opened on one segment: one look-up a term, whatever the ranges.
pub(crate) struct Algorithm<'a> {
    segment: &'a Segment,
    wanted: Wanted,
    kind: Kind<'a>,
}

impl<'a> Algorithm<'a> {
    /// Opens a plan; `None` where no document of the segment can match. Tells `context` what is known of its
    /// threshold before anything is read.
    pub(crate) fn open(
        plan: &'a Plan,
        segment: &'a Segment,
        context: &mut Context<'a>,
        wanted: Wanted,
    ) -> Result<Option<Algorithm<'a>>, IndexError> {
        let kind = open::open(plan, shape(&plan.root), segment, context, wanted)?;
        // What was opened without a clause that takes too long would match other documents.
        let kind = kind.filter(|_| !context.stop().is_aborted());
        if let Some(kind) = &kind {
            kind.tell();
        }
        Ok(kind.map(|kind| Algorithm {
            segment,
            wanted,
            kind,
        }))
    }

    /// Collects the hits and matches of a range; the collectors entered the segment.
    pub(crate) fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        self.kind.run(range, self.segment, self.wanted, top)
    }

    /// Upper bound on the work of a search of all documents, in postings.
    pub(crate) fn postings(&self) -> u64 {
        self.kind.cost()
    }

    /// Upper bound on the scores of a range, as far as it is known without reading postings.
    pub(crate) fn bound(&mut self, range: &Range<u32>) -> f32 {
        self.kind.bound(range)
    }
}
