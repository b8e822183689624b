//! Typed query, and the parser of text.

mod check;
mod depth;
pub(crate) mod limits;
pub mod parse;
mod test_form;
pub(crate) mod tree;

pub use check::BeyondLimits;
pub use depth::nested;
pub use tree::{Pinned, Query, Ruling};
