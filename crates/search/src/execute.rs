//! A plan on a partition: its segments one after another, on one thread.
//!
//! Hits, scores and counts are those of the slow twin, [`crate::exhaustive`].

use crate::algorithm::{Algorithm, Wanted};
use crate::{Plan, ScoredHit, TopK};
use index::{IndexError, LookUpStep, Segment};
use std::sync::Arc;

/// The k best hits of some segments, best first, and the exact count of matching documents.
pub fn search_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    k: usize,
) -> Result<(Vec<ScoredHit>, u64), IndexError> {
    let mut top = TopK::new(k);
    let total = search_all(plan, segments, &mut top, Wanted::HitsAndCount)?;
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
    search_all(plan, segments, &mut TopK::new(0), Wanted::Count)
}

fn search_all<'a: 'p, 'p>(
    plan: &'p Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    top: &mut TopK<'p>,
    wanted: Wanted,
) -> Result<u64, IndexError> {
    if plan.matches_nothing() {
        return Ok(0);
    }
    let mut segments = segments.into_iter();
    let (first, second) = (segments.next(), segments.next());
    let (Some(first), Some(second)) = (first, second) else {
        return first.map_or(Ok(0), |segment| search_segment(plan, segment, top, wanted));
    };
    let segments: Vec<&Segment> = [first, second]
        .into_iter()
        .chain(segments)
        .map(|segment| &**segment)
        .collect();
    search_many(plan, &segments, top, wanted)
}

/// Searches several segments. What they will read is asked for early: the dictionaries of all at once, and
/// the lists of one while the one before is searched.
fn search_many<'a: 'p, 'p>(
    plan: &'p Plan,
    segments: &[&'a Segment],
    top: &mut TopK<'p>,
    wanted: Wanted,
) -> Result<u64, IndexError> {
    for step in LookUpStep::ALL {
        plan.each_word(|word| {
            for segment in segments {
                word.prefetch(segment, step);
            }
        });
    }
    let mut total = 0;
    for (number, segment) in segments.iter().enumerate() {
        if let Some(next) = segments.get(number + 1) {
            plan.each_word(|word| {
                // What is wrong with it is told when it is opened.
                if let Ok(Some(record)) = word.record(next) {
                    next.prefetch_list(&record);
                }
            });
        }
        total += search_segment(plan, segment, top, wanted)?;
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
