//! Opening of a plan on a segment: the choice between algorithms, by the cost of the lists there.

use super::at_least::open_at_least;
use super::best_of::open_best_of;
use super::executor::{Counting, Kind, Searching};
use super::filtered::{leading_values, open_alternatives, open_by_values, open_filtered};
use super::led::{Leader, leader_of, open_led};
use super::shape::{Shape, shape_of_all};
use crate::algorithms::boolean::state::Mixed;
use crate::algorithms::maxscore::MaxScore;
use crate::algorithms::term::Term;
use crate::block::term_scorer::{List, Lists, scorer_of};
use crate::collect::context::{Context, MatchNeeds};
use crate::context::wanted::Wanted;
use crate::count::difference::Counter;
use crate::count::union::Union;
use crate::join::conjunction::Conjunction;
use crate::join::phrase::bigrams;
use crate::join::phrase::bigrams::Stored;
use crate::join::phrase::search::Phrase;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::verify::filter::{Condition, Excluded};
use index::{IndexError, Segment};
use smallvec::SmallVec;

/// Minimum length of the shortest required list that an optional list may lead instead of, in documents. (From a log of
/// real queries, their first word required: 2,048 to 32,768 did about as well.)
const LEADER_MIN: u64 = 4096;
/// Minimum ratio of the lengths of that required list and of the optional one. (4 to 16 did about as well.)
const RARER: u64 = 16;

/// Number of words up to which a query needs no allocation; longer queries are rare.
const FEW: usize = 8;

/// Opens what runs a shape on a segment; `None` where no document can match.
pub(super) fn open<'a>(
    plan: &'a Plan,
    shape: Shape<'a>,
    segment: &'a Segment,
    context: &mut Context<'a>,
    wanted: Wanted,
) -> Result<Option<Kind<'a>>, IndexError> {
    Ok(match shape {
        Shape::Term(node) => {
            let lists = List::open_each(plan, std::slice::from_ref(node), segment)?;
            (!lists.is_empty()).then(|| Kind::Term(Term::new(lists)))
        }
        Shape::All(nodes) => {
            open_all(plan, nodes, segment)?.map(|lists| Kind::Conjunction(Conjunction::new(lists)))
        }
        Shape::Any([any, others, excluded]) => {
            let excluded = [excluded, &[], &[], &[]];
            open_any(plan, [any, others], excluded, segment, context, wanted)?
        }
        Shape::Filtered(clauses) => open_alternatives(plan, clauses, segment, context, wanted)?,
        Shape::Either(nodes) => open_parts(plan, nodes, segment, context, wanted)?,
        Shape::Phrase(phrase) => match bigrams::stored(phrase, segment)? {
            Stored::Pair(pair) => {
                let mut lists = Lists::take();
                lists.push(bigrams::list_of(plan, phrase, &pair, segment)?);
                Some(Kind::Term(Term::new(lists)))
            }
            Stored::Nowhere => None,
            Stored::Unknown => Phrase::open(plan, phrase, segment)?.map(Kind::Phrase),
        },
        Shape::Mixed([required, optional, excluded]) => {
            let excluded = [excluded, &[], &[], &[]];
            open_mixed(
                plan,
                [required, optional],
                excluded,
                segment,
                context,
                wanted,
            )?
        }
        Shape::AtLeast(at_least) => open_at_least(plan, at_least, segment, context, wanted)?,
        Shape::Led(clauses) => {
            let [required, optional, excluded] = clauses;
            match leader_of(required, segment)? {
                Leader::Nothing => None,
                Leader::Lists { at, postings } => {
                    let lists = (at, postings);
                    open_led(plan, clauses, lists, segment, context, wanted)?
                }
                Leader::Word => {
                    let excluded = [excluded, &[], &[], &[]];
                    let clauses = [required, optional];
                    open_mixed(plan, clauses, excluded, segment, context, wanted)?
                }
            }
        }
        Shape::BestOf(clauses) => open_best_of(plan, clauses, segment, context, wanted)?,
        Shape::Other => Kind::exhaustive(plan, segment, context)?,
    })
}

fn open_any<'a>(
    plan: &'a Plan,
    [nodes, others]: [&'a [Node]; 2],
    excluded: Excluded<'a>,
    segment: &'a Segment,
    context: &mut Context<'a>,
    wanted: Wanted,
) -> Result<Option<Kind<'a>>, IndexError> {
    let lists = List::open_each(plan, nodes, segment)?;
    let condition = match lists.is_empty() {
        true => return Ok(None),
        false => Condition::excluding(plan, excluded, segment, context.stop())?,
    };
    let others = List::open_each(plan, others, segment)?;
    if lists.len() == 1 && others.is_empty() {
        if condition.is_none() {
            return Ok(Some(Kind::Term(Term::new(lists))));
        }
        for node in nodes {
            // The only one that there is, is required.
            let nodes = [std::slice::from_ref(node), &[]];
            let kind = open_mixed(plan, nodes, excluded, segment, context, wanted)?;
            if kind.is_some() {
                return Ok(kind);
            }
        }
        return Ok(None);
    }
    let needs = context.matches();
    let (counting, searching) = match wanted {
        Wanted::Hits => (None, Some((lists, condition))),
        // Both read the lists in an order of their own, so each has its own.
        Wanted::HitsAndCount => (
            Some((
                List::open_each(plan, nodes, segment)?,
                Condition::excluding(plan, excluded, segment, context.stop())?,
            )),
            Some((lists, condition)),
        ),
        Wanted::Count => (Some((lists, condition)), None),
    };
    let counting = counting.map(|(lists, condition)| Union::new(lists, condition, needs));
    let searching = searching
        .map(|(lists, condition)| MaxScore::leading(lists, others, condition, segment, context));
    Ok(Some(Kind::Apart {
        counting: counting.map(Counting::Union),
        searching: searching.map(Searching::MaxScore),
    }))
}

fn open_mixed<'a>(
    plan: &'a Plan,
    [required, optional]: [&'a [Node]; 2],
    excluded: Excluded<'a>,
    segment: &'a Segment,
    context: &mut Context<'a>,
    wanted: Wanted,
) -> Result<Option<Kind<'a>>, IndexError> {
    // Before any list is opened: many segments lack one of the words.
    let Some(leader) = least_cost(required, segment)? else {
        return Ok(None);
    };
    let mut condition = Condition::excluding(plan, excluded, segment, context.stop())?;
    if condition.is_none()
        && optional.is_empty()
        && let Some(shape) = shape_of_all(required)
    {
        // The segment has nothing of what is excluded.
        return open(plan, shape, segment, context, wanted);
    }
    if wanted == Wanted::Hits
        && optional.is_empty()
        && let Some(kind) = open_filtered(plan, required, leader, &mut condition, segment, context)?
    {
        return Ok(Some(kind));
    }
    let postings = u64::from(leader);
    if let Some(leading) = leading_values(required, 1, postings, segment, wanted)? {
        let clauses = [required, optional];
        return open_by_values(plan, clauses, condition, leading, segment, context, wanted);
    }
    // A difference of counts knows no documents.
    let counting = match wanted.is_counted() && context.matches() < MatchNeeds::Documents {
        true => Counter::open(
            plan,
            required,
            excluded,
            condition.as_ref(),
            segment,
            context.stop(),
        )?,
        false => None,
    };
    let counting = counting.map(Box::new).map(Counting::Difference);
    if wanted == Wanted::Count && counting.is_some() {
        let searching = None;
        return Ok(Some(Kind::Apart {
            counting,
            searching,
        }));
    }
    let is_free = counting.is_some() || !wanted.is_counted();
    if is_free && is_led_by_optional(leader, required, optional, segment)? {
        let searching =
            MaxScore::requiring(plan, [required, optional], condition, segment, context)?;
        return Ok(Some(Kind::Apart {
            counting,
            searching: Some(Searching::MaxScore(searching)),
        }));
    }
    let Some(mixed) = Mixed::open(
        plan,
        [required, optional],
        condition,
        segment,
        context.stop(),
    )?
    else {
        return Ok(None);
    };
    if mixed.is_led_by_many() {
        // The clauses are those of the whole plan: the parts of one are words and phrases, which nothing else leads.
        return Kind::exhaustive(plan, segment, context);
    }
    mixed.raise(segment, context);
    Ok(Some(Kind::Apart {
        counting,
        searching: Some(Searching::Boolean(Box::new(mixed))),
    }))
}

/// Any of some parts, phrases and conjunctions, and words: the documents that hold words alone, whose search is cheap and
/// gives a threshold, then those that match the first part, those of the others that match the second, and so on.
/// Counted otherwise: those that hold a word, then those that match a part, and neither a word nor a part before.
fn open_parts<'a>(
    plan: &'a Plan,
    [all, words, excluded]: [&'a [Node]; 3],
    segment: &'a Segment,
    context: &mut Context<'a>,
    wanted: Wanted,
) -> Result<Option<Kind<'a>>, IndexError> {
    let parts = &all[..all.len() - words.len()];
    let (mut searching, mut counting) = (Vec::new(), Vec::new());
    if wanted.has_hits() && !words.is_empty() {
        if excluded.is_empty() {
            // With a part or without, documents that hold a word match.
            for list in List::open_each(plan, words, segment)?.iter() {
                let floor = list.floor(context.k(), segment);
                context.raise_first(floor);
            }
        }
        let (excluded, wanted) = ([parts, excluded, &[], &[]], Wanted::Hits);
        let words = [words, &[]];
        searching.extend(open_any(plan, words, excluded, segment, context, wanted)?);
    }
    for (number, part) in parts.iter().enumerate() {
        let (required, but) = match part {
            Node::Boolean {
                required, excluded, ..
            } => (&required[..], &excluded[..]),
            phrase => (std::slice::from_ref(phrase), &[][..]),
        };
        let (before, after) = (&parts[..number], &all[number + 1..]);
        if wanted.has_hits() {
            let excluded = [before, excluded, but, &[]];
            let nodes = [required, after];
            let wanted = Wanted::Hits;
            searching.extend(open_mixed(plan, nodes, excluded, segment, context, wanted)?);
        }
        if wanted.is_counted() {
            let excluded = [before, words, excluded, but];
            let nodes = [required, &[]];
            let wanted = Wanted::Count;
            counting.extend(open_mixed(plan, nodes, excluded, segment, context, wanted)?);
        }
    }
    if wanted.is_counted() && !words.is_empty() {
        let (excluded, wanted) = ([excluded, &[], &[], &[]], Wanted::Count);
        let words = [words, &[]];
        counting.extend(open_any(plan, words, excluded, segment, context, wanted)?);
    }
    let is_empty = searching.is_empty() && counting.is_empty();
    Ok((!is_empty).then_some(Kind::Parts {
        searching,
        counting,
    }))
}

/// Returns the number of documents that hold the rarest of some required words; `None` where the segment lacks one of
/// the words.
fn least_cost(required: &[Node], segment: &Segment) -> Result<Option<u32>, IndexError> {
    let mut least = u32::MAX;
    for word in required.iter().filter_map(Node::word) {
        match word.record(segment)? {
            Some(record) => least = least.min(record.documents_count),
            None => return Ok(None),
        }
    }
    Ok(Some(least))
}

/// Returns whether a long walk of the rarest required word is worth avoiding: an optional word is rare enough that
/// most of what can be among the best holds it.
fn is_led_by_optional(
    leader: u32,
    required: &[Node],
    optional: &[Node],
    segment: &Segment,
) -> Result<bool, IndexError> {
    let are_words = required.iter().all(|node| node.word().is_some())
        && optional.iter().all(|node| matches!(node, Node::Term(_)));
    if !are_words || optional.is_empty() {
        return Ok(false);
    }
    let mut rarest = u64::MAX;
    for word in optional.iter().filter_map(Node::word) {
        if let Some(record) = word.record(segment)? {
            rarest = rarest.min(u64::from(record.documents_count));
        }
    }
    let leader = u64::from(leader);
    Ok(leader >= LEADER_MIN && rarest * RARER < leader)
}

/// Returns the lists of clauses that are all required; `None` where the segment lacks one.
fn open_all<'a>(
    plan: &'a Plan,
    nodes: &'a [Node],
    segment: &'a Segment,
) -> Result<Option<Lists<'a>>, IndexError> {
    let mut found: SmallVec<[_; FEW]> = SmallVec::new();
    for node in nodes {
        // Before any list is opened: many segments lack one of the words.
        match node.word().map(|word| word.record(segment)).transpose()? {
            Some(Some(record)) => found.push((record, node)),
            _ => return Ok(None),
        }
    }
    // Records are moved more cheaply than lists.
    found.sort_by_key(|(record, _)| record.documents_count);
    let mut lists = Lists::take();
    for (record, node) in found {
        List::push(&mut lists, &record, scorer_of(plan, node, segment), segment)?;
    }
    Ok(Some(lists))
}
