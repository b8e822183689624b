//! Opening of alternatives that score less than the sum of their terms: the best of some, a constant for any of some.
//!
//! ```text
//! best of (+a title:a^2), (b c), constant of (d e)
//!     a b c d e     lead: every match holds one of them; d and e score the constant
//!     title:a       only adds
//! ```
//!
//! MaxScore searches the lists as it searches alternatives, whose sum is an upper bound; the clause itself scores what could enter,
//! by a probe. Matches are those of the leading lists.

use super::executor::{Counting, Kind, Searching};
use crate::algorithms::maxscore::MaxScore;
use crate::block::term_scorer::{List, Lists, scorer_of};
use crate::collect::context::Context;
use crate::context::wanted::Wanted;
use crate::count::union::Union;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::plan::scorer::Scorer;
use crate::verify::filter::Condition;
use crate::verify::probe::Probe;
use index::{IndexError, Segment};

/// Returns the required, optional and excluded clauses of a plan that can be searched so; `None` where it cannot, or where no
/// clause scores less than the sum of its terms.
pub(super) fn clauses_of(root: &Node) -> Option<[&[Node]; 3]> {
    let clauses: [&[Node]; 3] = match root {
        Node::Boolean {
            required,
            optional,
            excluded,
        } if required.len() <= 1 => [required, optional, excluded],
        Node::BestOf { .. } | Node::Constant(_) => [std::slice::from_ref(root), &[], &[]],
        _ => return None,
    };
    let [required, optional, _] = clauses;
    let mut scored = required.iter().chain(optional);
    let is_below_sum = scored.clone().any(is_below_sum);
    (is_below_sum && scored.all(is_of_lists)).then_some(clauses)
}

/// Returns whether a clause scores less than the sum of its terms.
fn is_below_sum(node: &Node) -> bool {
    match node {
        Node::BestOf { .. } | Node::Constant(_) => true,
        Node::Boolean {
            required, optional, ..
        } => required.iter().chain(optional).any(is_below_sum),
        _ => false,
    }
}

/// Returns whether the matches of a clause are those that hold any of some terms.
fn is_of_lists(node: &Node) -> bool {
    match node {
        Node::Term(_) => true,
        Node::BestOf { clauses, .. } => clauses.iter().all(is_of_lists),
        Node::Constant(constant) => is_any_filter(&constant.clause),
        Node::Boolean {
            required,
            optional,
            excluded,
        } => {
            let is_any = required.len() <= 1 && excluded.is_empty();
            is_any && required.iter().chain(optional).all(is_of_lists)
        }
        _ => false,
    }
}

/// Returns whether a clause that only filters is any of some terms.
fn is_any_filter(node: &Node) -> bool {
    match node {
        Node::Filter(_) => true,
        Node::Boolean {
            required,
            optional,
            excluded,
        } => required.is_empty() && excluded.is_empty() && optional.iter().all(is_any_filter),
        _ => false,
    }
}

/// The lists of some clauses on one segment.
struct Found<'a> {
    plan: &'a Plan,
    segment: &'a Segment,
    /// Every match holds one of them.
    leading: Lists<'a>,
    following: Lists<'a>,
}

impl<'a> Found<'a> {
    fn open(
        plan: &'a Plan,
        [required, optional]: [&'a [Node]; 2],
        segment: &'a Segment,
    ) -> Result<Found<'a>, IndexError> {
        let mut found = Found {
            plan,
            segment,
            leading: Lists::take(),
            following: Lists::take(),
        };
        found.add_all([required, optional], true)?;
        Ok(found)
    }

    fn add_all(
        &mut self,
        [required, optional]: [&'a [Node]; 2],
        leads: bool,
    ) -> Result<(), IndexError> {
        for node in required {
            self.add(node, leads)?;
        }
        for node in optional {
            self.add(node, leads && required.is_empty())?;
        }
        Ok(())
    }

    fn add(&mut self, node: &'a Node, leads: bool) -> Result<(), IndexError> {
        match node {
            Node::Term(_) => self.push(node, scorer_of(self.plan, node, self.segment), leads),
            Node::BestOf { clauses, .. } => self.add_all([&[], clauses], leads),
            Node::Constant(constant) => self.add_filters(
                &constant.clause,
                Scorer::constant(self.plan, constant.weight),
                leads,
            ),
            Node::Boolean {
                required, optional, ..
            } => self.add_all([required, optional], leads),
            _ => Ok(()),
        }
    }

    fn add_filters(
        &mut self,
        node: &'a Node,
        scorer: Scorer<'a>,
        leads: bool,
    ) -> Result<(), IndexError> {
        match node {
            Node::Boolean { optional, .. } => {
                let mut each = optional.iter();
                each.try_for_each(|node| self.add_filters(node, scorer, leads))
            }
            node => self.push(node, scorer, leads),
        }
    }

    fn push(&mut self, node: &'a Node, scorer: Scorer<'a>, leads: bool) -> Result<(), IndexError> {
        let lists = match leads {
            true => &mut self.leading,
            false => &mut self.following,
        };
        match node.word().map(|word| word.record(self.segment)) {
            Some(record) => match record? {
                Some(record) => List::push(lists, &record, scorer, self.segment),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }
}

/// Opens what searches a segment; `None` where no document can match.
pub(super) fn open_best_of<'a>(
    plan: &'a Plan,
    [required, optional, excluded]: [&'a [Node]; 3],
    segment: &'a Segment,
    context: &mut Context<'a>,
    wanted: Wanted,
) -> Result<Option<Kind<'a>>, IndexError> {
    let stop = context.stop();
    if wanted.has_hits() && matches!((required, optional), ([Node::Constant(_)], [])) {
        // All matches score alike, so no bound skips any of them.
        return Kind::exhaustive(plan, segment, context);
    }
    let scored = [required, optional];
    let found = Found::open(plan, scored, segment)?;
    if found.leading.is_empty() {
        return Ok(None);
    }
    let condition = || Condition::excluding(plan, [excluded, &[], &[], &[]], segment, stop);
    let counting = match wanted.is_counted() {
        true => {
            // Both read the lists in an order of their own, so each has its own.
            let lists = Found::open(plan, scored, segment)?.leading;
            let union = Union::new(lists, condition()?, context.matches());
            Some(Counting::Union(union))
        }
        false => None,
    };
    let searching = match wanted.has_hits() {
        true => {
            let all = required.iter().chain(optional);
            let Some(clause) = Probe::open_any(plan, all, segment, stop)? else {
                return Ok(None);
            };
            let Found {
                leading, following, ..
            } = found;
            let any = MaxScore::leading(leading, following, condition()?, segment, context);
            Some(Searching::MaxScore(any.scored_by(clause)))
        }
        false => None,
    };
    Ok(Some(Kind::Apart {
        searching,
        counting,
    }))
}
