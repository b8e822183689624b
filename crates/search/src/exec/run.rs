//! A plan on a partition: its segments one after another, on one thread.
//!
//! Hits, scores and counts are those of the slow twin, [`crate::exhaustive`].

use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::match_count::MatchCount;
use crate::collect::topk::hit::ScoredHit;
use crate::collect::topk::kept::TopK;
use crate::context::cancel::Stop;
use crate::exec::algorithm::Algorithm;
use crate::plan::planner::Plan;
use index::{IndexError, LookUpStep, Segment};
use smallvec::SmallVec;
use std::sync::Arc;

/// Indexes of more segments are few.
const SEGMENTS_FEW: usize = 16;

/// What a search found, as far as it came.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Searched {
    /// The k best hits of the documents that were searched, best first.
    pub hits: Vec<ScoredHit>,
    /// How many documents match: all, where `count_is_exact`, otherwise at least so many.
    pub matches_count: u64,
    /// Whether every match was counted.
    pub count_is_exact: bool,
    /// Documents that `hits` were chosen from, deleted ones included.
    pub documents_searched: u64,
    /// Documents of the segments, deleted ones included.
    pub documents_count: u64,
}

/// The documents that a search came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Documents that hits were chosen from, deleted ones included.
    pub documents_searched: u64,
    /// Documents of the segments, deleted ones included.
    pub documents_count: u64,
}

/// The k best hits of some segments, best first, and the exact count of matching documents.
pub fn search_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    k: usize,
) -> Result<(Vec<ScoredHit>, u64), IndexError> {
    let mut top = Collectors::new(TopK::new(k), MatchCount::<true>::default());
    collect(plan, segments, &mut top)?;
    Ok((top.hits.into_sorted(), top.matches.0))
}

/// Searches some segments until it is done or `stop` ends it. Without `counted` only those matches are
/// counted that are looked at anyway.
pub fn search_until<'a: 'p, 'p>(
    plan: &'p Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    k: usize,
    counted: bool,
    stop: Stop<'p>,
) -> Result<Searched, IndexError> {
    let stop = &stop;
    match (k, counted) {
        (0, _) => search_with::<(), true>(plan, segments, (), stop, |()| Vec::new()),
        (_, true) => search_with::<_, true>(plan, segments, TopK::new(k), stop, TopK::into_sorted),
        (_, false) => {
            search_with::<_, false>(plan, segments, TopK::new(k), stop, TopK::into_sorted)
        }
    }
}

fn search_with<'a: 'p, 'p, H: HitCollector<'p>, const EXACT: bool>(
    plan: &'p Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    hits: H,
    stop: &'p Stop<'p>,
    sorted: impl FnOnce(H) -> Vec<ScoredHit>,
) -> Result<Searched, IndexError> {
    let mut top = Collectors::new(hits, MatchCount::<EXACT>::default()).until(stop);
    let coverage = collect(plan, segments, &mut top)?;
    let count_is_exact = EXACT && !top.stop().count_is_cut();
    let hits = sorted(top.hits);
    Ok(Searched {
        matches_count: top.matches.0.max(hits.len() as u64),
        hits,
        count_is_exact,
        documents_searched: coverage.documents_searched,
        documents_count: coverage.documents_count,
    })
}

/// The k best hits of some segments, best first, without counting the rest: what cannot be among them
/// need not be looked at.
pub fn top_of_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    k: usize,
) -> Result<Vec<ScoredHit>, IndexError> {
    let mut top = Collectors::new(TopK::new(k), MatchCount::<false>::default());
    if k > 0 {
        collect(plan, segments, &mut top)?;
    }
    Ok(top.hits.into_sorted())
}

/// The exact count of matching documents of some segments.
pub fn count_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
) -> Result<u64, IndexError> {
    let mut top = Collectors::new((), MatchCount::<true>::default());
    collect(plan, segments, &mut top)?;
    Ok(top.matches.0)
}

/// Feeds collectors with the hits and the matches of some segments, one after another.
pub fn collect<'a: 'p, 'p, H: HitCollector<'p>, M: MatchCollector>(
    plan: &'p Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    top: &mut Collectors<'p, H, M>,
) -> Result<Coverage, IndexError> {
    let mut found = Coverage::default();
    let mut segments = segments.into_iter();
    if plan.matches_nothing() {
        found.documents_count = segments.map(|one| u64::from(one.documents_count())).sum();
        found.documents_searched = found.documents_count;
        return Ok(found);
    }
    let (first, second) = (segments.next(), segments.next());
    let (Some(first), Some(second)) = (first, second) else {
        if let Some(segment) = first {
            search_next(plan, segment, top, &mut found)?;
        }
        return Ok(found);
    };
    let segments: SmallVec<[&Segment; SEGMENTS_FEW]> = [first, second]
        .into_iter()
        .chain(segments)
        .map(|segment| &**segment)
        .collect();
    search_many(plan, &segments, top, &mut found)?;
    Ok(found)
}

/// Searches several segments. What they will read is asked for early: the dictionaries of all at once, and
/// the lists of one while the one before is searched.
fn search_many<'a: 'p, 'p, H: HitCollector<'p>, M: MatchCollector>(
    plan: &'p Plan,
    segments: &[&'a Segment],
    top: &mut Collectors<'p, H, M>,
    found: &mut Coverage,
) -> Result<(), IndexError> {
    for step in LookUpStep::ALL {
        plan.each_word(|word| {
            for segment in segments {
                word.prefetch(segment, step);
            }
        });
    }
    for (number, segment) in segments.iter().enumerate() {
        if let Some(next) = segments.get(number + 1) {
            plan.each_word(|word| {
                // What is wrong with it is told when it is opened.
                if let Ok(Some(record)) = word.record(next) {
                    next.prefetch_list(&record);
                }
            });
        }
        search_next(plan, segment, top, found)?;
    }
    Ok(())
}

/// Searches the next segment, if there is time, and notes how far it came.
fn search_next<'a, H: HitCollector<'a>, M: MatchCollector>(
    plan: &'a Plan,
    segment: &'a Segment,
    top: &mut Collectors<'a, H, M>,
    found: &mut Coverage,
) -> Result<(), IndexError> {
    let documents_count = u64::from(segment.documents_count());
    found.documents_count += documents_count;
    if top.stop().is_due_now() {
        top.stop().cut_count();
        return Ok(());
    }
    let wanted = top.wanted();
    top.enter(segment);
    if let Some(mut algorithm) = Algorithm::open(plan, segment, &mut top.context, wanted)? {
        algorithm.run(0..segment.documents_count(), top)?;
    }
    let stop = top.stop();
    let mut stopped_at = stop.take_stopped_at();
    if stopped_at.is_none() && stop.is_aborted() && wanted.has_hits() {
        // A clause was left unevaluated before the first document.
        stopped_at = Some(0);
    }
    if stopped_at.is_some() || stop.is_aborted() {
        stop.cut_count();
    }
    found.documents_searched += stopped_at.map_or(documents_count, u64::from);
    Ok(())
}
