//! Shape of a plan: the form that an algorithm is made for.

use crate::plan::node::{Node, PhraseNode};

/// What a plan is, as far as an algorithm is made for it.
pub(super) enum Shape<'a> {
    Term(&'a Node),
    All(&'a [Node]),
    /// Any of the first, none of the last; the second ones only add to the score.
    Any([&'a [Node]; 3]),
    Phrase(&'a PhraseNode),
    /// Any of the first, which are phrases and then words; the words; none of the third.
    Either([&'a [Node]; 3]),
    /// Any of the first, which the second ones only add to; all of the third, which are tests of values; none of the
    /// last.
    Filtered([&'a [Node]; 4]),
    /// Required (a word or a phrase among them), optional, excluded.
    Mixed([&'a [Node]; 3]),
    Other,
}

/// Each phrase is a part of its own that leaves out, or adds, all others: of more phrases than this, what is opened
/// (the square of their number) costs more than it saves.
const PARTS_MAX: usize = 8;

pub(super) fn shape(root: &Node) -> Shape<'_> {
    let terms = |nodes: &[Node]| nodes.iter().all(|node| matches!(node, Node::Term(_)));
    let leads = |node: &Node| node.word().is_some() || matches!(node, Node::Phrase(_));
    let Node::Boolean {
        required,
        optional,
        excluded,
    } = root
    else {
        return shape_of_all(std::slice::from_ref(root)).unwrap_or(Shape::Other);
    };
    if optional.is_empty()
        && excluded.is_empty()
        && let Some(shape) = shape_of_all(required)
    {
        return shape;
    }
    match [required.as_slice(), optional, excluded] {
        [[], any, excluded] if terms(any) => Shape::Any([any, &[], excluded]),
        [[group], others, excluded] if terms(others) => match group {
            Node::Boolean {
                required,
                optional: any,
                excluded: but,
            } if required.is_empty() && but.is_empty() && terms(any) => {
                Shape::Any([any, others, excluded])
            }
            group if leads(group) => Shape::Mixed([required, others, excluded]),
            _ => Shape::Other,
        },
        [[], any, excluded] => {
            let phrases = any
                .iter()
                .take_while(|node| matches!(node, Node::Phrase(_)));
            let phrases_count = phrases.count();
            let words = &any[phrases_count..];
            match terms(words) && phrases_count <= PARTS_MAX {
                true => Shape::Either([any, words, excluded]),
                false => Shape::Other,
            }
        }
        all if required.iter().any(leads) => Shape::Mixed(all),
        [required, others, excluded] if terms(others) => match alternatives_and_values(required) {
            Some(any) => Shape::Filtered([any, others, required, excluded]),
            None => Shape::Other,
        },
        _ => Shape::Other,
    }
}

/// Returns the alternatives of required clauses that are, beside them, tests of values.
fn alternatives_and_values(required: &[Node]) -> Option<&[Node]> {
    let mut others = required
        .iter()
        .filter(|node| !matches!(node, Node::Value(_)));
    match (others.next(), others.next()) {
        (
            Some(Node::Boolean {
                required,
                optional,
                excluded,
            }),
            None,
        ) => {
            let are_terms = optional.iter().all(|node| matches!(node, Node::Term(_)));
            let is_plain = required.is_empty() && excluded.is_empty() && are_terms;
            is_plain.then_some(optional)
        }
        _ => None,
    }
}

/// What clauses are that are all required, and nothing else is said.
pub(super) fn shape_of_all(nodes: &[Node]) -> Option<Shape<'_>> {
    match nodes {
        [node @ Node::Term(_)] => Some(Shape::Term(node)),
        [Node::Phrase(phrase)] => Some(Shape::Phrase(phrase)),
        all if all.iter().all(|node| node.word().is_some()) => Some(Shape::All(all)),
        _ => None,
    }
}
