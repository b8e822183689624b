//! Combinations of required, optional and excluded clauses.

mod early;
mod matching;
pub(crate) mod search;
pub(crate) mod state;
