//! A plan on a partition: its segments one after another, on one thread.
//!
//! Hits, scores and counts are those of the slow twin, [`crate::exhaustive`].

use crate::algorithm::{Algorithm, Wanted};
use crate::stop::Stop;
use crate::{Plan, ScoredHit, TopK};
use index::{IndexError, Segment};
use std::sync::Arc;

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
    plan: &'a Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    k: usize,
) -> Result<(Vec<ScoredHit>, u64), IndexError> {
    let found = search_until(plan, segments, k, true, Stop::default())?;
    Ok((found.hits, found.matches_count))
}

/// Searches some segments until it is done or `stop` ends it. Without `counted` only those matches are
/// counted that are looked at anyway.
pub fn search_until<'a>(
    plan: &'a Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    k: usize,
    counted: bool,
    stop: Stop<'a>,
) -> Result<Searched, IndexError> {
    let mut top = TopK::new(k).until(stop);
    let mut found = Searched::default();
    let wanted = match (k, counted) {
        (0, _) => Wanted::Count,
        (_, true) => Wanted::HitsAndCount,
        (_, false) => Wanted::Hits,
    };
    for segment in segments {
        let documents_count = u64::from(segment.documents_count());
        found.documents_count += documents_count;
        if plan.matches_nothing() {
            found.documents_searched += documents_count;
        } else if top.stop().is_due_now() {
            top.stop().cut_count();
        } else {
            found.matches_count += search_segment(plan, segment, &mut top, wanted)?;
            let stopped_at = top.stop().take_stopped_at();
            if stopped_at.is_some() {
                top.stop().cut_count();
            }
            found.documents_searched += stopped_at.map_or(documents_count, u64::from);
        }
    }
    found.count_is_exact = (counted || k == 0) && !top.stop().count_is_cut();
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
    if !plan.matches_nothing() && k > 0 {
        for segment in segments {
            search_segment(plan, segment, &mut top, Wanted::Hits)?;
        }
    }
    Ok(top.into_sorted())
}

/// The exact count of matching documents of some segments.
pub fn count_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
) -> Result<u64, IndexError> {
    let mut top = TopK::new(0);
    let mut total = 0;
    if !plan.matches_nothing() {
        for segment in segments {
            total += search_segment(plan, segment, &mut top, Wanted::Count)?;
        }
    }
    Ok(total)
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
