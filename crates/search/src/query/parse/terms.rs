//! Queries of one clause, and the operator between bare words.

use crate::query::tree::Query;
use index::Field;

/// The operator between words where the query has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Operator {
    /// All words are required.
    #[default]
    And,
    /// Any word will do.
    Or,
    /// Documents with all words first, then those with some of them.
    Auto,
}

pub(crate) fn term_query(field: Field, term: String) -> Query {
    Query::Term {
        field,
        term,
        weight: 1,
    }
}

pub(crate) fn phrase_query(field: Field, mut terms: Vec<String>, slop: u32) -> Option<Query> {
    match terms.len() {
        0 => None,
        1 => terms.pop().map(|term| term_query(field, term)),
        _ => Some(Query::Phrase { field, terms, slop }),
    }
}
