//! Top-k hits.
//!
//! A hit is better if its score is higher or, at equal scores, its URL hash is lower. Two URLs with one
//! hash (never seen; 2⁻⁶⁴ for each pair) are ordered by segment and document, so one index always gives
//! one order.

pub(crate) mod after;
pub(crate) mod hit;
pub(crate) mod kept;
mod score_histogram;
mod select;
pub(crate) mod shared_threshold;
#[cfg(test)]
mod tests;

pub use after::After;
pub use hit::{ScoredHit, merge_sorted};
pub use kept::TopK;
pub use shared_threshold::SharedThreshold;
