//! Shape of a plan: the form that an algorithm is made for.

use super::best_of::clauses_of;
use crate::join::best_lists::is_best_of_lists;
use crate::plan::node::{Node, PhraseNode};

/// Shape of a plan, by which its algorithm is chosen.
pub(super) enum Shape<'a> {
    Term(&'a Node),
    All(&'a [Node]),
    /// Any of the first, none of the last; the second ones only add to the score.
    Any([&'a [Node]; 3]),
    Phrase(&'a PhraseNode),
    /// Any of the first, which are parts (phrases and conjunctions) and then words; the words; none of the third.
    Either([&'a [Node]; 3]),
    /// All of the first, which are alternatives of terms and tests of values; the second ones only add to the score; none of
    /// the last.
    Filtered([&'a [Node]; 3]),
    /// At least a number of terms, beside required clauses that only filter, optional terms, and excluded clauses.
    AtLeast(AtLeast<'a>),
    /// Required (a word or a phrase among them), optional, excluded.
    Mixed([&'a [Node]; 3]),
    /// Required, the best of some lists among them, optional, excluded.
    Led([&'a [Node]; 3]),
    /// Required (one or none), optional, excluded: any of some terms, which score less than their sum.
    BestOf([&'a [Node]; 3]),
    Other,
}

/// A number of terms that must match, and what is said beside it.
pub(super) struct AtLeast<'a> {
    pub(super) least: usize,
    pub(super) terms: &'a [Node],
    /// All required clauses, the number of terms among them.
    pub(super) required: &'a [Node],
    pub(super) optional: &'a [Node],
    pub(super) excluded: &'a [Node],
}

/// Returns the clause of `required` that demands a number of terms, with what is said beside it; `None` where there is
/// none, or another required clause adds to the score or leads.
fn at_least<'a>(
    required: &'a [Node],
    optional: &'a [Node],
    excluded: &'a [Node],
) -> Option<Shape<'a>> {
    let found = required.iter().find_map(|node| match node {
        Node::AtLeast { least, clauses } if are_terms(clauses) => Some((*least, clauses)),
        _ => None,
    });
    let (least, terms) = found?;
    let is_term =
        |node: &&Node| matches!(node, Node::AtLeast { clauses, .. } if are_terms(clauses));
    let only_filter = required
        .iter()
        .filter(|node| !is_term(node))
        .all(only_filters);
    let is_alone = required.iter().filter(is_term).count() == 1;
    (is_alone && only_filter && are_terms(optional)).then_some(Shape::AtLeast(AtLeast {
        least,
        terms,
        required,
        optional,
        excluded,
    }))
}

fn are_terms(nodes: &[Node]) -> bool {
    nodes.iter().all(|node| matches!(node, Node::Term(_)))
}

/// Returns whether a clause adds nothing to the score, and cannot lead.
fn only_filters(node: &Node) -> bool {
    match node {
        Node::All | Node::Value(_) | Node::Urls(_) => true,
        Node::Pattern(pattern) => pattern.weight == 0.0,
        Node::Boolean {
            required, optional, ..
        } => {
            let mut scored = required.iter().chain(optional);
            scored.all(|node| matches!(node, Node::Filter(_)) || only_filters(node))
        }
        Node::AtLeast { clauses, .. } => {
            let mut clauses = clauses.iter();
            clauses.all(|node| matches!(node, Node::Filter(_)) || only_filters(node))
        }
        Node::Nothing
        | Node::Term(_)
        | Node::TitleStart(_)
        | Node::Filter(_)
        | Node::Phrase(_)
        | Node::BestOf { .. }
        | Node::Constant(_) => false,
    }
}

/// Returns whether a required clause can lead a search.
fn leads(node: &Node) -> bool {
    node.word().is_some() || matches!(node, Node::Phrase(_))
}

/// Returns whether an alternative is searched apart: a phrase, or all of some words and phrases. Clauses of other kinds may
/// be better led by them, which only a search of the whole plan can do.
fn is_part(node: &Node) -> bool {
    match node {
        Node::Phrase(_) => true,
        Node::Boolean {
            required, optional, ..
        } => optional.is_empty() && required.iter().all(leads),
        _ => false,
    }
}

/// Each of them is a part of its own that leaves out, or adds, all others: of more phrases than this, what is opened
/// (the square of their number) costs more than it saves.
const PARTS_MAX: usize = 8;

pub(super) fn shape(root: &Node) -> Shape<'_> {
    if let Some(clauses) = led_by_best(root) {
        return Shape::Led(clauses);
    }
    match shape_of_sums(root) {
        Shape::Other => clauses_of(root).map_or(Shape::Other, Shape::BestOf),
        shape => shape,
    }
}

/// Returns the clauses of a plan of which the best of some lists can lead a search; phrases lead better.
fn led_by_best(root: &Node) -> Option<[&[Node]; 3]> {
    let clauses: [&[Node]; 3] = match root {
        Node::Boolean {
            required,
            optional,
            excluded,
        } => [required, optional, excluded],
        root => [std::slice::from_ref(root), &[], &[]],
    };
    let [required, ..] = clauses;
    let is_phrase = |node: &Node| matches!(node, Node::Phrase(_));
    let is_led = required.iter().any(is_best_of_lists) && !required.iter().any(is_phrase);
    is_led.then_some(clauses)
}

fn shape_of_sums(root: &Node) -> Shape<'_> {
    let terms = are_terms;
    let Node::Boolean {
        required,
        optional,
        excluded,
    } = root
    else {
        let alone = std::slice::from_ref(root);
        let shape = shape_of_all(alone).or_else(|| at_least(alone, &[], &[]));
        return shape.unwrap_or(Shape::Other);
    };
    if let Some(shape) = at_least(required, optional, excluded) {
        return shape;
    }
    if optional.is_empty()
        && excluded.is_empty()
        && let Some(shape) = shape_of_all(required)
    {
        return shape;
    }
    match [required.as_slice(), optional, excluded] {
        [[], any, excluded] if terms(any) => Shape::Any([any, &[], excluded]),
        [[group], others, excluded] if terms(others) => match alternatives_of(group) {
            Some(any) => Shape::Any([any, others, excluded]),
            None if leads(group) => Shape::Mixed([required, others, excluded]),
            None => Shape::Other,
        },
        [[], any, excluded] => {
            let parts_count = any.iter().take_while(|node| is_part(node)).count();
            let words = &any[parts_count..];
            match terms(words) && parts_count <= PARTS_MAX {
                true => Shape::Either([any, words, excluded]),
                false => Shape::Other,
            }
        }
        all if required.iter().any(leads) => Shape::Mixed(all),
        [required, others, excluded] if terms(others) && are_alternatives_and_values(required) => {
            Shape::Filtered([required, others, excluded])
        }
        _ => Shape::Other,
    }
}

/// Returns whether required clauses are alternatives of terms, at least once, and tests of values.
fn are_alternatives_and_values(required: &[Node]) -> bool {
    let mut others = required
        .iter()
        .filter(|node| !matches!(node, Node::Value(_)))
        .peekable();
    others.peek().is_some() && others.all(|node| alternatives_of(node).is_some())
}

/// Returns the terms of a clause that any of them matches; `None` where it is another.
pub(super) fn alternatives_of(node: &Node) -> Option<&[Node]> {
    match node {
        Node::Boolean {
            required,
            optional,
            excluded,
        } if required.is_empty() && excluded.is_empty() && are_terms(optional) => Some(optional),
        _ => None,
    }
}

/// Returns the shape of required clauses without optional or excluded ones.
pub(super) fn shape_of_all(nodes: &[Node]) -> Option<Shape<'_>> {
    match nodes {
        [node @ Node::Term(_)] => Some(Shape::Term(node)),
        [Node::Phrase(phrase)] => Some(Shape::Phrase(phrase)),
        all if all.iter().all(|node| node.word().is_some()) => Some(Shape::All(all)),
        _ => None,
    }
}
