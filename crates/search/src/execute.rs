//! Which algorithm runs a plan on a segment, and a plan on a partition.
//!
//! Every algorithm here gives the hits, scores and counts of its slow twin, [`crate::exhaustive`].

use crate::maxscore::{self, MaxScore};
use crate::plan::Node;
use crate::union::Union;
use crate::{Plan, ScoredHit, TopK, exhaustive, single};
use index::{IndexError, Segment};
use std::sync::Arc;

/// Postings below which asking for bounds costs more than it saves.
const MAXSCORE_COST_MIN: u64 = 12_000;

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
            total += search_segment(plan, segment, &mut top)?;
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
    if !plan.matches_nothing() {
        for segment in segments {
            top_of_segment(plan, segment, &mut top)?;
        }
    }
    Ok(top.into_sorted())
}

/// The exact count of matching documents of some segments.
pub fn count_partition<'a>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
) -> Result<u64, IndexError> {
    let mut total = 0;
    if !plan.matches_nothing() {
        for segment in segments {
            total += count_segment(plan, segment)?;
        }
    }
    Ok(total)
}

fn search_segment(plan: &Plan, segment: &Segment, top: &mut TopK) -> Result<u64, IndexError> {
    match union_of_terms(plan) {
        Some(clauses) => Union::open(plan, clauses, segment)?.search(segment, top),
        None => exhaustive::search_segment(plan, segment, top),
    }
}

fn top_of_segment(plan: &Plan, segment: &Segment, top: &mut TopK) -> Result<(), IndexError> {
    let Some(clauses) = any_of_terms(plan) else {
        return search_segment(plan, segment, top).map(drop);
    };
    let mut union = Union::open(plan, clauses, segment)?;
    if union.lists.len() == 1
        && let Some((postings, scorer)) = union.lists.pop()
    {
        return single::search(postings, &scorer, segment, top);
    }
    let few = union.cost() < MAXSCORE_COST_MIN || union.lists.len() > maxscore::LISTS_MAX;
    if few {
        union.search(segment, top).map(drop)
    } else {
        MaxScore::new(union).search(segment, top)
    }
}

fn count_segment(plan: &Plan, segment: &Segment) -> Result<u64, IndexError> {
    match union_of_terms(plan) {
        Some(clauses) => Union::open(plan, clauses, segment)?.count(segment),
        None => exhaustive::count_segment(plan, segment),
    }
}

/// The clauses of a plan that is one term, or any of several, and nothing else.
fn any_of_terms(plan: &Plan) -> Option<&[Node]> {
    match &plan.root {
        node @ Node::Term(_) => Some(std::slice::from_ref(node)),
        _ => union_of_terms(plan),
    }
}

/// The clauses of a plan that is any of several terms and nothing else.
fn union_of_terms(plan: &Plan) -> Option<&[Node]> {
    match &plan.root {
        Node::Boolean {
            required,
            optional,
            excluded,
        } if required.is_empty()
            && excluded.is_empty()
            && optional.len() > 1
            && optional
                .iter()
                .all(|node| matches!(node, Node::Term(_) | Node::Nothing)) =>
        {
            Some(optional)
        }
        _ => None,
    }
}
