//! Queries of one clause, and the operator between bare words.

use crate::query::tree::Query;
use index::Field;

/// The operator between words where the query has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Operator {
    /// All words are required.
    #[default]
    And,
    /// Any word will do.
    Or,
    /// Documents with all words first, then those with some of them.
    Auto,
}

impl Operator {
    /// Operators with the names that parameters use.
    pub const NAMED: [(&'static str, Operator); 3] = [
        ("auto", Operator::Auto),
        ("all", Operator::And),
        ("any", Operator::Or),
    ];

    /// Returns the name that parameters use.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Auto => "auto",
            Operator::And => "all",
            Operator::Or => "any",
        }
    }

    /// Returns the operator of a name; `None` for another one.
    pub fn named(name: &str) -> Option<Operator> {
        let named = Operator::NAMED.iter().find(|(known, _)| *known == name);
        named.map(|&(_, operator)| operator)
    }
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
