//! Opening of filtered alternatives: any of some terms, in the documents that all filters hold.
//!
//! ```text
//! +(a b c) +filter     rare filter      boolean: the filter leads, the terms are probed
//!                      frequent filter  maxscore: the terms lead, the filter is probed for candidates that could enter
//! ```

use super::executor::{Kind, Searching};
use crate::algorithms::maxscore::MaxScore;
use crate::block::term_scorer::List;
use crate::collect::context::Context;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::verify::filter::Condition;
use index::{IndexError, Segment};

/// A filter is frequent that holds at least one of this number of documents: of the best documents of the terms, which
/// are found first, enough are left then.
const FREQUENT: u32 = 16;

/// Returns the alternatives and the filters of required clauses; `None` if there are others.
fn alternatives_and_filters(required: &[Node]) -> Option<(&[Node], impl Iterator<Item = &Node>)> {
    let is_filter = |node: &&Node| matches!(node, Node::Filter(_));
    let mut others = required.iter().filter(|node| !is_filter(node));
    let (
        Some(Node::Boolean {
            required: all,
            optional,
            excluded,
        }),
        None,
    ) = (others.next(), others.next())
    else {
        return None;
    };
    let are_terms = optional.iter().all(|node| matches!(node, Node::Term(_)));
    let is_plain = all.is_empty() && excluded.is_empty() && are_terms;
    is_plain.then(|| (&optional[..], required.iter().filter(is_filter)))
}

/// Opens a search for the hits of filtered alternatives; `None` where another algorithm is better. The segment has all
/// filters, and the rarest holds `rarest_count` documents.
pub(super) fn open_filtered<'a>(
    plan: &'a Plan,
    required: &'a [Node],
    rarest_count: u32,
    excluded: &mut Option<Condition<'a>>,
    segment: &'a Segment,
    context: &mut Context<'a>,
) -> Result<Option<Kind<'a>>, IndexError> {
    if rarest_count < segment.documents_count() / FREQUENT {
        return Ok(None);
    }
    let Some((alternatives, filters)) = alternatives_and_filters(required) else {
        return Ok(None);
    };
    let lists = List::open_each(plan, alternatives, segment)?;
    if lists.is_empty() {
        return Ok(None);
    }
    let stop = context.stop();
    let condition = Condition::requiring(plan, filters, excluded.take(), segment, stop)?;
    let any = MaxScore::new(lists, Some(condition), segment, context);
    Ok(Some(Kind::Apart {
        searching: Some(Searching::MaxScore(any)),
        counting: None,
    }))
}
