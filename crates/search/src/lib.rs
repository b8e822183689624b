//! Query text to plan to cursors to top-k. No files, no network, no threads of its own.
//!
//! ```text
//! text ──parse──► Query ──Plan::new(statistics)──► Plan ──search_segment──► TopK ──► hits
//! ```
//!
//! Exactness rule: for any chunks, ranges and order the same hits, scores and order.

pub mod exhaustive;
pub mod explain;
pub mod parse;
pub mod plan;
pub mod query;
pub mod ranking;
pub mod topk;

pub use explain::Explanation;
pub use parse::{Operator, Parsed, parse};
pub use plan::Plan;
pub use query::Query;
pub use ranking::Ranking;
pub use topk::{ScoredHit, TopK};
