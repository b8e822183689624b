//! Which algorithm runs a plan on a segment, and a plan on a partition.
//!
//! ```text
//! all of some terms        conjunction       none skipped when counted
//! any of some terms        maxscore          and, when counted, union beside it
//! one term                 single            its count is in the dictionary
//! a phrase                 phrase
//! anything else            exhaustive
//! ```
//!
//! Every algorithm here gives the hits, scores and counts of its slow twin, [`crate::exhaustive`].

use crate::conjunction::Conjunction;
use crate::list::List;
use crate::maxscore::MaxScore;
use crate::phrase::Phrase;
use crate::plan::Node;
use crate::{Plan, ScoredHit, TopK, exhaustive, single, union};
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

/// What a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Hits,
    HitsAndCount,
    Count,
}

/// What a plan is, as far as an algorithm is made for it.
enum Shape<'a> {
    Term(&'a Node),
    All(&'a [Node]),
    Any(&'a [Node]),
    Phrase(&'a crate::plan::PhraseNode),
    Other,
}

fn shape(plan: &Plan) -> Shape<'_> {
    let terms = |nodes: &[Node]| nodes.iter().all(|node| matches!(node, Node::Term(_)));
    let words = |nodes: &[Node]| nodes.iter().all(|node| node.word().is_some());
    match &plan.root {
        node @ Node::Term(_) => Shape::Term(node),
        Node::Phrase(phrase) => Shape::Phrase(phrase),
        Node::Boolean {
            required,
            optional,
            excluded,
        } if excluded.is_empty() => match (required.as_slice(), optional.as_slice()) {
            ([node @ Node::Term(_)], []) | ([], [node @ Node::Term(_)]) => Shape::Term(node),
            (all, []) if words(all) => Shape::All(all),
            ([], any) if terms(any) => Shape::Any(any),
            _ => Shape::Other,
        },
        _ => Shape::Other,
    }
}

fn search_segment<'a>(
    plan: &'a Plan,
    segment: &'a Segment,
    top: &mut TopK<'a>,
    wanted: Wanted,
) -> Result<u64, IndexError> {
    top.enter(segment);
    let range = 0..segment.documents_count();
    let counted = wanted != Wanted::Hits;
    match shape(plan) {
        Shape::Term(node) => {
            let Some(list) = List::open(plan, node, segment)? else {
                return Ok(0);
            };
            let mut count = 0;
            if wanted == Wanted::Count || (counted && segment.has_deletions()) {
                let again = List::open(plan, node, segment)?.into_iter().collect();
                count = union::count(again, range.clone(), segment)?;
            } else if counted {
                count = list.cost().into();
            }
            if wanted != Wanted::Count {
                single::search(list, range, segment, top)?;
            }
            Ok(count)
        }
        Shape::All(nodes) => {
            let Some(lists) = open_all(plan, nodes, segment)? else {
                return Ok(0);
            };
            let mut conjunction = Conjunction::new(lists);
            match wanted {
                Wanted::Count => conjunction.count(range, segment),
                _ => conjunction.search(range, segment, top, counted),
            }
        }
        Shape::Any(nodes) => {
            let mut count = 0;
            if counted {
                count = union::count(open_any(plan, nodes, segment)?, range.clone(), segment)?;
            }
            if wanted != Wanted::Count && (!counted || count > 0) {
                let mut lists = open_any(plan, nodes, segment)?;
                match (lists.len(), lists.pop()) {
                    (_, None) => {}
                    (1, Some(list)) => single::search(list, range, segment, top)?,
                    (_, Some(list)) => {
                        lists.push(list);
                        MaxScore::new(lists, segment, top).search(range, segment, top)?;
                    }
                }
            }
            Ok(count)
        }
        Shape::Phrase(phrase) => match Phrase::open(plan, phrase, segment)? {
            None => Ok(0),
            Some(mut phrase) if wanted == Wanted::Count => phrase.count(range, segment),
            Some(mut phrase) => phrase.search(range, segment, top, counted),
        },
        Shape::Other if wanted == Wanted::Count => exhaustive::count_segment(plan, segment),
        Shape::Other => exhaustive::search_entered(plan, segment, top),
    }
}

/// The lists of clauses that are all required; `None` where the segment lacks one.
fn open_all<'a>(
    plan: &'a Plan,
    nodes: &'a [Node],
    segment: &'a Segment,
) -> Result<Option<Vec<List<'a>>>, IndexError> {
    let mut lists = Vec::with_capacity(nodes.len());
    for node in nodes {
        match List::open(plan, node, segment)? {
            Some(list) => lists.push(list),
            None => return Ok(None),
        }
    }
    Ok(Some(lists))
}

/// The lists of clauses of which any will do, those that the segment has.
fn open_any<'a>(
    plan: &'a Plan,
    nodes: &'a [Node],
    segment: &'a Segment,
) -> Result<Vec<List<'a>>, IndexError> {
    let mut lists = Vec::with_capacity(nodes.len());
    for node in nodes {
        lists.extend(List::open(plan, node, segment)?);
    }
    Ok(lists)
}
