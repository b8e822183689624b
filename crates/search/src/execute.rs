//! A plan on a partition: its segments one after another, on one thread.
//!
//! Hits, scores and counts are those of the slow twin, [`crate::exhaustive`].

use crate::algorithm::{Algorithm, Wanted};
use crate::{Plan, ScoredHit, TopK};
use index::{IndexError, Segment};
use std::sync::Arc;

/// The k best hits of some segments, best first, and the exact count of matching documents.
pub fn search_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    k: usize,
) -> Result<(Vec<ScoredHit>, u64), IndexError> {
    let mut top = TopK::new(k);
    let mut total = 0;
    if !plan.matches_nothing() {
        for segment in segments {
            total += search_segment(plan, segment, &mut top, Wanted::HitsAndCount)?;
        }
    }
    Ok((top.into_sorted(), total))
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
