//! Structured query, independent of any index.
use index::Field;

/// Structured query. The parser limits its depth and number of clauses.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// Query without matches.
    Nothing,
    /// Documents that hold the term.
    Term {
        /// Field of the term.
        field: Field,
        /// The analysed term.
        term: String,
        /// Number of occurrences in the query: the score counts the term that many times.
        weight: u32,
    },
    /// Documents that hold a term with this prefix. Adds 1 to the score whatever the words.
    Prefix {
        /// Field of the prefix.
        field: Field,
        /// Prefix in lower case.
        prefix: String,
    },
    /// Documents that hold the terms in sequence. It is scored as one term whose frequency is the
    /// number of places and whose inverse document frequency is the sum of those of the words.
    Phrase {
        /// Field of the phrase.
        field: Field,
        /// Analysed terms, two or more.
        terms: Vec<String>,
        /// Moves allowed: 0 is the exact phrase.
        slop: u32,
    },
    /// Combination of clauses. It matches when all `required` match, none of `excluded` does, and, if
    /// no clause is required, at least one of `optional` does. The score is the sum over matching
    /// clauses.
    Boolean {
        /// Clauses that must match.
        required: Vec<Query>,
        /// Clauses that add to the score where they match.
        optional: Vec<Query>,
        /// Clauses that must not match.
        excluded: Vec<Query>,
    },
}
