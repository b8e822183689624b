//! Structured queries, and the parser of typed text.

pub mod parse;
pub(crate) mod tree;

pub use tree::Query;
