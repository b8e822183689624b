//! Plan of a query, made with the statistics of one snapshot: weights, clauses, scores.

mod as_written;
pub(crate) mod best;
mod beyond_text;
mod by_telling;
pub(crate) mod cost;
mod marked_terms;
pub(crate) mod node;
pub(crate) mod norms;
mod pattern_terms;
mod patterns;
pub(crate) mod pinned;
pub(crate) mod planner;
pub(crate) mod priors;
pub mod ranking;
mod rewrite;
pub(crate) mod scales;
pub(crate) mod scorer;
mod telling;
mod unscored;

pub use cost::{PlanCost, PlanKind};
pub use patterns::{RANKED_TERMS_MAX, weight_of};
pub use planner::Plan;
pub use ranking::Ranking;
pub use telling::TELLING_SHARE;
