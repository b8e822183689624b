//! The lenient parser: anything typed becomes a query and warnings; it never fails.
use crate::Query;
use text::Analyzer;

/// How words stand to each other when the query does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Operator {
    /// All words are required.
    #[default]
    And,
    /// Any word will do.
    Or,
}

/// A parsed query.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What it asks for.
    pub query: Query,
    /// What was ignored or changed.
    pub warnings: Vec<String>,
}

/// Parses what a person typed.
pub fn parse(_text: &str, _analyzer: Analyzer, _operator: Operator) -> Parsed {
    unimplemented!()
}
