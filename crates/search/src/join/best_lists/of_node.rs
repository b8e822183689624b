//! Clauses of plans that are the best of some lists.

use crate::block::term_scorer::{List, Lists};
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use index::{IndexError, Segment};

/// Returns whether a clause is the best of terms, each with terms that add to it.
pub(crate) fn is_best_of_lists(node: &Node) -> bool {
    matches!(node, Node::BestOf { .. }) && words_of(node, &mut |_, _| ())
}

/// Calls `each` for every term with those that add to it; returns false where the clause has others.
pub(super) fn words_of<'a>(node: &'a Node, each: &mut impl FnMut(&'a Node, &'a [Node])) -> bool {
    match node {
        Node::Term(_) => each(node, &[]),
        Node::Boolean {
            required,
            optional,
            excluded,
        } => match required.as_slice() {
            [term @ Node::Term(_)]
                if excluded.is_empty()
                    && optional.iter().all(|node| matches!(node, Node::Term(_))) =>
            {
                each(term, optional);
            }
            _ => return false,
        },
        Node::BestOf {
            tie_breaker: 0.0,
            clauses,
        } => return clauses.iter().all(|node| words_of(node, each)),
        _ => return false,
    }
    true
}

/// Returns the terms of such a clause, without those that add to them.
fn terms_of(node: &Node) -> Vec<&Node> {
    let mut terms = Vec::new();
    words_of(node, &mut |term, _| terms.push(term));
    terms
}

/// Size of such a clause on a segment, without what adds to its terms.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Size {
    pub(crate) lists: u64,
    pub(crate) postings: u64,
}

/// Returns the size of such a clause on a segment.
pub(crate) fn size_on(node: &Node, segment: &Segment) -> Result<Size, IndexError> {
    let mut size = Size::default();
    for word in terms_of(node).into_iter().filter_map(Node::word) {
        if let Some(record) = word.record(segment)? {
            size.lists += 1;
            size.postings += u64::from(record.documents_count);
        }
    }
    Ok(size)
}

/// Opens the terms of such a clause, without those that add to them.
pub(crate) fn open_terms<'a>(
    plan: &'a Plan,
    node: &'a Node,
    segment: &'a Segment,
) -> Result<Lists<'a>, IndexError> {
    List::open_each(plan, terms_of(node), segment)
}
