//! Opening of combinations that the best of some lists can lead: as-you-type queries and other patterns.
//!
//! ```text
//! +"rare" +com*      boolean: the word leads, the pattern is probed
//! +the +com*         best of: the pattern leads, the word is probed for what could enter
//! +com* +stoc*       best of: the one with fewer postings leads
//! ```

use super::executor::{Counting, Kind, Searching};
use super::filtered::{leading_values, open_by_values};
use crate::algorithms::best_of::BestOf;
use crate::collect::context::Context;
use crate::context::wanted::Wanted;
use crate::count::union::Union;
use crate::join::best_lists::{
    BestLists, LOOK_UP_ONE, Size, is_best_of_lists, open_terms, size_on,
};
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::verify::filter::Condition;
use crate::verify::probe::Probe;
use index::{IndexError, Segment};

/// What leads a combination on a segment.
pub(super) enum Leader {
    /// No document matches.
    Nothing,
    /// A required word.
    Word,
    /// The best of some lists: their number among the required clauses, and their postings.
    Lists { at: usize, postings: u64 },
}

/// Returns what leads required clauses of which one at least is the best of some lists.
pub(super) fn leader_of(required: &[Node], segment: &Segment) -> Result<Leader, IndexError> {
    let Some(holding_all) = holding_all(required, segment)? else {
        return Ok(Leader::Nothing);
    };
    let mut leader: Option<(Size, usize)> = None;
    for (at, node) in required.iter().enumerate() {
        if is_best_of_lists(node) {
            let size = size_on(node, segment)?;
            if leader.is_none_or(|(least, _)| size.postings < least.postings) {
                leader = Some((size, at));
            }
        }
    }
    // Every document that holds the words is looked up in every list.
    let look_ups = |size: Size| holding_all * (size.lists * LOOK_UP_ONE) as f64;
    let is_rare = |size: Size| look_ups(size) < size.postings as f64;
    Ok(match leader {
        Some((size, _)) if size.postings > 0 && is_rare(size) => Leader::Word,
        Some((Size { postings, .. }, at)) if postings > 0 => Leader::Lists { at, postings },
        _ => Leader::Nothing,
    })
}

/// Estimates how many documents hold all required words; `None` where the segment lacks one, infinity without words.
///
/// Words of one text go together, so each word but the rarest keeps more than its share of the documents: its square root.
fn holding_all(required: &[Node], segment: &Segment) -> Result<Option<f64>, IndexError> {
    let documents = f64::from(segment.documents_count().max(1));
    let (mut rarest, mut kept) = (f64::INFINITY, 1.0);
    for word in required.iter().filter_map(Node::word) {
        let Some(record) = word.record(segment)? else {
            return Ok(None);
        };
        let held = f64::from(record.documents_count);
        if rarest.is_finite() {
            kept *= (held.max(rarest) / documents).min(1.0).sqrt();
        }
        rarest = rarest.min(held);
    }
    Ok(Some(rarest * kept))
}

/// Opens required clauses, led by the lists of one, beside optional and excluded ones.
pub(super) fn open_led<'a>(
    plan: &'a Plan,
    [required, optional, excluded]: [&'a [Node]; 3],
    (at, postings): (usize, u64),
    segment: &'a Segment,
    context: &mut Context<'a>,
    wanted: Wanted,
) -> Result<Option<Kind<'a>>, IndexError> {
    let stop = context.stop();
    let excluding = || Condition::excluding(plan, [excluded, &[], &[], &[]], segment, stop);
    if let Some(values) = leading_values(required, 1, postings, segment, wanted)? {
        let (clauses, excluded) = ([required, optional], excluding()?);
        return open_by_values(plan, clauses, excluded, values, segment, context, wanted);
    }
    let (before, after) = (&required[..at], &required[at + 1..]);
    let rest = || before.iter().chain(after);
    let rest_count = required.len() - 1;
    let counting = match wanted.is_counted() {
        true => {
            let condition = match rest_count {
                0 => excluding()?,
                _ => Some(Condition::requiring(
                    plan,
                    rest(),
                    excluding()?,
                    segment,
                    stop,
                )?),
            };
            let found = condition.as_ref().map_or(0, Condition::required_count);
            if found < rest_count {
                return Ok(None);
            }
            let lists = open_terms(plan, &required[at], segment)?;
            let union = Union::new(lists, condition, context.matches());
            Some(Counting::Union(union))
        }
        false => None,
    };
    let lists = match wanted.has_hits() {
        true => BestLists::open(plan, &required[at], segment)?,
        false => None,
    };
    let searching = match lists {
        Some(lists) => {
            let rest = Probe::open_each(plan, rest(), segment, stop)?;
            if rest.len() < rest_count {
                return Ok(None);
            }
            let optional = Probe::open_each(plan, optional, segment, stop)?;
            let excluded = excluding()?;
            if rest_count == 0 && excluded.is_none() {
                context.raise_first(lists.floor(context.k(), segment));
            }
            let best = BestOf::new(lists, [rest, optional], excluded);
            Some(Searching::BestOf(Box::new(best)))
        }
        None => None,
    };
    Ok(Some(Kind::Apart {
        searching,
        counting,
    }))
}
