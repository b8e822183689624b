//! Opening of filtered alternatives: any of some terms, in the documents that all filters hold.
//!
//! ```text
//! +(a b c) +filter     rare filter      boolean: the filter leads, the terms are probed
//!                      frequent filter  maxscore: the terms lead, the filter is probed for candidates that could enter
//! +(a b c) +(d e)                       maxscore: the terms of the fewest documents lead, the others are probed likewise
//! ```
//!
//! Tests of values have no list until they are used often: where they pass is found by a scan of their column, and how
//! often, by a sample of it.

use super::executor::{Counting, Kind, Searching};
use super::shape::alternatives_of;
use crate::algorithms::maxscore::MaxScore;
use crate::algorithms::values::{ByValues, Leader};
use crate::block::term_scorer::List;
use crate::collect::context::Context;
use crate::context::wanted::Wanted;
use crate::count::union::Union;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::verify::filter::Condition;
use index::{IndexError, Segment};

/// A filter is frequent that holds at least one of this number of documents: of the best documents of the terms, which
/// are found first, enough are left then.
const FREQUENT: u32 = 16;

/// Documents of the segment for each posting of leading alternatives from which on every document of them is scored: to open
/// the long lists of the others by their bounds takes longer. (Measured: 0.8 and 1.3 ms instead of 1.0 and 1.9 ms.)
const DOCUMENTS_A_LEADER: u32 = 64;

/// Returns the alternatives and the filters of required clauses; `None` if there are others.
fn alternatives_and_filters(required: &[Node]) -> Option<(&[Node], impl Iterator<Item = &Node>)> {
    let is_filter = |node: &&Node| matches!(node, Node::Filter(_));
    let mut others = required.iter().filter(|node| !is_filter(node));
    let (Some(node), None) = (others.next(), others.next()) else {
        return None;
    };
    Some((alternatives_of(node)?, required.iter().filter(is_filter)))
}

/// Opens alternatives of terms and tests of values that are all required, beside terms that only add to the score. Where
/// values do not lead, the alternatives of the fewest documents do; the others are probed for what could enter.
pub(super) fn open_alternatives<'a>(
    plan: &'a Plan,
    [required, others, excluded]: [&'a [Node]; 3],
    segment: &'a Segment,
    context: &mut Context<'a>,
    wanted: Wanted,
) -> Result<Option<Kind<'a>>, IndexError> {
    let (mut leader, mut words): (Option<(u64, usize)>, usize) = (None, 0);
    for (number, node) in required.iter().enumerate() {
        let Some(terms) = alternatives_of(node) else {
            if let Node::Value(value) = node
                && value.open(segment)?.is_none()
            {
                return Ok(None);
            }
            continue;
        };
        let mut postings = 0;
        for word in terms.iter().filter_map(Node::word) {
            if let Some(record) = word.record(segment)? {
                (words, postings) = (words + 1, postings + u64::from(record.documents_count));
            }
        }
        if postings == 0 {
            return Ok(None);
        }
        if leader.is_none_or(|(least, _)| postings < least) {
            leader = Some((postings, number));
        }
    }
    let Some((postings, leader)) = leader else {
        return Ok(None);
    };
    let few = u64::from(segment.documents_count() / DOCUMENTS_A_LEADER);
    if postings < few && required.iter().all(|node| alternatives_of(node).is_some()) {
        return Kind::exhaustive(plan, segment, context);
    }
    let stop = context.stop();
    let excluding = || Condition::excluding(plan, [excluded, &[], &[], &[]], segment, stop);
    if let Some(leader) = leading_values(required, words, postings, segment, wanted)? {
        let clauses = [required, others];
        return open_by_values(
            plan,
            clauses,
            excluding()?,
            leader,
            segment,
            context,
            wanted,
        );
    }
    let rest = || {
        let all = required.iter().enumerate();
        all.filter_map(move |(number, node)| (number != leader).then_some(node))
    };
    let condition = || Condition::requiring(plan, rest(), excluding()?, segment, stop);
    let leading = alternatives_of(&required[leader]).unwrap_or(&[]);
    let counting = match wanted.is_counted() {
        true => {
            let lists = List::open_each(plan, leading, segment)?;
            let union = Union::new(lists, Some(condition()?), context.matches());
            Some(Counting::Union(union))
        }
        false => None,
    };
    let searching = match wanted.has_hits() {
        true => {
            let adding = rest().filter_map(alternatives_of).flatten().chain(others);
            let adding = List::open_each(plan, adding, segment)?;
            let lists = List::open_each(plan, leading, segment)?;
            let any = MaxScore::leading(lists, adding, Some(condition()?), segment, context);
            Some(Searching::MaxScore(any))
        }
        false => None,
    };
    Ok(Some(Kind::Apart {
        searching,
        counting,
    }))
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

/// Documents of a column that can be scanned in the time of one probe of a word's list (`A_PROBE`), or of searching one
/// more posting of it: scored and offered (`A_HIT`), or only counted (`A_MATCH`). Measured.
const SCANNED_A_PROBE: u64 = 24;
const SCANNED_A_HIT: u64 = 24;
const SCANNED_A_MATCH: u64 = 3;
/// Documents of the segment for each posting up to which only values whose documents are listed lead: a look at all bounds of a
/// column takes longer.
const DOCUMENTS_A_POSTING: u32 = 256;
/// Postings up to which no values lead: to look for their codes takes longer.
const POSTINGS_MIN: u64 = 64;

/// Returns the test of values that shall lead a search of required clauses, whose other clauses have `clauses` words and
/// would have `postings` searched; `None` if none shall.
pub(super) fn leading_values<'a>(
    required: &'a [Node],
    clauses: usize,
    postings: u64,
    segment: &'a Segment,
    wanted: Wanted,
) -> Result<Option<Leader<'a>>, IndexError> {
    let few = u64::from(segment.documents_count() / DOCUMENTS_A_POSTING);
    let has_values = required.iter().any(|node| matches!(node, Node::Value(_)));
    if postings <= POSTINGS_MIN || !has_values {
        return Ok(None);
    }
    let Some(leader) = Leader::find(required, segment, postings <= few)? else {
        return Ok(None);
    };
    let probed = leader.documents * clauses as u64 * SCANNED_A_PROBE;
    let is_cheaper = match wanted {
        // Of frequent values enough are left of the best documents of the terms, which are found first.
        Wanted::Hits => {
            let frequent = u64::from(segment.documents_count() / FREQUENT);
            leader.documents < frequent && leader.scanned + probed < postings * SCANNED_A_HIT
        }
        // The column is scanned in any case.
        _ => probed < postings * SCANNED_A_MATCH,
    };
    Ok(is_cheaper.then_some(leader))
}

/// Opens a search that values lead; `None` where the segment lacks a required clause.
pub(super) fn open_by_values<'a>(
    plan: &'a Plan,
    clauses: [&'a [Node]; 2],
    condition: Option<Condition<'a>>,
    leader: Leader<'a>,
    segment: &'a Segment,
    context: &Context<'a>,
    wanted: Wanted,
) -> Result<Option<Kind<'a>>, IndexError> {
    let stop = context.stop();
    let opened = ByValues::open(plan, clauses, condition, leader, segment, stop, wanted)?;
    Ok(opened.map(|values| Kind::Apart {
        searching: Some(Searching::Values(Box::new(values))),
        counting: None,
    }))
}
