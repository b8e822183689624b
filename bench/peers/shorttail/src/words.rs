//! Queries of words that count once, as in the other engines.

use search::{Operator, Query, bag_of_words};
use text::Analyzer;

/// Makes a query of the words of `text`, each of them once.
pub(crate) fn query_of(text: &str, analyzer: Analyzer, operator: Operator) -> Query {
    said_once(bag_of_words(text, analyzer, operator))
}

/// Sets the weight of every word to 1, so that repeated words count once, as in the other engines.
fn said_once(mut query: Query) -> Query {
    match &mut query {
        Query::Term { weight, .. } => *weight = 1,
        Query::Boolean {
            required, optional, ..
        } => {
            for clause in required.iter_mut().chain(optional) {
                if let Query::Term { weight, .. } = clause {
                    *weight = 1;
                }
            }
        }
        _ => {}
    }
    query
}
