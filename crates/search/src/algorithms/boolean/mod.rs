//! Combinations of required, optional and excluded clauses.

mod matching;
pub(crate) mod search;
pub(crate) mod state;
