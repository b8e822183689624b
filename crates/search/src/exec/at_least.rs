//! Opening of a search for at least a number of terms.
//!
//! ```text
//! 3 of a b c d e     a match holds one of any three: the three rarest lead, the others follow
//! ```
//!
//! MaxScore searches them as it searches alternatives. How many terms a document holds is a condition, asked of those
//! that could enter; where matches are counted, of all documents of the leading lists.

use super::executor::{Counting, Kind, Searching};
use super::shape::AtLeast;
use crate::algorithms::maxscore::MaxScore;
use crate::block::term_scorer::{List, Lists, scorer_of};
use crate::collect::context::Context;
use crate::context::wanted::Wanted;
use crate::count::union::Union;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::verify::filter::Condition;
use index::{IndexError, Segment, TermRecord};

/// Opens what searches a segment; `None` where no document can match.
pub(super) fn open_at_least<'a>(
    plan: &'a Plan,
    at_least: AtLeast<'a>,
    segment: &'a Segment,
    context: &mut Context<'a>,
    wanted: Wanted,
) -> Result<Option<Kind<'a>>, IndexError> {
    let AtLeast {
        least,
        terms,
        required,
        optional,
        excluded,
    } = at_least;
    let mut present: Vec<(TermRecord, &Node)> = Vec::with_capacity(terms.len());
    for node in terms {
        let record = node.word().map(|word| word.record(segment)).transpose()?;
        present.extend(record.flatten().map(|record| (record, node)));
    }
    if present.len() < least {
        return Ok(None);
    }
    present.sort_by_key(|(record, _)| record.documents_count);
    let (rarest, frequent) = present.split_at(present.len() + 1 - least);
    let stop = context.stop();
    let condition = || {
        let excluded = Condition::excluding(plan, [excluded, &[], &[], &[]], segment, stop)?;
        Condition::requiring(plan, required, excluded, segment, stop)
    };
    if condition()?.required_count() < required.len() {
        // The segment has nothing of another required clause.
        return Ok(None);
    }
    let counting = match wanted.is_counted() {
        true => {
            let lists = open_lists(plan, rarest, segment)?;
            let needs = context.matches();
            Some(Counting::Union(Union::new(
                lists,
                Some(condition()?),
                needs,
            )))
        }
        false => None,
    };
    let searching = match wanted.has_hits() {
        true => {
            let lists = open_lists(plan, rarest, segment)?;
            let mut others = open_lists(plan, frequent, segment)?;
            others.append(&mut *List::open_each(plan, optional, segment)?);
            let any = MaxScore::leading(lists, others, Some(condition()?), segment, context);
            Some(Searching::MaxScore(any))
        }
        false => None,
    };
    Ok(Some(Kind::Apart {
        searching,
        counting,
    }))
}

fn open_lists<'a>(
    plan: &'a Plan,
    found: &[(TermRecord, &'a Node)],
    segment: &'a Segment,
) -> Result<Lists<'a>, IndexError> {
    let mut lists = Lists::take();
    for (record, node) in found {
        List::push(&mut lists, record, scorer_of(plan, node, segment), segment)?;
    }
    Ok(lists)
}
