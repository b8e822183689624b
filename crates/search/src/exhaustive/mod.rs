//! Exhaustive evaluation, the slow twin of every algorithm, and explanations of scores.

pub(crate) mod cursor;
pub mod explain;
mod explained_leaf;
mod explanation;
mod fields_of_term;
pub mod missing_terms;
pub(crate) mod search;

pub use explain::explain;
pub use search::{count_segment, count_site, each_match, search_segment};
