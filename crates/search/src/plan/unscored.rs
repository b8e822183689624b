//! Planning of excluded clauses, and of the leaves of filters: they score nothing, so they need no statistics.

use crate::plan::node::{
    ClauseName, Node, PhraseNode, TitleStartNode, Word, pattern_node, urls_node, value_node,
};
use crate::plan::ranking::TermWeight;
use crate::plan::rewrite::{at_least, boolean};
use crate::query::tree::Query;
use index::Field;

/// Plans a clause without scores: an excluded one. It needs no statistics.
pub(super) fn unscored(query: &Query) -> Node {
    match query {
        Query::Nothing => Node::Nothing,
        Query::All => Node::All,
        Query::Term { field, term, .. } => Node::Filter(Word::new(*field, term)),
        Query::Pattern { field, pattern } => pattern_node(*field, pattern, 0.0, None),
        Query::TitleStart { start, edits } => Node::TitleStart(TitleStartNode {
            start: start.clone(),
            edits: *edits,
            weight: 0.0,
        }),
        Query::Value { field, test } => value_node(field, test, None),
        Query::Urls(urls) => urls_node(urls, None),
        Query::Phrase { field, terms, slop } => match terms.as_slice() {
            [] => Node::Nothing,
            [term] => Node::Filter(Word::new(*field, term)),
            _ if *field == Field::Site => Node::Nothing,
            _ => Node::Phrase(PhraseNode {
                field: *field,
                words: terms.iter().map(|term| Word::new(*field, term)).collect(),
                slop: *slop,
                idf: 0.0,
                boost: 1.0,
                weight: TermWeight::default(),
                name: None,
            }),
        },
        Query::Boolean {
            required,
            optional,
            excluded,
        } => boolean(
            unscored_all(required),
            unscored_all(optional),
            unscored_all(excluded),
        ),
        Query::AnyTelling(clauses) | Query::BestOf { clauses, .. } => {
            boolean(Vec::new(), unscored_all(clauses), Vec::new())
        }
        Query::AllTelling(clauses) => boolean(unscored_all(clauses), Vec::new(), Vec::new()),
        Query::AtLeast { least, clauses } => at_least(*least, unscored_all(clauses)),
        Query::Constant { clause, .. }
        | Query::Filter(clause)
        | Query::Boosted { clause, .. }
        | Query::Ruled { clause, .. }
        | Query::Named { clause, .. } => unscored(clause),
    }
}

/// Gives a clause without a name one.
pub(super) fn named(mut node: Node, name: &ClauseName) -> Node {
    match &mut node {
        Node::Phrase(phrase) => phrase.name.clone_from(name),
        Node::Pattern(pattern) => pattern.name.clone_from(name),
        Node::Filter(word) => word.name.clone_from(name),
        Node::Value(value) => value.name.clone_from(name),
        Node::Urls(urls) => urls.name.clone_from(name),
        Node::Constant(constant) => constant.name.clone_from(name),
        Node::Nothing
        | Node::All
        | Node::TitleStart(_)
        | Node::Term(_)
        | Node::Boolean { .. }
        | Node::AtLeast { .. }
        | Node::BestOf { .. } => {}
    }
    node
}

pub(super) fn unscored_all(queries: &[Query]) -> Vec<Node> {
    queries.iter().map(unscored).collect()
}
