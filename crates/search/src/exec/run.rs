//! A plan that is borrowed, on segments one after another on one thread: collectors fed directly.
//!
//! Servers and the engine search by [`SearchTask`](crate::SearchTask), which owns what it needs and can be cancelled.
//! Here a caller brings collectors of its own, or measures algorithms alone.
//!
//! Hits, scores and counts are those of the slow twin, [`crate::exhaustive`].

use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::match_count::MatchCount;
use crate::collect::topk::hit::ScoredHit;
use crate::collect::topk::kept::TopK;
use crate::exec::walk::{Coverage, Few, Piece, Walk, walk};
use crate::plan::planner::Plan;
use index::{IndexError, Segment};
use std::sync::Arc;

impl Plan {
    /// Returns an empty collector of the `k` best hits of the plan.
    pub fn top(&self, k: usize) -> TopK<'_> {
        TopK::new(k).with_priors(&self.priors)
    }
}

/// Result of a search, which may have been cut.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Searched {
    /// The k best hits of the documents that were searched, best first.
    pub hits: Vec<ScoredHit>,
    /// Number of matching documents: exact where `count_is_exact`, otherwise a lower bound.
    pub matches_count: u64,
    /// Whether every match was counted.
    pub count_is_exact: bool,
    /// Documents that `hits` were chosen from, deleted ones included.
    pub documents_searched: u64,
    /// Documents of the segments, deleted ones included.
    pub documents_count: u64,
}

/// Returns the k best hits of some segments, best first, and the exact count of matching documents.
pub fn search_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    k: usize,
) -> Result<(Vec<ScoredHit>, u64), IndexError> {
    hits_and_count(plan, &few(segments), k)
}

/// Returns the k best hits of some segments, best first, without counting the rest: what cannot be among them
/// need not be looked at.
pub fn top_of_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    k: usize,
) -> Result<Vec<ScoredHit>, IndexError> {
    match k {
        0 => Ok(Vec::new()),
        _ => hits(plan, &few(segments), k),
    }
}

/// Returns the exact count of matching documents of some segments.
pub fn count_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
) -> Result<u64, IndexError> {
    count(plan, &few(segments))
}

/// Feeds collectors with the hits and the matches of some segments, one after another.
///
/// The algorithms are compiled for the collectors, in the crate that calls: servers and measurements use those of
/// [`search_partition`] and [`SearchTask`](crate::SearchTask), which are compiled here.
pub fn collect<'a: 'p, 'p, H: HitCollector<'p>, M: MatchCollector>(
    plan: &'p Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    top: &mut Collectors<'p, H, M>,
) -> Result<Coverage, IndexError> {
    feed(plan, &few(segments), top)
}

fn few<'a>(segments: impl IntoIterator<Item = &'a Arc<Segment>>) -> Few<&'a Segment> {
    segments.into_iter().map(|segment| &**segment).collect()
}

// Without type parameters, so that the algorithms are compiled in this crate, once, and not in each that searches.

fn hits_and_count(
    plan: &Plan,
    segments: &[&Segment],
    k: usize,
) -> Result<(Vec<ScoredHit>, u64), IndexError> {
    let mut top = Collectors::new(plan.top(k), MatchCount::<true>::default());
    feed(plan, segments, &mut top)?;
    Ok((top.hits.into_sorted(), top.matches.0))
}

fn hits(plan: &Plan, segments: &[&Segment], k: usize) -> Result<Vec<ScoredHit>, IndexError> {
    let mut top = Collectors::new(plan.top(k), MatchCount::<false>::default());
    feed(plan, segments, &mut top)?;
    Ok(top.hits.into_sorted())
}

fn count(plan: &Plan, segments: &[&Segment]) -> Result<u64, IndexError> {
    let mut top = Collectors::new((), MatchCount::<true>::default());
    feed(plan, segments, &mut top)?;
    Ok(top.matches.0)
}

fn feed<'p, H: HitCollector<'p>, M: MatchCollector>(
    plan: &'p Plan,
    segments: &[&'p Segment],
    top: &mut Collectors<'p, H, M>,
) -> Result<Coverage, IndexError> {
    if plan.matches_nothing() {
        let documents = segments.iter().map(|one| u64::from(one.documents_count()));
        return Ok(Coverage::whole(documents.sum()));
    }
    let mut pieces = (0..).zip(segments).map(|(number, segment)| Piece {
        segment: number,
        documents: 0..segment.documents_count(),
        bound: f32::INFINITY,
    });
    let opened = &mut Few::new();
    walk(plan, segments, Walk::InOrder, opened, &mut pieces, top)
}
