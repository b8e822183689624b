//! A plan on a partition: its segments one after another, on one thread.
//!
//! Hits, scores and counts are those of the slow twin, [`crate::exhaustive`].

use crate::context::cancel::Stop;
use crate::context::wanted::Wanted;
use crate::exec::algorithm::Algorithm;
use crate::plan::planner::Plan;
use crate::topk::hit::ScoredHit;
use crate::topk::kept::TopK;
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

/// The k best hits of some segments, best first, and the exact count of matching documents.
pub fn search_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    k: usize,
) -> Result<(Vec<ScoredHit>, u64), IndexError> {
    let mut top = TopK::new(k);
    let found = search_all(plan, segments, &mut top, Wanted::HitsAndCount)?;
    Ok((top.into_sorted(), found.matches_count))
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
    let mut top = TopK::new(k).until(&stop);
    let wanted = match (k, counted) {
        (0, _) => Wanted::Count,
        (_, true) => Wanted::HitsAndCount,
        (_, false) => Wanted::Hits,
    };
    let mut found = search_all(plan, segments, &mut top, wanted)?;
    found.count_is_exact = wanted != Wanted::Hits && !top.stop().count_is_cut();
    found.hits = top.into_sorted();
    found.matches_count = found.matches_count.max(found.hits.len() as u64);
    Ok(found)
}

/// The k best hits of some segments, best first, without counting the rest: what cannot be among them
/// need not be looked at.
pub fn top_of_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    k: usize,
) -> Result<Vec<ScoredHit>, IndexError> {
    let mut top = TopK::new(k);
    if k > 0 {
        search_all(plan, segments, &mut top, Wanted::Hits)?;
    }
    Ok(top.into_sorted())
}

/// The exact count of matching documents of some segments.
pub fn count_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
) -> Result<u64, IndexError> {
    let found = search_all(plan, segments, &mut TopK::new(0), Wanted::Count)?;
    Ok(found.matches_count)
}

/// Searches segments into `top`; all but the hits of what it found.
fn search_all<'a: 'p, 'p>(
    plan: &'p Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    top: &mut TopK<'p>,
    wanted: Wanted,
) -> Result<Searched, IndexError> {
    let mut found = Searched::default();
    let mut segments = segments.into_iter();
    if plan.matches_nothing() {
        found.documents_count = segments.map(|one| u64::from(one.documents_count())).sum();
        found.documents_searched = found.documents_count;
        return Ok(found);
    }
    let (first, second) = (segments.next(), segments.next());
    let (Some(first), Some(second)) = (first, second) else {
        if let Some(segment) = first {
            search_next(plan, segment, top, wanted, &mut found)?;
        }
        return Ok(found);
    };
    let segments: SmallVec<[&Segment; SEGMENTS_FEW]> = [first, second]
        .into_iter()
        .chain(segments)
        .map(|segment| &**segment)
        .collect();
    search_many(plan, &segments, top, wanted, &mut found)?;
    Ok(found)
}

/// Searches several segments. What they will read is asked for early: the dictionaries of all at once, and
/// the lists of one while the one before is searched.
fn search_many<'a: 'p, 'p>(
    plan: &'p Plan,
    segments: &[&'a Segment],
    top: &mut TopK<'p>,
    wanted: Wanted,
    found: &mut Searched,
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
        search_next(plan, segment, top, wanted, found)?;
    }
    Ok(())
}

/// Searches the next segment, if there is time, and notes how far it came.
fn search_next<'a>(
    plan: &'a Plan,
    segment: &'a Segment,
    top: &mut TopK<'a>,
    wanted: Wanted,
    found: &mut Searched,
) -> Result<(), IndexError> {
    let documents_count = u64::from(segment.documents_count());
    found.documents_count += documents_count;
    if top.stop().is_due_now() {
        top.stop().cut_count();
        return Ok(());
    }
    found.matches_count += search_segment(plan, segment, top, wanted)?;
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

fn search_segment<'a>(
    plan: &'a Plan,
    segment: &'a Segment,
    top: &mut TopK<'a>,
    wanted: Wanted,
) -> Result<u64, IndexError> {
    top.enter(segment);
    match Algorithm::open(plan, segment, top, wanted)? {
        None => Ok(0),
        Some(mut algorithm) => algorithm.run(0..segment.documents_count(), top),
    }
}
