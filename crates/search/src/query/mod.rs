//! Typed query, and the parser of text.

pub mod parse;
pub(crate) mod tree;

pub use tree::Query;
