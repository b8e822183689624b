//! What the clauses of a plan stand for in the whole index: patterns for terms of the words that they match as written, URLs for
//! documents.

use crate::plan::node::Node;
use index::{IndexError, Statistics};

/// Looks up the words of all patterns and the documents of all URLs below a clause.
pub(super) fn find_written(node: &mut Node, statistics: &Statistics) -> Result<(), IndexError> {
    match node {
        Node::Pattern(node) => {
            node.as_written = statistics.terms_as_written(node.field, &node.pattern)?;
        }
        Node::Urls(node) => node.documents = statistics.documents_of_urls(&node.urls)?,
        Node::Boolean {
            required,
            optional,
            excluded,
        } => {
            for node in required.iter_mut().chain(optional).chain(excluded) {
                find_written(node, statistics)?;
            }
        }
        Node::AtLeast { clauses, .. } | Node::BestOf { clauses, .. } => {
            for node in clauses {
                find_written(node, statistics)?;
            }
        }
        Node::Constant(constant) => find_written(&mut constant.clause, statistics)?,
        Node::Nothing
        | Node::All
        | Node::Term(_)
        | Node::Filter(_)
        | Node::TitleStart(_)
        | Node::Value(_)
        | Node::Phrase(_) => {}
    }
    Ok(())
}
