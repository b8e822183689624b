//! The k best hits.
//!
//! Better = higher score, then lower URL hash. Two URLs of one hash (never seen; 2⁻⁶⁴ a pair) are
//! put in order of segment and document, so that one index always gives one order.

pub(crate) mod hit;
pub(crate) mod kept;
mod score_histogram;
mod select;
pub(crate) mod shared_threshold;
#[cfg(test)]
mod tests;

pub use hit::{ScoredHit, merge_sorted};
pub use kept::TopK;
pub use shared_threshold::SharedThreshold;
